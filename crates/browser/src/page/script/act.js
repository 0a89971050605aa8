// The acting half before the input: from a ref to a point that the pointer can go to.

// Timers and animation frames are numbered together with those of the page, which would see numbers missing. Tasks and observers
// have no numbers.

const postTask = method(Scheduler.prototype, 'postTask');
/** Calls back after so long; the call that it returns takes that back. */
const later = (callback, ms) => {
  const control = new AbortController();
  postTask(scheduler, callback, { delay: ms, signal: control.signal }).catch(() => {});
  return () => control.abort();
};

/** Calls back once the next frame is laid out; the call that it returns takes that back. */
const onFrame = (callback) => {
  const root = documentElement(document);
  // What is observed anew is reported with the next frame, whether it is in view or not.
  const frame = new IntersectionObserver(() => {
    frame.disconnect();
    callback();
  });
  if (root) frame.observe(root);
  return () => frame.disconnect();
};

/** The next frame, or a moment later where frames do not come (background tabs, headless without a screen). */
const nextFrame = (limit = 40) => new Promise((resolve) => {
  const ends = [];
  const finish = () => {
    for (const end of ends) end();
    resolve();
  };
  ends.push(later(finish, limit), onFrame(finish));
});
/** So long; by frames too, since no timer runs in a frame that is sandboxed without scripts. */
const pause = (ms) => new Promise((resolve) => {
  const end = now() + ms;
  let stop = null;
  const finish = () => {
    stop();
    cancel();
    resolve();
  };
  const tick = () => {
    if (now() >= end) finish();
    else stop = onFrame(tick);
  };
  const cancel = later(finish, ms);
  stop = onFrame(tick);
});

/** Until the page's timers that are due by now have run, or for long enough where a frame has no timers. Those that are due later
 *  cannot be seen from here: an idle moment ends before the next timer, but none comes in time after input. */
const dueTimers = () => pause(5);

const kindOf = (element) => {
  const tag = tagOf(element);
  if (tag === 'input') {
    const type = inputType(element);
    if (INPUT_ROLES[type] === 'date') return 'date';
    if (['range', 'color', 'checkbox', 'radio', 'file'].includes(type)) return type;
    return ['button', 'submit', 'reset', 'image'].includes(type) ? 'button' : 'text';
  }
  if (tag === 'textarea') return 'text';
  if (tag === 'select') return 'select';
  if (tag === 'iframe' || tag === 'frame') return 'frame';
  if (isEditable(element) === true) return 'contenteditable';
  if (tag === 'button' || tag === 'summary') return 'button';
  if (tag === 'a' || tag === 'area' || (tag === '' && localName(element) === 'a')) return 'link';
  return 'other';
};

const resolve = ({ id, selector }) => {
  const pass = new Pass(500);
  const { element, followed } = id ? elementOf(pass, id) : { element: select1(pass, selector), followed: false };
  const line = sayElement(pass, element);
  return { id: ids.get(element), line, tag: localName(element), kind: kindOf(element), ...(followed ? { followed: line } : {}) };
};

/** The one element that a selector of the model means: the first that is shown, in any scope. */
const select1 = (pass, selector) => {
  if (typeof selector !== 'string' || !selector.trim()) throw new Refusal('invalid', 'give a ref or a CSS selector');
  let hidden = null;
  for (const scope of scopes()) {
    let list;
    try {
      list = queryAll(scope, selector);
    } catch {
      throw new Refusal('invalid', `${quote(selector, 80)} is not a CSS selector`);
    }
    for (const element of list) {
      const facts = factsOf(pass, element);
      if (boxShown(pass, facts) || standsIn(pass, facts, tagOf(element))) return element;
      hidden ??= element;
      if (pass.late) break;
    }
  }
  if (hidden) return hidden;
  throw new Refusal('none', `no element matches the selector ${quote(selector, 80)}`);
};

/** The element whose box takes the pointer: itself, or the visible label of a control that is hidden. */
const stage = (pass, element) => {
  const facts = factsOf(pass, element);
  if (!facts.rendered || !boxShown(pass, facts)) {
    for (const label of labelsOf(element)) {
      const labelFacts = factsOf(pass, label);
      if (hasShownContents(pass, labelFacts)) return label;
    }
  }
  if (tagOf(element) === 'option') return closest(element, 'select') ?? element;
  return element;
};

