// What happened since: a quiet watch on the document (observers of this world are invisible to the page's), waiting,
// and the difference between the outline then and now.

const watching = {
  version: 0, last: now(), roots: new WeakSet(), targets: new Set(), records: false,
  /** The version at which the page was last seen at rest, and when something scrolled last. */
  rested: -1, scrolled: -Infinity,
};

const observer = new MutationObserver((records) => {
  watching.version += 1;
  watching.last = now();
  if (!watching.records) return;
  for (const record of records) {
    if (watching.targets.size >= 300) break;
    if (record.type === 'childList') for (const node of [...record.addedNodes].slice(0, 50)) watching.targets.add(node);
    else watching.targets.add(record.target);
  }
});

const watchRoot = (root) => {
  if (watching.roots.has(root)) return;
  watching.roots.add(root);
  observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  listen(root, 'scroll', () => { watching.scrolled = now(); }, { capture: true, passive: true });
};

const SNAPSHOT_CHARS = 12000;
const snapshots = new Map();
let lastMark = 0;
let latest = null;

/** The lines of the page as it stands, up to a fixed number of characters (not of milliseconds: two must be comparable). */
const snapshot = () => {
  const pass = new Pass(30);
  const { tree, root } = treeOf(pass, null, { from: 0, enough: SNAPSHOT_CHARS });
  const lines = new Map();
  let used = 0;
  let capped = tree.stopped;
  for (const plan of layOut(root, {})) {
    const line = sayPlan(pass, plan);
    used += line.length;
    if (used > SNAPSHOT_CHARS) {
      capped = true;
      break;
    }
    lines.set(line, (lines.get(line) ?? 0) + 1);
  }
  return { lines, capped, version: watching.version, focus: activeElement(), took: now() - pass.deadline + 30 };
};

// A download leaves no other trace until the site has answered. The browser tells it to the navigation of the document, for
// links too that never were in it.
const followed = { listening: false, events: [] };
const downloadName = getter(NavigateEvent.prototype, 'downloadRequest');
const destinationOf = getter(NavigateEvent.prototype, 'destination');
const destinationUrl = getter(NavigationDestination.prototype, 'url');
const noteFollowed = (event) => {
  if (downloadName(event) !== null && followed.events.length < 10) followed.events.push(event);
};

const watch = ({ last = false } = {}) => {
  if (!followed.listening) listen(window.navigation, 'navigate', noteFollowed);
  followed.listening = true;
  if (!last) followed.events = [];
  for (const scope of knownScopes()) watchRoot(scope);
  observer.takeRecords();
  watching.targets.clear();
  watching.records = true;
  const mark = (lastMark += 1);
  // An untouched page whose outline takes long is not read again.
  const reuse = latest && (last || (latest.version === watching.version && latest.took > 10));
  latest = reuse ? latest : snapshot();
  snapshots.set(mark, { ...latest, focus: activeElement(), busy: new Set([...busyElements(), ...endless()]) });
  snapshots.delete(mark - 4);
  return { mark };
};

const knownScopes = () => {
  const found = [document];
  for (const reference of seenRoots) {
    const root = reference.deref();
    if (root && isConnected(root)) found.push(root);
    else seenRoots.delete(reference);
  }
  return found;
};

const changes = ({ mark, maxChars = 1500 }) => {
  const before = snapshots.get(mark);
  if (!before) throw new Refusal('stale', 'nothing was watched under this mark: the document is new');
  observer.takeRecords().forEach(() => { watching.version += 1; });
  const after = snapshot();
  latest = after;
  return fit(compare(before, after), maxChars);
};

/** The lines that came, went and changed. */
const compare = (before, after) => {
  const gone = difference(before.lines, after.lines);
  const fresh = difference(after.lines, before.lines);
  const list = [];
  const refOf = (line) => /\u0001e(\d+)\u0002/.exec(line)?.[1];
  const goneByRef = new Map(gone.map((line) => [refOf(line), line]).filter(([ref]) => ref));
  for (const line of fresh) {
    const ref = refOf(line);
    if (ref && goneByRef.has(ref)) {
      list.push(`~ ${line}`);
      goneByRef.delete(ref);
      gone.splice(gone.indexOf(gone.find((one) => refOf(one) === ref)), 1);
    } else {
      list.push(`+ ${line}`);
    }
  }
  if (before.capped || after.capped) list.push(...touched(list));
  else for (const line of gone) list.push(`- ${line.replace(/ ?\u0001e\d+\u0002/g, '')}`);
  return list;
};

const fit = (list, maxChars) => {
  const lines = [];
  let used = 0;
  for (const line of list) {
    if (used + line.length > maxChars && lines.length) break;
    lines.push(cut(line, Math.max(200, maxChars)));
    used += line.length + 1;
  }
  return { lines, more: list.length - lines.length };
};

const difference = (some, others) => {
  const found = [];
  for (const [line, count] of some) for (let extra = count - (others.get(line) ?? 0); extra > 0; extra -= 1) found.push(line);
  return found;
};

/** On a page too big to compare as a whole: what was added or changed, where a person can see it. */
const touched = (known) => {
  const pass = new Pass(30);
  const lines = [];
  const said = new Set(known.map((line) => line.slice(2)));
  for (const node of watching.targets) {
    if (pass.late || lines.length > 40) break;
    if (!isConnected(node)) continue;
    const element = isElement(node) ? node : flatParent(node);
    if (!element || element === documentBody(document) || element === documentElement(document)) continue;
    const facts = factsOf(pass, element);
    if (!facts.rendered) continue;
    const tree = new Tree(pass, { from: 0, enough: 1500 });
    const holder = tree.build(element);
    const plans = layOut(holder, { fold: 8 });
    const role = roleOf(pass, element);
    if (clickReason(pass, facts, role) && boxShown(pass, facts)) plans.splice(0, plans.length, new Plan('own', element, 0));
    for (const plan of plans.slice(0, 10)) {
      const line = plan.kind === 'own' ? sayElement(pass, element) : sayPlan(pass, plan);
      if (said.has(line)) continue;
      said.add(line);
      lines.push(`+ ${line}`);
    }
  }
  return lines;
};

