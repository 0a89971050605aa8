// Scrolling: the page, a container by ref, or the container that holds a ref.

const scrollable = (element, axis) => {
  const style = getComputedStyle(element);
  const overflow = axis === 'x' ? style.overflowX : style.overflowY;
  if (!/auto|scroll|hidden/.test(overflow)) return false;
  // A disabled text area scrolls like any other.
  return axis === 'x' ? scrollWidth(element) > clientWidth(element) + 1 : scrollHeight(element) > clientHeight(element) + 1;
};

/** The nearest box around an element that scrolls along an axis, or the page. */
const scrollerOf = (element, axis) => {
  const page = scrollRoot(document) ?? documentElement(document);
  for (let node = element, depth = 0; node && depth < 500; node = flatParent(node), depth += 1) {
    if (node === documentBody(document) || node === documentElement(document)) break;
    if (scrollable(node, axis) && !/hidden/.test(axis === 'x' ? getComputedStyle(node).overflowX : getComputedStyle(node).overflowY)) return node;
  }
  return page;
};

/** Without a ref: the page; where the page itself does not scroll, the largest scroller in view. */
const mainScroller = (axis) => {
  const page = scrollRoot(document) ?? documentElement(document);
  const movable = axis === 'x' ? scrollWidth(page) > window.innerWidth + 1 : scrollHeight(page) > window.innerHeight + 1;
  if (movable) return page;
  let best = page;
  let bestArea = 0.1 * window.innerWidth * window.innerHeight;
  for (let node = deepestAt(window.innerWidth / 2, window.innerHeight / 2); node; node = flatParent(node)) {
    const rect = rectOf(node);
    if (scrollable(node, axis) && rect.width * rect.height > bestArea) {
      best = node;
      bestArea = rect.width * rect.height;
    }
  }
  return best;
};

const scrollByMethod = method(Element.prototype, 'scrollTo');
const placeOf = (element) => ({
  x: scrollLeft(element), y: scrollTop(element),
  maxX: Math.max(0, scrollWidth(element) - clientWidth(element)), maxY: Math.max(0, scrollHeight(element) - clientHeight(element)),
});

const scroll = ({ id, direction, amount }) => {
  const pass = new Pass(200);
  const axis = direction === 'left' || direction === 'right' ? 'x' : 'y';
  const scroller = id ? scrollerOf(elementOf(pass, id).element, axis) : mainScroller(axis);
  const before = placeOf(scroller);
  const page = axis === 'x' ? clientWidth(scroller) : clientHeight(scroller);
  const step = amount ?? Math.max(40, Math.round(0.8 * page));
  const left = { left: before.x - step, right: before.x + step }[direction] ?? before.x;
  const top = { up: before.y - step, down: before.y + step, top: 0, bottom: before.maxY + 1 }[direction] ?? before.y;
  if (!['up', 'down', 'left', 'right', 'top', 'bottom'].includes(direction)) throw new Refusal('invalid', 'direction is up, down, left, right, top or bottom');
  scrollByMethod(scroller, { left, top, behavior: 'instant' });
  const after = placeOf(scroller);
  const isPage = scroller === (scrollRoot(document) ?? documentElement(document));
  return { ...after, moved: after.x !== before.x || after.y !== before.y, ...(isPage ? {} : { line: sayElement(pass, scroller) }) };
};

/** Where a wheel event goes for this element: a visible point of its scroller. */
const scrollPoint = ({ id }) => {
  const pass = new Pass(200);
  const element = id ? elementOf(pass, id).element : mainScroller('y');
  if (element === (scrollRoot(document) ?? documentElement(document))) return { x: window.innerWidth / 2, y: window.innerHeight / 2 };
  if (!pointsOf(element).length) scrollTo(element);
  const point = pointsOf(element).find((one) => lands(element, deepestAt(one.x, one.y))) ?? pointsOf(element)[0];
  if (!point) throw new Refusal('unreachable', 'no part of the element can be scrolled into view', sayElement(pass, element));
  return { x: point.x, y: point.y };
};