/** The boxes that an element draws, largest part first; `display: contents` draws those of its contents. */
const boxesOf = (element) => {
  if (tagOf(element) === 'area') return [boxOf(element)].filter((box) => box.width > 0);
  let boxes = [...rectsOf(element)].filter((box) => box.width > 0 && box.height > 0);
  if (!boxes.length) {
    const range = makeRange(document);
    range.selectNodeContents(element);
    boxes = [...range.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
  }
  return boxes.slice(0, 20);
};

/** The part of a box that is in view: inside the viewport and inside each scroller and clip around it. */
const visiblePart = (element, box, view = { left: 0, top: 0, right: window.innerWidth, bottom: window.innerHeight }) => {
  let part = intersect(box, view);
  let absolute = false;
  let style = getComputedStyle(element);
  if (style.position === 'fixed') return part;
  absolute = style.position === 'absolute';
  for (let outer = flatParent(element), depth = 0; outer && depth < 200; outer = flatParent(outer), depth += 1) {
    if (outer === documentBody(document) || outer === documentElement(document)) break;
    style = getComputedStyle(outer);
    const positioned = style.position !== 'static' || style.transform !== 'none';
    if (!(absolute && !positioned) && style.overflowX !== 'visible' && !INLINE.has(style.display)) {
      const rect = rectOf(outer);
      const left = rect.left + clientLeft(outer);
      const top = rect.top + clientTop(outer);
      part = intersect(part, { left, top, right: left + clientWidth(outer), bottom: top + clientHeight(outer) });
    }
    if (style.position === 'fixed') break;
    if (positioned) absolute = style.position === 'absolute';
  }
  return part;
};

const area = (part) => Math.max(0, part.right - part.left) * Math.max(0, part.bottom - part.top);

/** Points worth trying inside what is visible: centre first, then around it. */
const pointsOf = (element) => {
  if (tagOf(element) === 'area') return areaPoints(element);
  const points = [];
  for (const box of boxesOf(element)) {
    const part = visiblePart(element, box);
    const width = part.right - part.left;
    const height = part.bottom - part.top;
    if (width < 0.5 || height < 0.5) continue;
    for (const [x, y] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9], [0.9, 0.1], [0.1, 0.9]]) {
      points.push({ x: part.left + width * x, y: part.top + height * y, part });
    }
    if (points.length > 60) break;
  }
  return points;
};

/** What is at a point, through open and closed shadow roots. */
const deepestAt = (x, y) => {
  let found = documentAt(document, x, y);
  for (let depth = 0; found && depth < 100; depth += 1) {
    const root = shadowOf(found);
    const inner = root && shadowAt(root, x, y);
    if (!inner || inner === found) break;
    found = inner;
  }
  return found;
};

/** Would a click at what was hit act on the target? */
const lands = (target, hit) => {
  if (!hit) return false;
  for (let node = hit, depth = 0; node && depth < 5000; node = flatParent(node), depth += 1) {
    if (node === target) return true;
    if (tagOf(node) === 'label') {
      const control = labelControl(node);
      if (control && (control === target || labelsOf(control).includes(target))) return true;
    }
  }
  if (tagOf(target) === 'label') return labelControl(target) === hit;
  return tagOf(target) === 'option' && hit === closest(target, 'select');
};

