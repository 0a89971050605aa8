// What matters now: what is in view and can be acted on, topmost layer first, told apart from its twins, and what is different
// from the last look.

const TELLING = new Set(['heading', 'alert', 'status', 'log', 'timer', 'dialog', 'alertdialog', 'iframe', 'progressbar', 'meter']);
/** This part of the room is for what changed, at most. */
const CHANGES_SHARE = 1 / 3;
/** Where what is to be seen ends and the count of the rest begins, with the line on scrolling. */
const LAST_LINES = 120;

/** The page as of the last look. */
let observed = null;

const observe = ({ maxChars = 6000, full = false, budgetMs = 25 }) => {
  const pass = new Pass(budgetMs);
  const { tree, root, modal } = treeOf(pass, null, { enough: 2 * maxChars });
  const lines = differences(maxChars * CHANGES_SHARE);
  const frames = [];
  const entries = telling(pass, root, full);
  const twins = new Map();
  for (const entry of entries) if (entry.reason) twins.set(callOf(entry), (twins.get(callOf(entry)) ?? 0) + 1);
  const layers = modal ? [['', entries]] : [['over the page:', entries.filter(({ facts }) => isOver(facts))], ['', entries.filter(({ facts }) => !isOver(facts))]];
  let used = lines.join('').length + LAST_LINES;
  let left = 0;
  for (const [title, members] of layers) {
    if (title && members.length) lines.push(title);
    for (const entry of members) {
      const line = `${title || (modal && entry.element !== modal) ? '  ' : ''}${sayObserved(pass, entry, twins.get(callOf(entry)) > 1)}`;
      used += line.length + (entry.frame ? FRAME_REMARK : 1);
      if (used > maxChars) {
        left += 1;
        continue;
      }
      lines.push(line);
      if (entry.frame) frames.push(ids.get(entry.element));
    }
  }
  if (left) lines.push(`… ${left} more ${full ? 'on the page' : 'in view'}; browser_snapshot lists everything`);
  if (modal) lines.push('page behind the dialog, out of reach until it closes');
  if (window === window.parent || pass.view.pageHeight > pass.view.height + 1) lines.push(sayScroll(pass));
  return { lines, from: 0, next: null, above: 0, below: left, atLeast: tree.stopped, truncated: left > 0, fold: 0, frames, view: viewOf(pass), modal: modal !== null };
};

/** What can be acted on or says how things stand, in view or anywhere. */
const telling = (pass, root, anywhere) => {
  const entries = [];
  const work = [...root.kids].reverse();
  while (work.length) {
    const entry = work.pop();
    for (let index = entry.kids.length - 1; index >= 0; index -= 1) work.push(entry.kids[index]);
    if (entry.text === null && (entry.reason || TELLING.has(entry.role)) && (anywhere || entry.inView || near(pass, entry))) entries.push(entry);
  }
  return entries;
};

/** By this two things are mistaken for each other. */
const callOf = (entry) => `${entry.role}|${entry.name?.text ?? ''}`;

/** Not everything carries a rectangle yet, and some things are drawn by their labels. */
const near = (pass, { facts, element }) => {
  if (!facts) return false;
  const rect = (facts.rect ??= rectOf(element));
  return (rect.width > 0 && inView(pass, rect)) || labelsOf(element).some((label) => inView(pass, rectOf(label)));
};

/** Does it lie over the page: in the top layer, in an open dialog, or fixed to the view? */
const isOver = (facts) => {
  if (facts.over === undefined) {
    const { element } = facts;
    facts.over = facts.fixed || (facts.parent !== null && isOver(facts.parent)) || (tagOf(element) === 'dialog' && hasAttribute(element, 'open')) || isDialog(roleOfAttribute(element)) ||
      (hasAttribute(element, 'popover') && matches(element, ':popover-open'));
  }
  return facts.over;
};

const sayObserved = (pass, entry, hasTwins) => {
  const says = TELLING.has(entry.role) && !entry.name?.text && entry.kids.length && textsAlone(entry);
  let line = sayNode(pass, entry, new Plan('node', entry, 0, says ? joined(entry) : undefined));
  if (entry.reason && TEXT_ROLES.has(entry.role) && valueOf(entry.element, entry.role) === '') line += ' empty';
  if (entry.reason && hasTwins) {
    const context = contextOf(pass, entry.element);
    if (context) line += ` ${context}`;
  }
  return line;
};

/** What is different from the last look at this document. */
const differences = (maxChars) => {
  for (const scope of knownScopes()) watchRoot(scope);
  observer.takeRecords().forEach(() => { watching.version += 1; });
  const before = observed;
  if (before && before.version === watching.version && before.state === stateNow()) return ['nothing changed since the last look'];
  observed = { ...snapshot(), state: stateNow() };
  const { lines, more } = before ? fit(compare(before, observed), maxChars) : { lines: [], more: 0 };
  watching.records = true;
  watching.targets.clear();
  if (!before) return [];
  if (!lines.length) return ['nothing changed since the last look'];
  return ['changed since the last look:', ...lines.map((line) => `  ${line}`), ...(more ? [`  … ${more} more changes`] : [])];
};

/** What fields hold and where the focus is changes without a trace in the document. */
const stateNow = () => {
  const fields = knownScopes().flatMap((scope) => [...queryAll(scope, FIELDS)].slice(0, 500));
  return fields.map((field) => `${rawValue(field)}|${checkedState(field, '') ?? ''}`).join('\n').slice(0, 100000);
};

const sayScroll = (pass) => {
  const { y, height, pageHeight } = pass.view;
  const rest = pageHeight - y - height;
  if (pageHeight <= height + 1) return 'scroll: the whole page is in view';
  const place = y <= 0 ? 'top' : rest <= 1 ? 'bottom' : `${Math.round((100 * y) / (pageHeight - height))}%`;
  return `scroll: ${place}, ${Math.max(0, Math.round(y))} px above, ${Math.max(0, Math.round(rest))} px below`;
};
