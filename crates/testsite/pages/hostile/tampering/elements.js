// Custom elements whose reactions, accessors and internals tell of every touch.
(() => {
  const tell = window.noticed, button = document.getElementById("real");
  let ready = false;
  class Touchy extends HTMLElement {
    static get observedAttributes() { return ["id", "class", "style", "tabindex", "aria-hidden", "data-x"]; }
    attributeChangedCallback(name) { if (ready) tell(`attribute ${name}`); }
    connectedCallback() { if (ready) tell("connected"); }
    disconnectedCallback() { if (ready) tell("disconnected"); }
    adoptedCallback() { tell("adopted"); }
    get textContent() { tell("textContent"); throw new Error("forged"); }
    get shadowRoot() { tell("shadowRoot"); throw new Error("forged"); }
    get childNodes() { tell("childNodes"); throw new Error("forged"); }
    getAttribute() { tell("getAttribute"); throw new Error("forged"); }
    toString() { tell("toString"); return "forged"; }
  }
  customElements.define("touchy-one", Touchy);
  const touchy = document.createElement("touchy-one");
  touchy.style.display = "contents";
  button.before(touchy);
  touchy.append(button);
  const { attachShadow } = HTMLElement.prototype;
  const root = attachShadow.call(touchy, { mode: "closed", slotAssignment: "named" });
  root.innerHTML = "<slot></slot>";
  root.querySelector("slot").addEventListener("slotchange", () => { if (ready) tell("slotchange"); });
  setTimeout(() => { ready = true; }, 50);
})();