const prepare = async ({ id, action = 'click', timeoutMs = 1500, watch: watched = false }) => {
  const end = now() + timeoutMs;
  watchPointer();
  const mark = watched ? watch().mark : 0;
  let scrolled = false;
  let problem = null;
  let before = null;
  let replaced = false;
  for (;;) {
    const pass = new Pass(200);
    const { element, followed } = elementOf(pass, id);
    replaced ||= followed;
    const staged = stage(pass, element);
    problem = unready(pass, element, staged, action);
    if (!problem) {
      let points = pointsOf(staged);
      if (!scrolled && needsScroll(staged, points)) {
        scrolled = true;
        scrollTo(staged);
        points = pointsOf(staged);
      }
      const rect = boxOf(staged);
      const still = before ? Math.abs(before.left - rect.left) < 1 && Math.abs(before.top - rect.top) < 1 && Math.abs(before.width - rect.width) < 1 && Math.abs(before.height - rect.height) < 1 : restful();
      before = rect;
      if (!points.length) problem = new Refusal('unreachable', 'no part of the element can be scrolled into view', sayElement(pass, element));
      else if (!still) problem = new Refusal('unstable', 'the element keeps moving', sayElement(pass, element));
      else {
        const best = points.find((point) => lands(staged, deepestAt(point.x, point.y))) ?? points[0];
        if (scrolled !== 'twice' && !lands(staged, deepestAt(best.x, best.y)) && stuckOver(best)) {
          // A sticky bar lies over it: the middle of the view is free of those.
          scrolled = 'twice';
          scrollTo(staged);
          before = null;
          continue;
        }
        return { ...prepared(pass, element, staged, best, rect, Boolean(scrolled), replaced), mark };
      }
    }
    const fast = problem.code === 'stale' || problem.code === 'readonly' || problem.code === 'kind';
    if (fast || now() > end || (problem.code === 'unreachable' && scrolled && now() > end - timeoutMs * 0.7)) throw problem;
    await nextFrame();
    // Not ready for a reason that a frame does not change: look again less often.
    if (problem.code !== 'unstable') await pause(30);
  }
};

/** A page that was not touched for so long stands still, in milliseconds: three frames. */
const STILL_MS = 50;

/** Whether the page stands still as far as is known, so that an element need not be looked at twice: nothing moves by itself,
 *  nothing scrolled, and nothing was touched since the page was seen at rest, or for a while. */
const restful = () => {
  observer.takeRecords().forEach(() => { watching.version += 1; });
  if (!watching.roots.has(document) || now() - watching.scrolled < STILL_MS) return false;
  if (watching.rested !== watching.version && now() - watching.last < STILL_MS) return false;
  return documentAnimations(document).every((one) => one.playState !== 'running');
};

/** Whether an action on an element that shows no effect at once is bound to have one: a link that leads elsewhere, a button that
 *  sends a form which may be sent, a button that opens something. */
const promising = (element) => {
  const link = closest(element, 'a[href],area[href]');
  const leads = link && hrefOf(link);
  if (leads) {
    const [to, here] = [leads, location.href].map((url) => url.split('#')[0]);
    return /^https?:/.test(to) && to !== here;
  }
  const button = closest(element, 'button,input,[aria-haspopup]');
  if (!button) return false;
  if ((attribute(button, 'aria-haspopup') ?? 'false') !== 'false') return true;
  return sends(button);
};

/** Where a link of HTML leads; null for anything else. */
const hrefOf = (element) => {
  if (!hasAttribute(element, 'href')) return null;
  const tag = tagOf(element);
  return tag === 'a' ? linkTarget(element) : tag === 'area' ? areaTarget(element) : null;
};

const buttonType = getter(HTMLButtonElement.prototype, 'type');
const buttonForm = getter(HTMLButtonElement.prototype, 'form');
const inputForm = getter(HTMLInputElement.prototype, 'form');

/** Whether a button sends its form as it stands. */
const sends = (button) => {
  const isButton = tagOf(button) === 'button';
  if (!isButton && tagOf(button) !== 'input') return false;
  const type = isButton ? buttonType(button) : inputType(button);
  if (type !== 'submit' && !(type === 'image' && !isButton)) return false;
  return maySend(isButton ? buttonForm(button) : inputForm(button));
};
const maySend = (form) => form !== null && (hasAttribute(form, 'novalidate') || !matches(form, ':invalid'));

/** Whether text in a field brings suggestions, which come a moment after the last key. */
const suggests = (element) => {
  if (tagOf(element) === 'input' && inputType(element) === 'search') return true;
  const role = attribute(element, 'role');
  return role === 'combobox' || role === 'searchbox' || !['', 'none'].includes(attribute(element, 'aria-autocomplete') ?? '');
};

/** Whether Enter in the field that has the focus sends its form. */
const entersForm = (element) => element !== null && tagOf(element) === 'input' && kindOf(element) !== 'button' && maySend(inputForm(element));

