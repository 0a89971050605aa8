// Safe reach into the document.
//
// A form (and the document) answers to the names of its controls before its own properties, in every world: with
// `<form><input name=children>` even `form.children` is that input (HTML "legacy override built-ins"). So nothing here
// reads a property of a node directly: each accessor is taken from the prototype, which in this world nobody can change.

const getter = (prototype, name) => {
  const get = Object.getOwnPropertyDescriptor(prototype, name).get;
  return (object) => get.call(object);
};
const setter = (prototype, name) => {
  const set = Object.getOwnPropertyDescriptor(prototype, name).set;
  return (object, value) => set.call(object, value);
};
const method = (prototype, name) => {
  const call = prototype[name];
  return (object, ...rest) => call.apply(object, rest);
};

const nodeType = getter(Node.prototype, 'nodeType');
const parentNode = getter(Node.prototype, 'parentNode');
const firstChild = getter(Node.prototype, 'firstChild');
const nextSibling = getter(Node.prototype, 'nextSibling');
const isConnected = getter(Node.prototype, 'isConnected');
const baseUri = getter(Node.prototype, 'baseURI');
const textContent = getter(Node.prototype, 'textContent');
const ownerDocument = getter(Node.prototype, 'ownerDocument');
const contains = method(Node.prototype, 'contains');
const compareOrder = method(Node.prototype, 'compareDocumentPosition');
const rootNode = method(Node.prototype, 'getRootNode');
const data = getter(CharacterData.prototype, 'data');
const dataLength = getter(CharacterData.prototype, 'length');
const localName = getter(Element.prototype, 'localName');
const namespace = getter(Element.prototype, 'namespaceURI');
const openShadow = getter(Element.prototype, 'shadowRoot');
const previousElement = getter(Element.prototype, 'previousElementSibling');
const nextElement = getter(Element.prototype, 'nextElementSibling');
const firstElement = getter(Element.prototype, 'firstElementChild');
const childElementCount = getter(Element.prototype, 'childElementCount');
const slotOf = (node) => (nodeType(node) === 1 ? elementSlot(node) : textSlot(node));
const elementSlot = getter(Element.prototype, 'assignedSlot');
const textSlot = getter(Text.prototype, 'assignedSlot');
const attribute = (() => {
  const get = Element.prototype.getAttribute;
  return (element, name) => get.call(element, name);
})();
const hasAttribute = method(Element.prototype, 'hasAttribute');
const matches = method(Element.prototype, 'matches');
const closest = method(Element.prototype, 'closest');
const queryElement = method(Element.prototype, 'querySelectorAll');
const queryFirst = method(Element.prototype, 'querySelector');
const rectOf = method(Element.prototype, 'getBoundingClientRect');
const rectsOf = method(Element.prototype, 'getClientRects');
const clientWidth = getter(Element.prototype, 'clientWidth');
const clientHeight = getter(Element.prototype, 'clientHeight');
const clientLeft = getter(Element.prototype, 'clientLeft');
const clientTop = getter(Element.prototype, 'clientTop');
const scrollWidth = getter(Element.prototype, 'scrollWidth');
const scrollHeight = getter(Element.prototype, 'scrollHeight');
const scrollLeft = getter(Element.prototype, 'scrollLeft');
const scrollTop = getter(Element.prototype, 'scrollTop');
const focusElement = method(HTMLElement.prototype, 'focus');
const offsetWidth = getter(HTMLElement.prototype, 'offsetWidth');
const offsetHeight = getter(HTMLElement.prototype, 'offsetHeight');
const isEditable = getter(HTMLElement.prototype, 'isContentEditable');
const assignedNodes = method(HTMLSlotElement.prototype, 'assignedNodes');
const labelControl = getter(HTMLLabelElement.prototype, 'control');
const linkTarget = getter(HTMLAnchorElement.prototype, 'href');
const inputType = getter(HTMLInputElement.prototype, 'type');
const inputValue = getter(HTMLInputElement.prototype, 'value');
const inputChecked = getter(HTMLInputElement.prototype, 'checked');
const inputIndeterminate = getter(HTMLInputElement.prototype, 'indeterminate');
const inputFiles = getter(HTMLInputElement.prototype, 'files');
const areaValue = getter(HTMLTextAreaElement.prototype, 'value');
const selectOptions = getter(HTMLSelectElement.prototype, 'options');
const selectMultiple = getter(HTMLSelectElement.prototype, 'multiple');
const selectSize = getter(HTMLSelectElement.prototype, 'size');
const optionSelected = getter(HTMLOptionElement.prototype, 'selected');
const optionLabel = getter(HTMLOptionElement.prototype, 'label');
const optionValue = getter(HTMLOptionElement.prototype, 'value');
const dispatch = method(EventTarget.prototype, 'dispatchEvent');
const documentElement = getter(Document.prototype, 'documentElement');
const documentBody = getter(Document.prototype, 'body');
const documentTitle = getter(Document.prototype, 'title');
const documentState = getter(Document.prototype, 'readyState');
const scrollRoot = getter(Document.prototype, 'scrollingElement');
const documentActive = getter(Document.prototype, 'activeElement');
const shadowActive = getter(ShadowRoot.prototype, 'activeElement');
const shadowHost = getter(ShadowRoot.prototype, 'host');
const documentByTag = method(Document.prototype, 'getElementsByTagName');
const collectionItem = method(HTMLCollection.prototype, 'item');
const queryDocument = method(Document.prototype, 'querySelectorAll');
const queryFragment = method(DocumentFragment.prototype, 'querySelectorAll');
const documentAt = method(Document.prototype, 'elementFromPoint');
const shadowAt = method(ShadowRoot.prototype, 'elementFromPoint');
const documentAllAt = method(Document.prototype, 'elementsFromPoint');
const documentById = method(Document.prototype, 'getElementById');
const fragmentById = method(DocumentFragment.prototype, 'getElementById');
const makeRange = method(Document.prototype, 'createRange');
const makeWalker = method(Document.prototype, 'createTreeWalker');
const pageSelection = method(Document.prototype, 'getSelection');

