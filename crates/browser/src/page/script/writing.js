// Everything that a document has in writing, for a search of it elsewhere; and where parts of that are drawn.

/** Documents with more than this, in UTF-16 units, are not searched. */
const MOST_WRITING = 2_000_000;
const MOST_SPOTS = 2000;
/** What stands between texts that are not on one line, which no word goes across. */
const GAP = '\ufffc';

class Writing {
  constructor() {
    this.parts = [];
    this.runs = [];
    this.length = 0;
    this.block = null;
  }

  /** A text, in the same line as the one before where it is in the same block; `place` tells where it is drawn. */
  add(string, block, place) {
    // Lines of the source are no lines of what is drawn.
    const text = string.toWellFormed().replace(/[\n\r]/g, ' ');
    const gap = block !== null && block === this.block ? '' : GAP;
    this.block = block;
    const start = this.length + gap.length;
    this.parts.push(gap, text);
    this.length = start + text.length;
    this.runs.push({ start, end: this.length, ...place });
  }
}

/** The latest writings, which parts may be asked of. */
const writings = new Map();
let lastWriting = 0;

const writing = ({ print = false }) => {
  const pass = new Pass(1000);
  const found = new Writing();
  for (const scope of scopes(20000, (element) => mayHide(pass, element))) {
    const walker = makeWalker(document, scope, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (isText(node)) addText(pass, found, node, print);
      else addElement(pass, found, node, print);
      if (found.length > MOST_WRITING) throw new Refusal('excess', 'the document holds too much text');
    }
  }
  if (print) found.add(location.href, null, {});
  lastWriting += 1;
  writings.set(lastWriting, found.runs);
  writings.delete(lastWriting - 4);
  const { x, y, width, height } = pass.view;
  return { text: found.parts.join(''), mark: lastWriting, view: { x, y, width, height } };
};

/** Whoever had no closed root when it was asked about may have one now. */
const mayHide = (pass, element) => {
  const tag = tagOf(element);
  const custom = tag.includes('-');
  if (!custom && !SHADOW_TAGS.has(tag)) return;
  const facts = factsOf(pass, element);
  if (facts.rendered && (custom || pass.small || !explained(pass, facts))) suspects.add(element);
};

const NEVER_WRITTEN = new Set(['script', 'template', 'textarea', 'select', 'option', 'noscript', 'datalist']);

const addText = (pass, found, node, print) => {
  const holder = flatParent(node) ?? parentNode(node);
  if (!isElement(holder) || !/\S/.test(data(node))) return;
  const tag = tagOf(holder);
  if (NEVER_WRITTEN.has(tag) || (tag === 'style' && !print)) return;
  found.add(data(node), blockOf(factsOf(pass, holder)), { text: node });
};

/** The block that a text is a part of. */
const blockOf = (facts) => {
  let at = facts;
  while (at.parent && /^(inline|contents|ruby)/.test(at.display)) at = at.parent;
  return at.element;
};

const addElement = (pass, found, element, print) => {
  const tag = tagOf(element);
  const own = (string) => string && found.add(string, null, { box: element });
  if (tag === 'input') {
    const type = inputType(element);
    if (type !== 'hidden' && type !== 'password') own(inputValue(element));
  } else if (tag === 'textarea') {
    own(areaValue(element));
  } else if (tag === 'select') {
    const listed = selectMultiple(element) || selectSize(element) > 1;
    for (const option of selectOptions(element)) if (listed || optionSelected(option)) own(optionLabel(option));
  }
  for (const name of ['placeholder', 'alt']) own(attribute(element, name));
  if (print && !UNPRINTED.has(tag)) for (const { name, value } of [...attributesOf(element)].slice(0, 200)) if (name !== 'value') found.add(value, null, {});
  if (!factsOf(pass, element).rendered && !print) return;
  if (!generates(pass, element)) return;
  for (const layer of ['::before', '::after']) {
    const [text] = generated(element, layer);
    if (text) found.add(text, null, { layer: element });
  }
};

const UNPRINTED = new Set(['script', 'template', 'meta', 'link', 'base']);
const attributesOf = getter(Element.prototype, 'attributes');

const spots = ({ mark, ranges }) => {
  const runs = writings.get(mark);
  if (!runs) throw new Refusal('stale', 'another look was taken since');
  const rects = [];
  let astray = false;
  const add = (list) => {
    for (const { x, y, width, height } of list) if (width > 0 && height > 0) rects.push({ x, y, width, height });
  };
  for (const [from, to] of ranges) {
    for (const { start, end, text, box, layer } of runs) {
      if (start >= to || end <= from) continue;
      if (box) {
        add(rectsOf(box));
      } else if (layer) {
        // Generated text has no rectangle of its own, and may be anywhere.
        astray ||= rectsOf(layer).length > 0;
      } else if (text) {
        const range = makeRange(document);
        range.setStart(text, Math.max(from, start) - start);
        range.setEnd(text, Math.min(to, end) - start);
        add(range.getClientRects());
      }
    }
  }
  return { rects: rects.slice(0, MOST_SPOTS), astray: astray || rects.length > MOST_SPOTS };
};
