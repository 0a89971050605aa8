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

const axisOf = (direction) => (direction === 'left' || direction === 'right' ? 'x' : 'y');
const scrollerFor = (pass, id, direction) => (id ? scrollerOf(elementOf(pass, id).element, axisOf(direction)) : mainScroller(axisOf(direction)));
/** Most of what the scroller shows, so that the eye keeps a line. */
const stepOf = (scroller, direction) => Math.max(40, Math.round(0.8 * (axisOf(direction) === 'x' ? clientWidth(scroller) : clientHeight(scroller))));

const scroll = ({ id, direction, amount }) => {
  const pass = new Pass(200);
  const scroller = scrollerFor(pass, id, direction);
  const before = placeOf(scroller);
  const step = amount ?? stepOf(scroller, direction);
  const left = { left: before.x - step, right: before.x + step }[direction] ?? before.x;
  const top = { up: before.y - step, down: before.y + step, top: 0, bottom: before.maxY + 1 }[direction] ?? before.y;
  if (!['up', 'down', 'left', 'right', 'top', 'bottom'].includes(direction)) throw new Refusal('invalid', 'direction is up, down, left, right, top or bottom');
  scrollByMethod(scroller, { left, top, behavior: 'instant' });
  const after = placeOf(scroller);
  const isPage = scroller === (scrollRoot(document) ?? documentElement(document));
  return { ...after, moved: after.x !== before.x || after.y !== before.y, ...(isPage ? {} : { line: sayElement(pass, scroller) }) };
};

/** Where a wheel event goes for this element: a visible point of its scroller; how far is most of a view, and where it stands. */
const scrollPoint = ({ id, direction }) => {
  const pass = new Pass(200);
  const scroller = scrollerFor(pass, id, direction);
  const about = { step: stepOf(scroller, direction), ...placeOf(scroller) };
  if (scroller === (scrollRoot(document) ?? documentElement(document))) return { pointX: window.innerWidth / 2, pointY: window.innerHeight / 2, ...about };
  if (!pointsOf(scroller).length) scrollTo(scroller);
  const point = pointsOf(scroller).find((one) => lands(scroller, deepestAt(one.x, one.y))) ?? pointsOf(scroller)[0];
  if (!point) throw new Refusal('unreachable', 'no part of the element can be scrolled into view', sayElement(pass, scroller));
  return { pointX: point.x, pointY: point.y, ...about };
};

/** Waits until a wheel has moved the scroller away from where it stood and it has come to rest, or nothing moves. */
const scrolled = async ({ id, direction, x, y, timeoutMs = 250 }) => {
  const scroller = scrollerFor(new Pass(200), id, direction);
  const start = now();
  let moved = false;
  for (let last = { x, y }; ; ) {
    const place = placeOf(scroller);
    moved ||= place.x !== x || place.y !== y;
    const still = place.x === last.x && place.y === last.y;
    if ((moved && still && last !== place && last.seen) || now() - start > (moved ? timeoutMs * 4 : timeoutMs)) return { ...place, moved };
    last = { ...place, seen: true };
    await nextFrame();
  }
};
