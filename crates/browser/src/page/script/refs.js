// Refs: a number for one element of this document, for as long as that element lives.

const ids = new WeakMap();
const references = new Map();
let lastId = 0;

/** The id of an element; it keeps it through every later snapshot. */
const idOf = (pass, element) => {
  let id = ids.get(element);
  if (!id) {
    id = lastId += 1;
    ids.set(element, id);
  }
  references.set(id, { element: new WeakRef(element), print: printOf(pass, element), seen: lastId });
  return id;
};

/** By what an element would be known again: tag, role, name, and what stands around it. */
const printOf = (pass, element) => {
  const path = [];
  for (let outer = flatParent(element), depth = 0; outer && depth < 5; outer = flatParent(outer), depth += 1) {
    path.push(localName(outer));
  }
  const item = closest(element, 'li,tr,article,fieldset,[role=row],[role=listitem],[role=article],[role=group],[role=treeitem]');
  return {
    tag: localName(element),
    role: roleOf(pass, element),
    name: nameOf(pass, element).text || fold(firstWords(element, 80)),
    place: `${path.join('<')}|${item && item !== element ? fold(firstWords(item, 120)) : ''}|${attribute(element, 'name') ?? ''}`,
  };
};

const samePrint = (a, b) => a.tag === b.tag && a.role === b.role && a.name === b.name && a.place === b.place;

/** The first characters of an element's text, at a bounded cost. */
const firstWords = (element, length) => {
  const walker = makeWalker(document, element, NodeFilter.SHOW_TEXT);
  let text = '';
  for (let seen = 0; seen < 40 && text.length < length && walker.nextNode(); seen += 1) text += ` ${data(walker.currentNode).slice(0, length * 4).trim()}`;
  return squeeze(text).slice(0, length);
};

/** {element, followed} for an id. An element that its framework replaced is followed to its twin only when there is exactly
 *  one; otherwise the ref is stale. */
const elementOf = (pass, id) => {
  const reference = references.get(id);
  if (!reference) throw new Refusal('stale', 'the ref names no element of this document');
  const element = reference.element.deref();
  if (element && isConnected(element) && ownerDocument(element) === document) return { element, followed: false };
  const twin = twinOf(pass, reference);
  if (!twin) throw new Refusal('stale', `${wording(reference.print)} is gone from the page`);
    if (!ids.has(twin)) ids.set(twin, id);
  references.set(id, { ...reference, element: new WeakRef(twin), seen: lastId });
  return { element: twin, followed: true };
};

const wording = (print) => `${print.role === 'generic' ? 'the element' : print.role} ${print.name ? quote(print.name, 60) : ''}`.trim();

const twinOf = (pass, { print, seen }) => {
  let twin = null;
  if (!print.name && !print.place.split('|')[1]) return null;
  for (const scope of scopes(200)) {
    for (const candidate of queryAll(scope, CSS.escape(print.tag))) {
      if (now() > pass.deadline + 500) return null;
      
      if (!factsOf(pass, candidate).rendered || !samePrint(printOf(pass, candidate), print)) continue;
      if (twin) return null;
      twin = candidate;
    }
  }
  // One that had an id while the first was there stood beside it: it is somebody else.
  return twin && (ids.get(twin) ?? Infinity) > seen ? twin : null;
};
