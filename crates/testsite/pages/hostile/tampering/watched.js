// Whatever a page can watch without changing anything: mutations, events, entries, numbers of timers and frames, stacks, logged objects.
(() => {
  const tell = window.noticed, button = document.getElementById("real");
  new MutationObserver((list) => { for (const one of list) tell(`${one.type} ${one.attributeName ?? ""} ${one.target.nodeName}`); }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  // A click of the user's moves the focus, the selection and the pointer; nothing else may.
  let pointed = false;
  for (const type of ["focus", "focusin", "blur", "focusout", "scroll", "scrollend", "resize", "visibilitychange", "keydown", "keyup", "beforeinput", "input", "change", "select", "wheel", "touchstart", "drag", "error", "unhandledrejection", "message", "hashchange", "popstate"]) {
    addEventListener(type, (event) => { if (!(pointed && event.target === button)) tell(`event ${type} ${event.message ?? ""}`); }, true);
  }
  document.addEventListener("selectionchange", () => { if (!pointed) tell("selectionchange"); });
  for (const type of ["pointermove", "mousemove", "mouseover", "pointerdown", "pointerup", "mousedown", "mouseup"]) {
    addEventListener(type, (event) => { if (!event.isTrusted) tell(`untrusted ${type}`); pointed = true; }, true);
  }
  const globals = new Set(Object.getOwnPropertyNames(window));
  const timer = setTimeout(() => {}), frame = requestAnimationFrame(() => {}), idle = requestIdleCallback(() => {});
  let last = [timer, frame, idle], entries = performance.getEntries().length, marks = null;
  const look = () => {
    const now = [setTimeout(() => {}), requestAnimationFrame(() => {}), requestIdleCallback(() => {})];
    now.forEach((number, index) => { if (number !== last[index] + 1) tell(`${["timers", "frames", "idle callbacks"][index]} went from ${last[index]} to ${number}`); });
    last = now;
    for (const name of Object.getOwnPropertyNames(window)) if (!globals.has(name)) tell(`global ${name}`);
    for (const one of performance.getEntries().slice(entries)) if (!/\/report$/.test(one.name) && !["paint", "visibility-state", "navigation"].includes(one.entryType)) tell(`entry ${one.entryType} ${one.name}`);
    for (const element of document.querySelectorAll("*")) for (const key of Object.getOwnPropertyNames(element)) if (!/^\d+$/.test(key) && !(element.localName === "form" && element[key].form)) tell(`property ${key} of ${element.nodeName}`);
  };
  Error.prepareStackTrace = (error) => { tell("prepareStackTrace"); return String(error); };
  const trap = new Error("logged");
  Object.defineProperty(trap, "stack", { get() { tell("stack of what was logged"); return ""; } });
  const logged = { get value() { tell("getter of what was logged"); return 1; }, toString() { tell("toString of what was logged"); return ""; }, toJSON() { tell("toJSON of what was logged"); return ""; } };
  for (const method of ["log", "debug", "error", "table", "dir"]) console[method](trap, logged, new Proxy({}, { get() { tell("proxy that was logged"); }, ownKeys() { tell("keys of a proxy that was logged"); return []; }, getPrototypeOf() { tell("prototype of a proxy that was logged"); return null; } }));
  button.addEventListener("click", look);
})();