const HTML = 'http://www.w3.org/1999/xhtml';
const SVG = 'http://www.w3.org/2000/svg';
const MATH = 'http://www.w3.org/1998/Math/MathML';

/** The HTML tag name, or the empty string for elements of another vocabulary. */
const tagOf = (element) => tags.get(element) ?? learnTag(element);
const tags = new WeakMap();
const learnTag = (element) => {
  const tag = namespace(element) === HTML ? localName(element) : '';
  tags.set(element, tag);
  return tag;
};
const isElement = (node) => node !== null && node !== undefined && nodeType(node) === 1;
const isText = (node) => {
  const type = nodeType(node);
  return type === 3 || type === 4;
};

/** Closed roots, which the protocol hands in (no script can ask for them). */
const closedRoots = new WeakMap();
/** Where a closed root's slots show the light children of its host: `assignedSlot` hides closed slots. */
const closedSlots = new WeakMap();

/** Shadow roots that a walk came through, for the observers of `changes.js`. */
const notedRoots = new WeakSet();
const seenRoots = new Set();

const shadowOf = (element) => openShadow(element) ?? closedRoots.get(element) ?? null;

const queryAll = (root, selector) => {
  if (nodeType(root) === 9) return queryDocument(root, selector);
  return nodeType(root) === 11 ? queryFragment(root, selector) : queryElement(root, selector);
};

/** `getElementById` within the tree scope of `near` (an IDREF never crosses a shadow border). */
const byId = (near, id) => {
  const root = rootNode(near);
  if (nodeType(root) === 9) return documentById(root, id);
  return nodeType(root) === 11 ? fragmentById(root, id) : null;
};

/** The elements that an IDREF list attribute names. */
const referenced = (element, name) => {
  const list = attribute(element, name);
  if (!list) return [];
  return list.split(/[\t\n\f\r ]+/).slice(0, 50).map((id) => id && byId(element, id)).filter(Boolean);
};

/** Parent in the flat tree (CSS Scoping §3.4), elements only. */
const flatParent = (node) => {
  const parent = parentNode(node);
  if (!parent) return null;
  const type = nodeType(parent);
  if (type === 11) return parent instanceof ShadowRoot ? shadowHost(parent) : null;
  if (type !== 1) return null;
  if (shadowOf(parent)) {
    const slot = slotOf(node) ?? closedSlots.get(node);
    if (slot) return slot;
  }
  return parent;
};

/** Children in the flat tree, as an iterator that costs nothing for children nobody asks for. */
function* flatChildren(element) {
  const root = shadowOf(element);
  if (root && !notedRoots.has(root)) {
    notedRoots.add(root);
    seenRoots.add(new WeakRef(root));
  }
  if (!root && tagOf(element) === 'slot') {
    const assigned = assignedNodes(element);
    if (assigned.length) {
      for (const node of assigned) closedSlots.set(node, element);
      yield* assigned;
      return;
    }
  }
  for (let node = firstChild(root ?? element); node; node = nextSibling(node)) {
    const type = nodeType(node);
    if (type === 1 || type === 3 || type === 4) yield node;
  }
}

/** True when `outer` is `inner` or holds it, through shadow borders. */
const holds = (outer, inner) => {
  for (let node = inner; node; ) {
    if (node === outer || contains(outer, node)) return true;
    const root = rootNode(node);
    node = root instanceof ShadowRoot ? shadowHost(root) : null;
  }
  return false;
};

/** Every tree scope of the document that is known: the document and its shadow roots, outer before inner. `visit` sees each
 *  element on the way that has no root. */
const scopes = (limit = 2000, visit = null) => {
  const found = [document];
  for (let index = 0; index < found.length && found.length < limit; index += 1) {
    const walker = makeWalker(document, found[index], NodeFilter.SHOW_ELEMENT);
    for (let seen = 0; walker.nextNode() && seen < 250000; seen += 1) {
      const root = shadowOf(walker.currentNode);
      if (root) found.push(root);
      else visit?.(walker.currentNode);
    }
  }
  return found;
};

const now = () => performance.now();

/** A refusal that the caller can act on. */
class Refusal extends Error {
  constructor(code, message, line) {
    super(message);
    this.code = code;
    this.line = line;
  }
}
