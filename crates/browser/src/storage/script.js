// Puts what an origin is to keep into its storage and tells what it keeps then. Runs in a document of ours, or in a world of
// its own beside a page. Values that JSON cannot hold have the form that Playwright gives them in its files; those that have
// none there have one of ours, which Playwright passes over.
async ({ origin, put }) => {
  if (location.origin !== origin) return { elsewhere: true };
  const LIMIT = 32 << 20;
  const unfit = [];
  let lost = 0;
  let size = 0;
  const readings = [];

  // A value that cannot be carried in a file.
  class Formless extends Error {}

  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('blocked'));
  });

  const KINDS = {
    i8: Int8Array, ui8: Uint8Array, ui8c: Uint8ClampedArray, i16: Int16Array, ui16: Uint16Array, i32: Int32Array,
    ui32: Uint32Array, f32: Float32Array, f64: Float64Array, bi64: BigInt64Array, bui64: BigUint64Array,
  };
  const toBase64 = (bytes) => {
    let text = '';
    for (let start = 0; start < bytes.length; start += 32768) text += String.fromCharCode(...bytes.subarray(start, start + 32768));
    return btoa(text);
  };
  const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  const bytes = (array) => {
    size += array.length;
    if (size > LIMIT) throw new Error('too large');
    return toBase64(array);
  };

  const encode = (value, seen) => {
    switch (typeof value) {
      case 'undefined': return { v: 'undefined' };
      case 'boolean': return value;
      case 'bigint': return { bi: String(value) };
      case 'string':
        size += value.length;
        if (size > LIMIT) throw new Error('too large');
        if (!value.isWellFormed()) throw new Formless('half a surrogate pair');
        return value;
      case 'number':
        if (Number.isNaN(value)) return { v: 'NaN' };
        if (Object.is(value, -0)) return { v: '-0' };
        return Number.isFinite(value) ? value : { v: value > 0 ? 'Infinity' : '-Infinity' };
      case 'object': break;
      default: throw new Formless(typeof value);
    }
    if (value === null) return { v: 'null' };
    if (value instanceof Date) return { d: value.toJSON() };
    if (value instanceof RegExp) return { r: { p: value.source, f: value.flags } };
    if (value instanceof Error) return { e: { n: value.name, m: value.message, s: value.stack ?? '' } };
    for (const [k, Kind] of Object.entries(KINDS)) {
      if (value instanceof Kind) return { ta: { b: bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)), k } };
    }
    if (value instanceof DataView) return { dv: { b: bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) } };
    if (value instanceof ArrayBuffer) return { ab: { b: bytes(new Uint8Array(value)) } };
    if (value instanceof Blob) {
      size += value.size;
      if (size > LIMIT) throw new Error('too large');
      const blob = { b: '', t: value.type, ...(value instanceof File ? { n: value.name, m: value.lastModified } : {}) };
      readings.push(value.arrayBuffer().then((buffer) => { blob.b = toBase64(new Uint8Array(buffer)); }));
      return { blob };
    }
    if (seen.has(value)) return { ref: seen.get(value) };
    const id = seen.size + 1;
    if (Array.isArray(value)) {
      seen.set(value, id);
      return { a: value.map((item) => encode(item, seen)), id };
    }
    if (value instanceof Map || value instanceof Set) {
      seen.set(value, id);
      const [name, list] = value instanceof Map ? ['map', [...value].flat(1)] : ['set', [...value]];
      return { [name]: list.map((item) => encode(item, seen)), id };
    }
    if (Object.getPrototypeOf(value) !== Object.prototype) throw new Formless('of a class of its own');
    seen.set(value, id);
    return { o: Object.keys(value).map((k) => ({ k, v: encode(value[k], seen) })), id };
  };

  const decode = (value, refs) => {
    if (typeof value !== 'object' || value === null) return value;
    if ('ref' in value) return refs.get(value.ref);
    if ('v' in value) return { undefined, null: null, NaN, Infinity, '-Infinity': -Infinity, '-0': -0 }[value.v];
    if ('d' in value) return new Date(value.d);
    if ('u' in value) return value.u;
    if ('bi' in value) return BigInt(value.bi);
    if ('r' in value) return new RegExp(value.r.p, value.r.f);
    if ('e' in value) return Object.assign(new Error(value.e.m), { name: value.e.n, stack: value.e.s });
    if ('ta' in value) return new KINDS[value.ta.k](fromBase64(value.ta.b).buffer);
    if ('ab' in value) return fromBase64(value.ab.b).buffer;
    if ('dv' in value) return new DataView(fromBase64(value.dv.b).buffer);
    if ('blob' in value) {
      const { b, t, n, m } = value.blob;
      return n === undefined ? new Blob([fromBase64(b)], { type: t }) : new File([fromBase64(b)], n, { type: t, lastModified: m });
    }
    if ('map' in value) {
      const map = new Map();
      refs.set(value.id, map);
      for (let at = 0; at < value.map.length; at += 2) map.set(decode(value.map[at], refs), decode(value.map[at + 1], refs));
      return map;
    }
    if ('set' in value) {
      const set = new Set();
      refs.set(value.id, set);
      for (const item of value.set) set.add(decode(item, refs));
      return set;
    }
    if ('a' in value) {
      const list = [];
      refs.set(value.id, list);
      for (const item of value.a) list.push(decode(item, refs));
      return list;
    }
    const object = {};
    refs.set(value.id, object);
    for (const { k, v } of value.o ?? []) {
      Object.defineProperty(object, k, { value: decode(v, refs), writable: true, enumerable: true, configurable: true });
    }
    return object;
  };

  // What JSON holds as it is stands as it is; `null` and 0 do, too.
  const plain = (value) => value === null || typeof value === 'boolean' || typeof value === 'string'
    || typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)
    || Array.isArray(value) && value.every(plain)
    || typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(plain);
  const written = (name, value) => {
    const encoded = encode(value, new Map());
    // Asked after the encoding, which ends where the value goes round in a circle.
    return JSON.stringify(encoded).includes('"ref":') || !plain(value) ? { [`${name}Encoded`]: encoded } : { [name]: value };
  };
  const read = (name, record) => (name in record ? record[name] : decode(record[`${name}Encoded`], new Map()));

  const items = (storage) => {
    const found = [];
    for (const name of Object.keys(storage)) {
      const value = storage.getItem(name);
      if (value === null) continue;
      if (name.isWellFormed() && value.isWellFormed()) found.push([name, value]);
      else unfit.push(name.toWellFormed());
    }
    return found;
  };

  const database = async ({ name, version }) => {
    const open = indexedDB.open(name, version);
    // A database that goes away meanwhile must not be made anew by our look at it.
    open.onupgradeneeded = () => open.transaction.abort();
    const opened = await done(open);
    opened.onversionchange = () => opened.close();
    try {
      const stores = [];
      const names = [...opened.objectStoreNames];
      const transaction = names.length ? opened.transaction(names, 'readonly') : null;
      for (const storeName of names) {
        const store = transaction.objectStore(storeName);
        const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
        const records = [];
        values.forEach((value, index) => {
          try {
            records.push({ ...(store.keyPath === null ? written('key', keys[index]) : {}), ...written('value', value) });
          } catch (error) {
            // The others need not go with it.
            if (!(error instanceof Formless)) throw error;
            lost += 1;
          }
        });
        const path = (keyPath) => (Array.isArray(keyPath) ? { keyPathArray: keyPath } : typeof keyPath === 'string' ? { keyPath } : {});
        const indexes = [...store.indexNames].map((indexName) => {
          const index = store.index(indexName);
          return { name: indexName, ...path(index.keyPath), multiEntry: index.multiEntry, unique: index.unique };
        });
        stores.push({ name: storeName, records, indexes, autoIncrement: store.autoIncrement, ...path(store.keyPath) });
      }
      await Promise.all(readings.splice(0));
      return { name, version: opened.version, stores };
    } finally {
      opened.close();
    }
  };

  const make = async ({ name, version, stores }) => {
    const open = indexedDB.open(name, version);
    open.onupgradeneeded = () => {
      for (const store of stores) {
        const made = open.result.createObjectStore(store.name, { autoIncrement: store.autoIncrement === true, keyPath: store.keyPathArray ?? store.keyPath ?? null });
        for (const index of store.indexes ?? []) made.createIndex(index.name, index.keyPathArray ?? index.keyPath, { unique: index.unique, multiEntry: index.multiEntry });
        for (const record of store.records ?? []) {
          const value = read('value', record);
          if (made.keyPath === null) made.put(value, read('key', record));
          else made.put(value);
        }
      }
    };
    (await done(open)).close();
  };

  if (put) {
    const set = (storage, list) => {
      for (const { name, value } of list ?? []) {
        try {
          storage.setItem(name, value);
        } catch {
          // The quota is full, or the item is no text; what was taken is told below.
        }
      }
    };
    set(localStorage, put.local);
    set(sessionStorage, put.session);
    const there = put.databases?.length ? (await indexedDB.databases()).map((one) => one.name) : [];
    for (const one of put.databases ?? []) {
      // One that cannot be made is told by not being there.
      if (!there.includes(one.name)) await make(one).catch(() => {});
    }
  }

  const databases = [];
  for (const one of await indexedDB.databases()) {
    try {
      if (!one.name.isWellFormed()) throw new Error('half a surrogate pair');
      databases.push(await database(one));
    } catch {
      unfit.push(one.name.toWellFormed());
    }
  }
  return { local: items(localStorage), session: items(sessionStorage), databases, unfit, lost };
}