const prepared = (pass, element, staged, point, rect, scrolled, followed) => {
  const line = sayElement(pass, element);
  const result = { id: ids.get(element), line, kind: kindOf(element), x: point.x, y: point.y, clear: lands(staged, deepestAt(point.x, point.y)), scrolled, promising: promising(element), rect: { x: rect.left, y: rect.top, width: rect.width, height: rect.height } };
  if (followed) result.followed = line;
  if (staged !== element) result.via = sayElement(pass, staged);
  const leads = hrefOf(element);
  if (leads !== null) {
    result.href = cut(leads, 2000);
    result.target = attribute(element, 'target') ?? '';
  }
  const file = closest(element, 'a[download][href],area[download][href]');
  const saves = file && hrefOf(file);
  if (saves) result.download = { url: cut(saves, 2000), name: cut(attribute(file, 'download'), 500) };
  return result;
};

/** Why an element cannot be acted on now, or null. */
const unready = (pass, element, staged, action) => {
  const facts = factsOf(pass, staged);
  const line = () => sayElement(pass, element);
  if (!facts.rendered) return new Refusal('hidden', 'the element is not displayed', line());
  if (staged === element && facts.style.visibility !== 'visible') return new Refusal('hidden', 'the element is invisible', line());
  if (!boxesOf(staged).length) return new Refusal('hidden', 'the element has no size', line());
  if (action === 'scroll' || action === 'hover') return null;
  if (unable(pass, element)) return new Refusal('disabled', facts.inert ? 'the element is inert: something modal holds the page' : 'the element is disabled', line());
  if (action !== 'fill') return null;
  if (isReadonly(element)) return new Refusal('readonly', 'the field is read-only', line());
  return ['button', 'link', 'other', 'frame', 'file'].includes(kindOf(element)) && roleOf(pass, element) !== 'textbox'
    ? new Refusal('kind', 'the element takes no text', line())
    : null;
};

/** The place is fine when the middle of the box, or a whole small box, is in view already. */
const needsScroll = (element, points) => {
  if (!points.length) return true;
  const box = boxesOf(element)[0];
  const { part } = points[0];
  return area(part) < 0.5 * box.width * box.height && area(part) < 0.25 * window.innerWidth * window.innerHeight;
};

const scrollIntoSight = method(Element.prototype, 'scrollIntoView');
const scrollTo = (element) => {
  const place = tagOf(element) === 'area' ? areaPlace(element) : null;
  if (place) bring(place.picture, place.centre);
  else scrollIntoSight(element, { block: 'center', inline: 'nearest', behavior: 'instant' });
};

const stuckOver = (point) => {
  for (let node = deepestAt(point.x, point.y), depth = 0; node && depth < 30; node = flatParent(node), depth += 1) {
    const { position } = getComputedStyle(node);
    if (position === 'sticky' || position === 'fixed') return rectOf(node).height < 0.5 * window.innerHeight;
  }
  return false;
};

const hit = ({ id, x, y, guard: guarded = false }) => {
  const pass = new Pass(200);
  const { element } = elementOf(pass, id);
  const staged = stage(pass, element);
  const found = deepestAt(x, y);
  if (lands(staged, found) || lands(element, found)) {
    if (guarded) standGuard([staged, element]);
    return { hit: true };
  }
  const cover = coverOf(pass, found, staged);
  return { hit: false, cover: cover && { id: idOf(pass, cover), line: sayElement(pass, cover) }, leaving: Boolean(found && leaving(found)) };
};

/** The part of the cover that a person would call by a name: the layer that is above the target. */
const coverOf = (pass, found, target) => {
  if (!found) return null;
  let cover = found;
  for (let node = found, depth = 0; node && depth < 60; node = flatParent(node), depth += 1) {
    if (node === documentBody(document) || lands(node, target)) break;
    const role = roleOf(pass, node);
    if (isDialog(role) || (node === found && clickReason(pass, factsOf(pass, node), role))) return node;
    const { position } = factsOf(pass, node);
    if (position === 'fixed' || position === 'absolute' || position === 'sticky') cover = node;
  }
  return cover;
};

