// What a person can see. Absent is what is hidden from people; present is what they can reach by scrolling, even when it
// only looks hidden to a naive tool. Truth is taken from layout (rectangles), not from the names of classes.

/** In documents of fewer elements each one that may be the host of a closed root is asked about. */
const SMALL = 1500;

/** Owners and dialogs beyond this are not looked at. */
const MOST_MARKED = 3000;

/** The state of one call: memo of what was found out about elements, and the time limit. */
class Pass {
  constructor(budgetMs) {
    this.facts = new Map();
    this.names = new Map();
    this.roles = new Map();
    this.range = makeRange(document);
    this.view = viewNow();
    this.marked = [...queryDocument(document, '[aria-owns],dialog[open],[aria-modal=true]')].slice(0, MOST_MARKED);
    this.owned = owners(this.marked);
    this.texts = new Map();
    this.generated = { asked: 0, by: undefined };
    this.small = !collectionItem(documentByTag(document, '*'), SMALL);
    labelIndex = new Map();
    // Layout may have been due until here, which is no walking.
    this.deadline = now() + budgetMs;
  }

  get late() {
    return now() > this.deadline;
  }
}

/** Elements that `aria-owns` moves elsewhere in the tree: element → owner (ARIA 1.3; the first owner wins). */
const owners = (marked) => {
  const map = new Map();
  for (const owner of marked) {
    for (const element of referenced(owner, 'aria-owns')) {
      if (!map.has(element) && !holds(element, owner)) map.set(element, owner);
    }
    if (map.size > 2000) break;
  }
  return map;
};

/** The layout viewport, and the part of the plane that scrolling can bring into it, in client coordinates. */
const viewNow = () => {
  const root = scrollRoot(document) ?? documentElement(document);
  const width = window.innerWidth;
  const height = window.innerHeight;
  if (!root) return { x: 0, y: 0, width, height, pageWidth: width, pageHeight: height, reach: null };
  const pageWidth = Math.max(scrollWidth(root), width);
  const pageHeight = Math.max(scrollHeight(root), height);
  const x = window.scrollX;
  const y = window.scrollY;
  // Right-to-left pages scroll to the negative side.
  const leftward = x < 0 || getComputedStyle(root).direction === 'rtl';
  const left = leftward ? width - pageWidth - x : -x;
  const reach = { left, top: -y, right: left + pageWidth, bottom: pageHeight - y };
  return { x, y, width, height, pageWidth, pageHeight, reach };
};

const NO_CLIP = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
const intersect = (a, b) => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});

/** What is known about an element: `rendered` (has a place in layout), `visible` (visibility and opacity let it be seen),
 *  the clip for its contents by kind of positioning, and inherited ARIA and inert state. */
const factsOf = (pass, element) => {
  const known = pass.facts.get(element);
  if (known) return known;
  const chain = [];
  let facts = null;
  for (let node = element; node && !facts; node = flatParent(node)) {
    facts = pass.facts.get(node) ?? null;
    if (!facts) chain.push(node);
  }
  for (let index = chain.length - 1; index >= 0; index -= 1) facts = learn(pass, chain[index], facts);
  return facts;
};

/** What an element says of itself and of all that is in it (ARIA 1.3 §6.6.12). */
const ariaDisabled = (element) => {
  const value = attribute(element, 'aria-disabled');
  return value === null ? null : value.trim().toLowerCase() === 'true';
};

const INLINE = new Set(['inline', 'contents', 'ruby', 'ruby-text']);

const learn = (pass, element, parent) => {
  // Whether an area has a display of its own depends on the version of the browser; it is drawn on its picture in each.
  const area = tagOf(element) === 'area' ? areaFacts(pass, element) : null;
  if (area) {
    pass.facts.set(element, area);
    return area;
  }
  const style = getComputedStyle(element);
  const display = style.display;
  const inline = INLINE.has(display);
  const facts = {
    element, parent, style, display, inline,
    rendered: display !== 'none' && display !== '' && (!parent || (parent.rendered && showsChild(parent, element))),
    visible: true,
    opacity: parent ? parent.opacity : 1,
    fixed: parent ? parent.fixed : false,
    scrolled: parent ? parent.scrolled : false,
    scroller: false,
    position: 'static',
    clip: parent ? parent.clip : NO_CLIP,
    own: parent ? parent.clip : NO_CLIP,
    absoluteClip: parent ? parent.absoluteClip : NO_CLIP,
    skipped: false,
    ariaHidden: (parent ? parent.ariaHidden : false) || attribute(element, 'aria-hidden') === 'true',
    disabled: ariaDisabled(element) ?? (parent ? parent.disabled : false),
    inert: (parent ? parent.inert : false) || hasAttribute(element, 'inert'),
    pointer: undefined,
    background: undefined,
    controls: undefined,
    rect: undefined,
  };
  pass.facts.set(element, facts);
  if (!facts.rendered) {
    facts.visible = false;
    return facts;
  }
  const opacity = Number(style.opacity);
  if (opacity < 1) facts.opacity *= opacity;
  facts.visible = facts.opacity >= 0.02 && style.visibility === 'visible';
  if (style.filter !== 'none' && /opacity\((0|0?\.0[01]\d*|[01]?(\.\d+)?%)\)/.test(style.filter)) {
    facts.opacity = 0;
    facts.visible = false;
  }
  const path = style.clipPath;
  if (path !== 'none' && clipsAll(path, element)) facts.clip = facts.own = facts.absoluteClip = { left: 0, top: 0, right: 0, bottom: 0 };
  if (!inline) boxFacts(pass, element, parent, facts);
  return facts;
};

