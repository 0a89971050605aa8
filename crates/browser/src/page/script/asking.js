// What only the protocol can tell: which elements listen for a pointer, and closed shadow roots.
//
// A reading that comes upon elements of which this is not known hands them out (see `bathy.read` in index.js); the caller
// gets them with the browser's numbers for them and with their closed roots, and tells both with its next call. Each element
// is asked about once, so all of this costs the same few calls on every page.

/** The browser's number of an element → the element; null for a node that is none. */
const numbered = new Map();
/** Elements whose numbers are known, or on their way. */
const asked = new WeakSet();
/** The elements that listen, as the browser said last. */
let listening = new WeakSet();
/** Something listens that has no element here yet. */
let unresolved = false;
/** Elements that a reading came upon and whose numbers would tell whether they listen. */
const unsure = new Set();
/** Elements that may be hosts of closed roots; and those that were asked about already. */
const suspects = new Set();
const checkedHosts = new WeakSet();

const MOST_UNSURE = 2000;
const MOST_SUSPECTS = 1500;
const MOST_NUMBERED = 50000;
/** A batch of elements that was handed out, until its numbers come. */
const batches = new Map();
let lastBatch = 0;

/** What is handed out besides an answer: one array for good, since the protocol keeps whatever it was given. */
const handed = [];

/** Takes in what the protocol found out: `listening` numbers, `batches` of numbers for what was handed out, `nodes` numbers
 *  of the first handles; further handles are closed roots. */
const takeIn = ({ listening: numbers = null, batches: answered = [], nodes = [] }, handles) => {
  handed.length = 0;
  for (const [batch, list] of answered) {
    const elements = batches.get(batch);
    batches.delete(batch);
    if (elements) list.forEach((number, index) => number && numbered.set(number, elements[index]));
  }
  nodes.forEach((number, index) => {
    const node = handles[index];
    numbered.set(number, isElement(node) ? new WeakRef(node) : null);
    if (isElement(node)) asked.add(node);
  });
  for (const root of handles.slice(nodes.length)) if (root instanceof ShadowRoot) closedRoots.set(shadowHost(root), root);
  if (numbers) listeningNow(numbers);
  if (numbered.size > MOST_NUMBERED) for (const [number, element] of numbered) if (element && !element.deref()) numbered.delete(number);
};

const listeningNow = (numbers) => {
  listening = new WeakSet();
  unresolved = false;
  for (const number of numbers) {
    const element = numbered.get(number);
    if (element === undefined) unresolved = true;
    else if (element?.deref()) listening.add(element.deref());
  }
};

/** The elements to ask about now, as a batch. */
const toAsk = () => {
  const elements = new Set();
  for (const element of suspects) {
    if (elements.size >= MOST_SUSPECTS) break;
    suspects.delete(element);
    checkedHosts.add(element);
    elements.add(element);
  }
  if (unresolved && unsure.size) for (const element of [document, documentElement(document), documentBody(document)]) if (element && !asked.has(element)) elements.add(element);
  for (const element of unsure) elements.add(element);
  unsure.clear();
  if (!elements.size) return { batch: 0, elements: [] };
  for (const element of elements) asked.add(element);
  lastBatch += 1;
  batches.set(lastBatch, [...elements].map((element) => (isElement(element) ? new WeakRef(element) : null)));
  batches.delete(lastBatch - 8);
  return { batch: lastBatch, elements: [...elements] };
};

const doesListen = (element) => {
  if (listening.has(element)) return true;
  if (unresolved && unsure.size < MOST_UNSURE && !asked.has(element)) unsure.add(element);
  return false;
};

const frameWindow = getter(HTMLIFrameElement.prototype, 'contentWindow');
const oldFrameWindow = getter(HTMLFrameElement.prototype, 'contentWindow');

/** The windows of frame owners, by which the protocol knows the frames. */
const windowsOf = (owners) => owners.map((id) => {
  const element = references.get(id)?.element.deref();
  const tag = element ? tagOf(element) : '';
  return tag === 'iframe' ? frameWindow(element) : tag === 'frame' ? oldFrameWindow(element) : null;
});