const animationsOf = method(Element.prototype, 'getAnimations');
const leaving = (element) => {
  for (let node = element, depth = 0; node && depth < 8; node = flatParent(node), depth += 1) {
    if (animationsOf(node).some((animation) => animation.playState === 'running' && Number.isFinite(animation.effect?.getComputedTiming().endTime))) return true;
  }
  return false;
};

/** The size that a frame's own coordinates have. */
const viewport = () => ({ width: window.innerWidth, height: window.innerHeight });

/** Waits until what was laid out before is drawn: the browser finds frames of other processes where they were drawn last. */
const drawn = async () => {
  await nextFrame();
  await nextFrame();
  return {};
};

/** Where the pointer was seen last in this document. */
const pointerSeen = { watched: false, x: NaN, y: NaN };
const watchPointer = () => {
  if (pointerSeen.watched || window.parent === window) return;
  pointerSeen.watched = true;
  listen(window, 'mousemove', (event) => {
    if (isTrusted(event)) [pointerSeen.x, pointerSeen.y] = [event.clientX, event.clientY];
  }, { capture: true, passive: true });
};

/** Whether the pointer was seen to arrive at a point of a frame: the browser finds frames of other processes where they were drawn
 *  last, which may be elsewhere. */
const pointed = ({ x, y }) => ({ pointed: Math.hypot(pointerSeen.x - x, pointerSeen.y - y) < 4 });

/** Scrolls a point of an element into view, where it is out of the viewport or clipped by a scroller. */
const reveal = ({ id, x, y }) => ({ scrolled: bring(elementOf(new Pass(100), id).element, { x, y }) });

/** The same; true where something moved. */
const bring = (element, { x, y }) => {
  let scrolled = false;
  let point = { x, y };
  const move = (scroller, box) => {
    const by = (value, low, high) => (value < low + 1 || value > high - 1 ? value - (low + high) / 2 : 0);
    const before = placeOf(scroller);
    const dx = by(point.x, box.left, box.right);
    const dy = by(point.y, box.top, box.bottom);
    if (!dx && !dy) return;
    scrollByMethod(scroller, { left: before.x + dx, top: before.y + dy, behavior: 'instant' });
    const after = placeOf(scroller);
    point = { x: point.x - (after.x - before.x), y: point.y - (after.y - before.y) };
    scrolled ||= after.x !== before.x || after.y !== before.y;
  };
  for (let outer = flatParent(element), depth = 0; outer && depth < 200; outer = flatParent(outer), depth += 1) {
    if (outer === documentBody(document) || outer === documentElement(document)) break;
    if (!scrollable(outer, 'x') && !scrollable(outer, 'y')) continue;
    const rect = rectOf(outer);
    const left = rect.left + clientLeft(outer);
    const top = rect.top + clientTop(outer);
    move(outer, { left, top, right: left + clientWidth(outer), bottom: top + clientHeight(outer) });
  }
  move(scrollRoot(document) ?? documentElement(document), { left: 0, top: 0, right: window.innerWidth, bottom: window.innerHeight });
  return scrolled;
};

const activeElement = () => {
  let active = documentActive(document);
  for (let root = active && shadowOf(active); root && shadowActive(root); root = shadowOf(active)) active = shadowActive(root);
  return active;
};

const focus = ({ id }) => {
  const { element } = elementOf(new Pass(100), id);
  if (element instanceof HTMLElement) focusElement(element, { preventScroll: true });
  else if (element instanceof SVGElement) SVGElement.prototype.focus.call(element, { preventScroll: true });
  const active = activeElement();
  return { focused: active !== null && (active === element || holds(element, active)) };
};

const describe = ({ id }) => {
  const pass = new Pass(300);
  const { element, followed } = elementOf(pass, id);
  const role = roleOf(pass, element);
  const rect = boxOf(element);
  const line = sayElement(pass, element);
  const value = valueOf(element, role);
  return {
    id: ids.get(element), line, role: sayRole(role), name: clean(nameOf(pass, element).text), value: value === null ? null : clean(value, true), states: statesOf(pass, element, role),
    rect: { x: rect.left, y: rect.top, width: rect.width, height: rect.height }, ...(followed ? { followed: line } : {}),
  };
};
