// Whatever is looked up on an object, an array, a string or a function without being there goes through here.
(() => {
  const tell = window.noticed, { defineProperty } = Object;
  const names = ["then", "toJSON", "ok", "error", "code", "message", "line", "lines", "text", "id", "ids", "mark", "value", "next", "done", "get", "set", "name", "role", "frames", "matches", "context", "nodes", "rect",
    "x", "y", "hit", "cover", "0", "1", "2", "delay", "signal", "block", "inline", "behavior", "left", "top", "subtree", "capture", "passive", "enumerable", "configurable", "writable", "bathy", "type", "objectId", "description", "preview",
    Symbol.iterator, Symbol.toPrimitive, Symbol.toStringTag, Symbol.species, Symbol.isConcatSpreadable, Symbol.asyncIterator, Symbol.hasInstance];
  const owners = [Object.prototype, Array.prototype, String.prototype, Function.prototype, Number.prototype, Promise.prototype];
  for (let owner = 0; owner < owners.length; owner += 1) {
    for (let index = 0; index < names.length; index += 1) {
      const label = typeof names[index] === "symbol" ? `symbol ${index}` : names[index];
      try {
        defineProperty(owners[owner], names[index], { __proto__: null, get() { tell(`get ${label}`); return undefined; }, set() { tell(`set ${label}`); }, configurable: true });
      } catch { /* What cannot be changed stays. */ }
    }
  }
})();
