// The elements, the document and the window have properties of their own, which tell and throw; prototypes are proxies.
(() => {
  const tell = window.noticed, { defineProperty, setPrototypeOf, getPrototypeOf } = Object;
  const names = ["textContent", "innerText", "innerHTML", "value", "id", "className", "tagName", "localName", "nodeType", "nodeName", "parentNode", "parentElement", "childNodes", "children", "firstChild", "nextSibling", "shadowRoot", "attributes", "getAttribute", "hasAttribute", "matches", "closest", "getBoundingClientRect", "getClientRects", "offsetWidth", "offsetParent", "isConnected", "ownerDocument", "getRootNode", "contains", "focus", "click", "scrollIntoView", "options", "selected", "checked", "type", "form", "labels", "then", "toJSON", "toString", "constructor"];
  for (const element of document.querySelectorAll("body, body *")) {
    for (const name of names) defineProperty(element, name, { get() { tell(`own ${name}`); throw new Error("forged"); }, configurable: true });
    defineProperty(element, Symbol.toStringTag, { get() { tell("own toStringTag"); throw new Error("forged"); }, configurable: true });
  }
  for (const name of ["body", "documentElement", "head", "title", "activeElement", "scrollingElement", "elementFromPoint", "hasFocus", "querySelectorAll", "createRange", "createTreeWalker", "readyState", "defaultView", "visibilityState", "hidden", "getElementById", "getAnimations"]) {
    defineProperty(document, name, { get() { tell(`document ${name}`); throw new Error("forged"); }, configurable: true });
  }
  for (const name of ["open", "getComputedStyle", "innerWidth", "innerHeight", "scrollX", "scrollY", "setTimeout", "requestAnimationFrame", "performance", "scheduler", "navigation", "CSS", "JSON", "Promise", "Map", "WeakMap", "WeakRef", "Set", "MutationObserver", "IntersectionObserver", "ResizeObserver", "AbortController", "customElements", "bathy", "event", "frameElement"]) {
    try {
      defineProperty(window, name, { get() { tell(`window ${name}`); throw new Error("forged"); }, set() { tell(`set window ${name}`); }, configurable: true });
    } catch { /* What cannot be changed stays. */ }
  }
  const traps = {};
  for (const trap of Reflect.ownKeys(Reflect)) if (typeof Reflect[trap] === "function") traps[trap] = (...rest) => { tell(`trap ${trap}`); return Reflect[trap](...rest); };
  for (const one of [HTMLButtonElement, HTMLInputElement, HTMLUListElement, HTMLTableElement]) {
    const { prototype } = one;
    setPrototypeOf(prototype, new Proxy(getPrototypeOf(prototype), traps));
  }
})();
