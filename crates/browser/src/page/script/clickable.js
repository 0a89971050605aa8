// What can be acted on: native controls, ARIA widgets, whatever takes focus, whatever listens, whatever has the hand.

const CLICK_ATTRIBUTES = '[onclick],[onmousedown],[onmouseup],[onpointerdown],[onpointerup],[ontouchstart],[ondblclick],[oncontextmenu]';

const listens = (element) => matches(element, CLICK_ATTRIBUTES) || doesListen(element);

/** A root's listener serves everything below it (delegation), so it says nothing about the root itself. */
const isRootLike = (element) => {
  const tag = tagOf(element);
  if (tag === 'html' || tag === 'body') return true;
  const parent = parentNode(element);
  if (!isElement(parent) || tagOf(parent) !== 'body' || roleOfAttribute(element)) return false;
  return childElementCount(element) > 0 && childElementCount(parent) < 12 && rectOf(element).height >= 0.8 * scrollHeight(parent) && rectOf(element).width >= 0.8 * clientWidth(parent) &&
    queryElement(element, 'a[href],button,input,select,textarea,[role],[tabindex],p,h1,h2,li,td').length > 1;
};
const roleOfAttribute = (element) => (attribute(element, 'role') ?? '').trim();

/** Native controls and widgets by role. */
const isWidget = (element, role) => {
  if (WIDGET_ROLES.has(role) && (role !== 'gridcell' || focusable(element))) {
    // A separator or gridcell that takes no focus is structure; an option of a native select belongs to its select.
    return tagOf(element) !== 'option';
  }
  switch (role) {
    case 'color': case 'date': return true;
    case 'video': case 'audio': return hasAttribute(element, 'controls');
    default: return false;
  }
};

/** "widget", "focus", "listener", "pointer" or null: why a person could click here. */
const clickReason = (pass, facts, role) => {
  const { element } = facts;
  if (isWidget(element, role)) return 'widget';
  const tag = tagOf(element);
  if (tag === 'html' || tag === 'body') return null;
  if (tag === 'label' || tag === 'option' || tag === 'iframe' || tag === 'frame') return null;
  if (editingHost(element)) return 'widget';
  if (hasAttribute(element, 'tabindex') && focusable(element) && attribute(element, 'tabindex').trim() >= '0') return isScrollArea(facts) && !listens(element) ? null : 'focus';
  if (listens(element) && !isRootLike(element) && !serves(element, tag)) return 'listener';
  if (attribute(element, 'draggable') === 'true') return 'listener';
  if (pointer(facts) && !(facts.parent && pointer(facts.parent))) return 'pointer';
  return delegated(pass, facts) ? 'listener' : null;
};

const LIST_TAGS = new Set(['ul', 'ol', 'menu', 'dl', 'table', 'thead', 'tbody', 'tfoot']);
const CONTROLS = 'a[href],button,input,select,textarea';
/** A list or table that listens does so for what is in it. */
const serves = (element, tag) => LIST_TAGS.has(tag) && (childElementCount(element) > 1 || queryFirst(element, CONTROLS) !== null);

const pointer = (facts) => (facts.pointer ??= facts.rendered && /^(pointer|grab|move)$/.test(facts.style.cursor));

/** A scroller made focusable for the keyboard alone is no target. */
const isScrollArea = (facts) => !facts.inline && /auto|scroll/.test(facts.style.overflowX + facts.style.overflowY);

const KEYBOARD_STOPS = 'a[href],button,input,select,textarea,summary,iframe,[tabindex],[contenteditable]';
/** A box that a person scrolls and that nothing in it leads to: one that takes the focus by itself, as the browser lets scrollers do
 *  that hold nothing to focus (CSS Overflow 4 §3.1), or because the page says so. */
const scrollsByKeys = (facts, role) => {
  const { element } = facts;
  if (!facts.scroller || NAMED_BY_CONTENTS.has(role)) return false;
  if (scrollHeight(element) <= clientHeight(element) + SCROLLED_LITTLE && scrollWidth(element) <= clientWidth(element) + SCROLLED_LITTLE) return false;
  const tabindex = attribute(element, 'tabindex');
  return tabindex === null ? queryFirst(element, KEYBOARD_STOPS) === null : tabindex.trim() >= '0';
};
/** So many pixels hide nothing that a person would scroll for. */
const SCROLLED_LITTLE = 8;

/** The items of a list, table or drawing whose container listens for them. */
const delegated = (pass, facts) => {
  const { element } = facts;
  const tag = tagOf(element);
  const shape = tag === '' && namespace(element) === SVG && ['circle', 'ellipse', 'path', 'polygon', 'rect', 'image', 'use', 'text', 'g', 'line'].includes(localName(element));
  if (!firstChild(element) && isPicture(facts)) return servedFrom(facts);
  if (!(tag === 'li' || tag === 'td' || shape || tag === 'dt' || tag === 'figure')) return false;
  for (let outer = facts.parent, depth = 0; outer && depth < 4; outer = outer.parent, depth += 1) {
    const outerTag = tagOf(outer.element);
    if ((LIST_TAGS.has(outerTag) || outerTag === 'tr') || (shape && localName(outer.element) === 'svg')) {
      if (listens(outer.element) && !(tag === 'td' && outerTag === 'tr')) return !(outer.controls ??= queryFirst(outer.element, CONTROLS) !== null);
    } else if (!(shape && localName(outer.element) === 'g')) {
      return false;
    }
  }
  return false;
};

/** An empty box with a picture of its own, as icons are made. */
const isPicture = (facts) => facts.rendered && facts.style.backgroundImage !== 'none' && boxSize(facts) <= 128;
const boxSize = (facts) => Math.max((facts.rect ??= rectOf(facts.element)).width, facts.rect.height);
const servedFrom = (facts) => {
  for (let outer = facts.parent, depth = 0; outer && depth < 6; outer = outer.parent, depth += 1) {
    if (['html', 'body', 'label', 'a', 'button'].includes(tagOf(outer.element))) return false;
    if (listens(outer.element)) return boxSize(outer) > 2 * boxSize(facts);
  }
  return false;
};
