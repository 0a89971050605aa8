// Each method and each accessor of each interface and built-in object tells of its use, and lies.
(() => {
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
  const { ownKeys, apply } = Reflect;
  const tell = window.noticed;
  // Our own reports need these, as does the browser for what `noticed` does.
  const kept = new Set(["noticed", "report", "reportEvent", "held", "watch", "window", "self", "document", "location", "top", "constructor", "NaN", "Infinity", "undefined"]);
  const names = getOwnPropertyNames(window);
  const owners = [["window", window], ["document", document]];
  for (const name of names) {
    if (kept.has(name)) continue;
    let value;
    try { value = window[name]; } catch { continue; }
    if (value === null || (typeof value !== "object" && typeof value !== "function")) continue;
    if (typeof value === "function") {
      owners.push([name, value]);
      if (value.prototype && typeof value.prototype === "object") owners.push([`${name}.prototype`, value.prototype]);
    } else if (["JSON", "Math", "Reflect", "Intl", "CSS", "Atomics", "console", "performance", "navigation", "scheduler", "customElements", "history", "visualViewport", "navigator"].includes(name)) owners.push([name, value]);
  }
  const targets = [];
  for (const [label, owner] of owners) {
    for (const key of ownKeys(owner)) {
      if (owner === window && kept.has(key)) continue;
      if (key === "constructor" || key === "prototype" || (typeof owner === "function" && (key === "name" || key === "length"))) continue;
      const found = getOwnPropertyDescriptor(owner, key);
      if (!found || !found.configurable) continue;
      targets.push([`${label} ${String(key)}`, owner, key, found]);
    }
  }
  let count = 0;
  for (let index = 0; index < targets.length; index += 1) {
    const label = targets[index][0], owner = targets[index][1], key = targets[index][2], found = targets[index][3];
    try {
      if (found.get || found.set) defineProperty(owner, key, { __proto__: null, get() { tell(`get ${label}`); return "forged"; }, set() { tell(`set ${label}`); }, configurable: false, enumerable: found.enumerable });
      else if (typeof found.value === "function") defineProperty(owner, key, { __proto__: null, value() { tell(`call ${label}`); return "forged"; }, configurable: false, writable: false, enumerable: found.enumerable });
      else continue;
      count += 1;
    } catch { /* What cannot be changed stays. */ }
  }
  if (count < 2000) tell(`only ${count} were tampered with`);
})();
