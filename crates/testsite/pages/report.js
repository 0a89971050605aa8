// Tells the test site what really happened: report("click", {target: "save", trusted: true, value: "…"}).
// watch(element, "click", "change", …) reports each event of these types.
(() => {
  const target = new URL("/report", document.currentScript.src).href;
  const page = location.pathname;
  // Kept from pages that tamper with them.
  const { stringify } = JSON, { fetch } = window;
  let order = 0;
  const text = (value) => String(value ?? "").slice(0, 4000).toWellFormed();
  window.report = (kind, { target: id = "", value = "", ...more } = {}) => {
    const body = stringify({ ...more, page, kind, target: text(id), value: text(value), order: order++ });
    fetch.call(window, target, { method: "POST", body, mode: "no-cors", keepalive: body.length < 60000 });
  };
  window.held = (element) => {
    if (element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type)) return element.checked ? "checked" : "unchecked";
    if (element instanceof HTMLSelectElement) return Array.from(element.selectedOptions, (option) => option.value).join(",");
    return "value" in element ? element.value : element.textContent;
  };
  window.reportEvent = (event, element = event.currentTarget) =>
    report(event.type, {
      target: element.id ?? "",
      trusted: event.isTrusted,
      value: element.nodeType === 1 ? held(element) : "",
      key: event.key ?? "",
      code: event.code ?? "",
      button: event.button ?? -1,
      detail: event.detail ?? 0,
      modifiers: ["ctrl", "shift", "alt", "meta"].filter((name) => event[`${name}Key`]).join("+"),
    });
  window.watch = (element, ...types) => {
    for (const type of types) element.addEventListener(type, (event) => reportEvent(event, element));
    return element;
  };
})();