/** Closed details show their summary alone; other places that skip their contents are found by `content-visibility`. */
const showsChild = (parent, child) => {
  if (parent.skipped) return false;
  if (tagOf(parent.element) !== 'details' || hasAttribute(parent.element, 'open')) return true;
  return tagOf(child) === 'summary' && isMainSummary(child);
};

const isMainSummary = (summary) => {
  const parent = parentNode(summary);
  if (!isElement(parent) || tagOf(parent) !== 'details') return false;
  for (let node = previousElement(summary); node; node = previousElement(node)) if (tagOf(node) === 'summary') return false;
  return true;
};

const boxFacts = (pass, element, parent, facts) => {
  const { style } = facts;
  const position = style.position;
  facts.position = position;
  if (position === 'fixed') {
    facts.fixed = true;
    // Nothing scrolls it: what is outside the viewport stays outside. (A transformed ancestor would be its containing
    // block; then the ancestor's own clip is the narrower truth, and the viewport still bounds it in the common cases.)
    facts.clip = facts.own = facts.absoluteClip = transformedAncestor(parent)
      ? facts.clip
      : { left: 0, top: 0, right: pass.view.width, bottom: pass.view.height };
  } else if (position === 'absolute' && parent) {
    facts.clip = facts.own = parent.absoluteClip;
  }
  if (style.contentVisibility === 'hidden') facts.skipped = true;
  const moved = style.transform !== 'none';
  if (moved) turn(facts, style);
  if (style.maskImage !== 'none' && masksAll(style.maskImage)) facts.visible = false, facts.opacity = 0;
  if ((position === 'absolute' || position === 'fixed') && style.clip !== 'auto') {
    const edges = style.clip.match(/-?[\d.]+/g)?.map(Number);
    if (edges?.length === 4 && (edges[1] - edges[3] < 2 || edges[2] - edges[0] < 2)) {
      facts.clip = facts.own = facts.absoluteClip = { left: 0, top: 0, right: 0, bottom: 0 };
    }
  }
  let overflowX = style.overflowX;
  let overflowY = style.overflowY;
  if (overflowX === 'visible' && /paint|strict|content/.test(style.contain)) overflowX = overflowY = 'clip';
  if ((overflowX !== 'visible' || overflowY !== 'visible') && parent) {
    // The root's and the body's overflow belong to the viewport (CSS Overflow §3.3).
    if (element !== documentBody(document) || getComputedStyle(documentElement(document)).overflowX !== 'visible') {
      facts.clip = intersect(facts.clip, contentsClip(element, facts, overflowX, overflowY));
      if (position !== 'static' || moved) facts.absoluteClip = facts.clip;
    }
  } else if (position !== 'static' || moved) {
    facts.absoluteClip = facts.clip;
  }
};

/** The back of a turned card is not seen (CSS Transforms 2 §5 `backface-visibility`). */
const turn = (facts, style) => {
  const matrix = /^matrix3d\(([^)]*)\)$/.exec(style.transform);
  const own = matrix && Number(matrix[1].split(',')[10]) < 0 ? -1 : 1;
  const outer = facts.parent?.facing && facts.parent.style.transformStyle === 'preserve-3d' ? facts.parent.facing : 1;
  facts.facing = own * outer;
  if (facts.facing < 0 && style.backfaceVisibility === 'hidden') {
    facts.visible = false;
    facts.opacity = 0;
  }
};

/** A mask of gradients between transparent colours alone leaves nothing. */
const masksAll = (mask) => {
  if (/url\(|image-set|element\(/.test(mask)) return false;
  const colours = mask.match(/rgba?\([^)]*\)|color\([^)]*\)/g);
  return Boolean(colours) && colours.every((one) => colour(one)[3] < 0.02);
};

