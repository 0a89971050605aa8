// Controls and pictures that answer to the names of properties of their form and of the document.
(() => {
  const form = document.getElementById("form");
  for (const name of ["action", "id", "children", "childNodes", "parentNode", "parentElement", "firstChild", "nextSibling", "attributes", "tagName", "localName", "nodeType", "nodeName", "namespaceURI", "textContent",
    "innerText", "getAttribute", "hasAttribute", "matches", "closest", "querySelectorAll", "getBoundingClientRect", "shadowRoot", "assignedSlot", "ownerDocument", "isConnected", "style", "contains", "getRootNode", "elements", "submit", "dispatchEvent", "addEventListener", "checkValidity"]) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    form.append(field);
  }
  for (const name of ["body", "head", "documentElement", "all", "forms", "scrollingElement", "activeElement", "elementFromPoint", "elementsFromPoint", "getElementById", "querySelector", "querySelectorAll", "createRange", "createTreeWalker", "getSelection", "title", "readyState", "defaultView", "getComputedStyle", "bathy", "self", "parent", "frames", "performance", "scheduler", "navigation"]) {
    const picture = document.createElement("img");
    picture.name = picture.id = name;
    picture.hidden = true;
    document.body.append(picture);
  }
})();
