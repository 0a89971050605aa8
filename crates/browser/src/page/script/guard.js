// A guard against the wrong click: between the last look at a place and the press, a page can put something else there. The
// guard looks at the press itself, before any listener of the document, and swallows one that would land elsewhere. It sits in
// this world, where no page can see it, and is gone with the first press or after a moment.

const GUARDED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
const GUARD_MS = 3000;
const listen = method(EventTarget.prototype, 'addEventListener');
const unlisten = method(EventTarget.prototype, 'removeEventListener');
const pathOfEvent = method(Event.prototype, 'composedPath');
const swallow = method(Event.prototype, 'preventDefault');
const stopHere = method(Event.prototype, 'stopImmediatePropagation');
const isPrevented = getter(Event.prototype, 'defaultPrevented');
const isTrusted = (event) => event.isTrusted === true;

let guard = null;

/** Watches over the next press, which is meant for this element. */
const standGuard = (targets) => {
  endGuard();
  const own = { outcome: 'none', cover: null };
  const look = (event) => {
    if (!isTrusted(event)) return;
    // A press that is let go of elsewhere is no click.
    if (own.outcome === 'pressed') {
      if (!/up$/.test(event.type)) return;
      own.outcome = 'target';
      own.end();
      return;
    }
    if (own.outcome === 'none') {
      const [met] = pathOfEvent(event);
      // Of a closed shadow root the path shows only the host.
      const found = isElement(met) && closedRoots.has(met) ? deepestAt(event.clientX, event.clientY) : met;
      if (targets.some((target) => lands(target, found))) {
        own.outcome = 'pressed';
        return;
      }
      own.outcome = 'other';
      own.cover = found;
    }
    swallow(event);
    stopHere(event);
  };
  for (const type of GUARDED) listen(window, type, look, true);
  own.end = () => {
    own.cancel();
    for (const type of GUARDED) unlisten(window, type, look, true);
  };
  own.cancel = later(own.end, GUARD_MS);
  guard = own;
};

/** How the press ended: on the "target", on something "other" (and then it was swallowed), "pressed" there and not let go of, or "none"
 *  arrived. */
const endGuard = () => {
  const own = guard;
  guard = null;
  if (!own) return { outcome: 'none' };
  own.end();
  if (own.outcome !== 'other') return { outcome: own.outcome };
  const pass = new Pass(100);
  const cover = isElement(own.cover) ? coverOf(pass, own.cover, own.cover) ?? own.cover : null;
  return { outcome: 'other', ...(cover ? { line: sayElement(pass, cover) } : {}) };
};