/** A page that has not changed for so long rests: it had a frame and its timers' turn. */
const QUIET_MS = 12;

/** True once nothing has changed for a moment and no finite animation runs, or false at the limit. */
const quiet = async (timeoutMs) => {
  const start = now();
  while (now() - watching.last < QUIET_MS || animating()) {
    if (now() - start >= timeoutMs) return false;
    await nextFrame();
  }
  return true;
};

const documentAnimations = method(Document.prototype, 'getAnimations');
const animating = () => documentAnimations(document).slice(0, 200).some((one) => {
  if (one.playState !== 'running') return false;
  const { endTime } = one.effect?.getComputedTiming() ?? {};
  return Number.isFinite(endTime) && endTime < 1500;
});

const waitFor = async ({ text: wanted, textGone, id, gone, timeoutMs = 5000 }) => {
  if (![wanted, textGone].some((one) => typeof one === 'string' && one.trim()) && !id && !gone) throw new Refusal('invalid', 'wait for text, textGone, a ref or its absence');
  const start = now();
  watchRoot(document);
  for (let version = -1; ; ) {
    if (version !== watching.version || now() - watching.last > 250) {
      version = watching.version;
      watching.last = Math.max(watching.last, now() - 200);
      const met = conditionMet(wanted, textGone, id, gone);
      if (met) return { met: true, waitedMs: Math.round(now() - start), ...(met.line ? { line: met.line } : {}) };
    }
    if (now() - start >= timeoutMs) return { met: false, waitedMs: Math.round(now() - start) };
    await pause(Math.min(50, Math.max(1, timeoutMs - (now() - start))));
  }
};

const conditionMet = (wanted, textGone, id, gone) => {
  const shown = (words) => find({ text: words, limit: 1, budgetMs: 150 }).matches[0] ?? null;
  if (wanted) {
    const match = shown(wanted);
    return match && { line: match.line };
  }
  if (textGone) return shown(textGone) ? null : {};
  const pass = new Pass(100);
  try {
    const { element } = elementOf(pass, id ?? gone);
    const facts = factsOf(pass, element);
    const visible = boxShown(pass, facts) || standsIn(pass, facts, tagOf(element));
    if (id) return visible ? { line: sayElement(pass, element) } : null;
    return visible ? null : {};
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    return gone ? {} : null;
  }
};

const busyElements = () => knownScopes().flatMap((scope) => [...queryAll(scope, '[aria-busy=true],progress:not([value]),[role=progressbar]:not([aria-valuenow])')].slice(0, 100));
/** Animations that run without end, as those of turning wheels do. */
const endless = () => documentAnimations(document).slice(0, 200).filter((one) => one.playState === 'running' && one.effect?.getComputedTiming().endTime === Infinity);

/** Whether the page shows a sign of work that was not there before: something busy, or an animation without end. */
const atWork = (before) => {
  const pass = new Pass(30);
  const fresh = [...busyElements(), ...endless().filter((one) => !before.busy.has(one)).map((one) => one.effect.target)];
  return fresh.some((element) => isElement(element) && !before.busy.has(element) && boxShown(pass, factsOf(pass, element)));
};

const since = (mark) => {
  const before = snapshots.get(mark);
  if (!before) throw new Refusal('stale', 'nothing was watched under this mark: the document is new');
  observer.takeRecords().forEach(() => { watching.version += 1; });
  return before;
};

/** How long a sign of work is waited for to go, in milliseconds. */
const WORK_MS = 700;

/** What an action changed once what it set off has come to rest. A page that nothing touched is looked at for one frame. */
const settle = async ({ mark, maxChars, timeoutMs = 300 }) => {
  const before = since(mark);
  // Timers of the page that are due at once are before ours in the queue.
  await Promise.all([nextFrame(20), dueTimers()]);
  since(mark);
  let rests = true;
  if (before.version !== watching.version || animating()) {
    rests = await quiet(timeoutMs);
    for (const end = now() + WORK_MS; atWork(before); await pause(30)) {
      rests = false;
      if (now() >= end) break;
    }
    if (!rests && !atWork(before)) rests = await quiet(timeoutMs);
  }
  if (rests) watching.rested = watching.version;
  const download = followed.events.find((event) => !isPrevented(event));
  return { ...changes({ mark, maxChars }), quiet: rests, press: endGuard(), closing: window.closed, ...(download ? { download: { url: cut(destinationUrl(destinationOf(download)), 2000), name: cut(downloadName(download), 500) } } : {}) };
};

/** Until something changes since the mark, or since now, or for so long. `enter`: only if Enter was to send the form of the focused field. */
const stir = async ({ mark, timeoutMs, enter = false }) => {
  const { version, focus } = mark ? since(mark) : watching;
  if (enter && !entersForm(focus) && !entersForm(activeElement())) return { stirred: false };
  const end = now() + timeoutMs;
  while (version === watching.version && now() < end) await pause(Math.min(20, end - now()));
  return { stirred: version !== watching.version };
};

const layers = () => {
  const pass = new Pass(50);
  const modal = topModal(pass);
  const active = activeElement();
  const focused = active && active !== documentBody(document) && active !== documentElement(document);
  return {
    modal: modal && sayElement(pass, modal), focus: focused ? idOf(pass, active) : null, url: location.href, title: clean(cut(squeeze(documentTitle(document)), 300)), readyState: documentState(document),
  };
};
