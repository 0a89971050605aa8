// What matters now: what is in view and can be acted on, topmost layer first, told apart from its twins.

const TELLING = new Set(['heading', 'alert', 'status', 'dialog', 'alertdialog', 'iframe', 'progressbar']);

const observe = ({ maxChars = 6000, budgetMs = 25 }) => {
  const pass = new Pass(budgetMs);
  const { tree, root, modal } = treeOf(pass, null, { enough: 2 * maxChars });
  const lines = [];
  const frames = [];
  if (modal) lines.push('page behind the dialog, out of reach until it closes');
  const entries = [];
  const work = [...root.kids].reverse();
  while (work.length) {
    const entry = work.pop();
    for (let index = entry.kids.length - 1; index >= 0; index -= 1) work.push(entry.kids[index]);
    if (entry.text === null && (entry.reason || TELLING.has(entry.role)) && (entry.inView || near(pass, entry))) entries.push(entry);
  }
  const twins = new Map();
  const key = (entry) => `${entry.role}|${entry.name?.text ?? ''}`;
  for (const entry of entries) if (entry.reason) twins.set(key(entry), (twins.get(key(entry)) ?? 0) + 1);
  let used = lines.join('').length;
  let left = 0;
  for (const entry of entries) {
    if (used > maxChars) {
      left += 1;
      continue;
    }
    let line = sayNode(pass, entry, new Plan('node', entry, 0));
    if (entry.reason && TEXT_ROLES.has(entry.role) && valueOf(entry.element, entry.role) === '') line += ' empty';
    if (entry.reason && twins.get(key(entry)) > 1) {
      const context = contextOf(pass, entry.element);
      if (context) line += ` ${context}`;
    }
    if (entry.frame) frames.push(ids.get(entry.element));
    used += line.length + 1;
    if (used > maxChars) left += 1;
    else lines.push(line);
  }
  lines.push(sayScroll(pass));
  return { lines, from: 0, next: null, above: 0, below: left, atLeast: tree.stopped, truncated: left > 0, fold: 0, frames, view: viewOf(pass), modal: modal !== null };
};

/** Headings and messages carry no rectangle yet. */
const near = (pass, entry) => {
  if (!entry.facts) return false;
  const rect = (entry.facts.rect ??= rectOf(entry.element));
  return inView(pass, rect);
};

const sayScroll = (pass) => {
  const { y, height, pageHeight } = pass.view;
  const rest = pageHeight - y - height;
  if (pageHeight <= height + 1) return 'scroll: the whole page is in view';
  const place = y <= 0 ? 'top' : rest <= 1 ? 'bottom' : `${Math.round((100 * y) / (pageHeight - height))}%`;
  return `scroll: ${place}, ${Math.max(0, Math.round(y))} px above, ${Math.max(0, Math.round(rest))} px below`;
};