const transformedAncestor = (facts) => {
  for (let at = facts, depth = 0; at && depth < 60; at = at.parent, depth += 1) {
    if (!at.inline && (at.style.transform !== 'none' || at.style.filter !== 'none' || at.style.contain.includes('paint'))) return at;
  }
  return null;
};

/** `hidden` and `clip` cut at the box; a scroller shows everything that lies after the start of its contents. */
const contentsClip = (element, facts, overflowX, overflowY) => {
  const rect = rectOf(element);
  const clip = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  if (overflowX === 'hidden' || overflowX === 'clip') {
    clip.left = rect.left;
    clip.right = rect.right;
  } else if (overflowX !== 'visible' && facts.style.direction !== 'rtl') {
    clip.left = rect.left - scrollLeft(element);
  }
  if (overflowY === 'hidden' || overflowY === 'clip') {
    clip.top = rect.top;
    clip.bottom = rect.bottom;
  } else if (overflowY !== 'visible' && scrollTop(element) >= 0) {
    clip.top = rect.top - scrollTop(element);
  }
  const scroller = /auto|scroll/.test(overflowX + overflowY);
  if (scroller) facts.scrolled = facts.scroller = true;
  // A scroller that is itself cut away shows nothing.
  if (scroller && !peeks(rect, facts.own)) {
    return { left: 0, top: 0, right: 0, bottom: 0 };
  }
  return clip;
};

/** Clip paths that leave nothing: `inset` of half and more, circles and ellipses of no radius, polygons of no area. */
const clipsAll = (path, element) => {
  const inset = /^inset\(([^)]*)\)/.exec(path);
  if (inset) {
    const sides = inset[1].split(' round ')[0].trim().split(/\s+/);
    const [top, right = top, bottom = top, left = right] = sides;
    const rect = rectOf(element);
    const length = (value, whole) => (value.endsWith('%') ? (parseFloat(value) / 100) * whole : parseFloat(value) || 0);
    return length(top, rect.height) + length(bottom, rect.height) > rect.height - 2 ||
      length(left, rect.width) + length(right, rect.width) > rect.width - 2;
  }
  if (/^circle\(0(px|%)?[ )]/.test(path) || /^ellipse\((0(px|%)? |\S+ 0(px|%)?[ )])/.test(path)) return true;
  const polygon = /^polygon\(([^)]*)\)/.exec(path);
  if (!polygon) return false;
  const points = polygon[1].split(',').map((pair) => pair.trim().split(/\s+/).slice(-2));
  const same = (axis) => points.every((point) => point[axis] === points[0][axis]);
  return same(0) || same(1);
};

/** True when at least a sliver of the rectangle is inside the clip. */
const peeks = (rect, clip) =>
  Math.min(rect.right, clip.right) - Math.max(rect.left, clip.left) >= Math.min(1.5, rect.width) &&
  Math.min(rect.bottom, clip.bottom) - Math.max(rect.top, clip.top) >= Math.min(2.5, rect.height) &&
  rect.right > clip.left && rect.left < clip.right && rect.bottom > clip.top && rect.top < clip.bottom;

/** True when scrolling the page can show a part of the rectangle. */
const reachable = (pass, rect, facts) => {
  if (facts.fixed || facts.scrolled) return true;
  const { reach } = pass.view;
  return !reach || (rect.right > reach.left + 1 && rect.bottom > reach.top + 1 && rect.left < reach.right && rect.top < reach.bottom);
};

/** Does a person see this element's own box? */
const boxShown = (pass, facts) => {
  if (!facts.visible) return false;
  const rect = (facts.rect ??= rectOf(facts.element));
  return rect.width >= 2 && rect.height >= 2 && peeks(rect, facts.own) && reachable(pass, rect, facts);
};

/** The rectangle of a text, which several look at. */
const textRect = (pass, node) => {
  let rect = pass.texts.get(node);
  if (!rect) {
    pass.range.selectNodeContents(node);
    rect = pass.range.getBoundingClientRect();
    pass.texts.set(node, rect);
  }
  return rect;
};

/** Does a person see this text? Asked of layout: the rectangle of the text itself. */
const textShown = (pass, facts, node) => {
  if (!facts.visible || facts.skipped || (tagOf(facts.element) === 'details' && !hasAttribute(facts.element, 'open'))) return false;
  const rect = textRect(pass, node);
  if (rect.width < 0.5 || rect.height < 2.5) return false;
  if (rect.height < 4 && parseFloat(facts.style.fontSize) <= 2) return false;
  if (!peeks(rect, facts.clip) || !reachable(pass, rect, facts)) return false;
  return inkDiffers(pass, facts, rect);
};
