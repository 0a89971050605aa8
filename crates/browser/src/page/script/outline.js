// The outline: a tree as lines, one node each, that fit a bound.

const FOLDABLE = new Set(['listitem', 'row', 'option', 'link', 'button', 'article', 'generic', 'treeitem', 'menuitem', 'gridcell', 'cell', 'tab', 'img', 'checkbox', 'radio', 'comment']);
const CELLS = new Set(['cell', 'gridcell', 'columnheader', 'rowheader']);
const HOISTED = new Set(['listitem', 'cell', 'gridcell', 'columnheader', 'rowheader']);
/** How many of a run of alike siblings are shown, the most that fits first. */
const FOLD_KEEP = [100, 60, 36, 22, 14, 8];
const DEEPEST = 40;
/** What is said behind the line of a frame that is not entered. */
const FRAME_REMARK = 24;

/** Lines as plans: what stands on a line, before names are put into words. */
class Plan {
  constructor(kind, entry, level, detail) {
    this.kind = kind;
    this.entry = entry;
    this.level = level;
    this.detail = detail;
    this.weight = 1;
  }
}

const textsAlone = (entry) => entry.kids.every((kid) => kid.text !== null);
const joined = (entry) => squeeze(entry.kids.map((kid) => kid.text).join(' '));
const cellAlone = (cell) => CELLS.has(cell.role) && !cell.reason && textsAlone(cell);

/** Lays out a tree, down to `depth`, with no more than `fold` of alike siblings (0 for all). */
const layOut = (root, { fold: folding = 0, depth = Infinity, interactive = false }) => {
  const plans = [];
  const work = root.kids.map((kid) => [kid, 0]).reverse();
  if (folding) work.splice(0, work.length, ...foldRuns(root, folding).map((kid) => [kid, 0]).reverse());
  const push = (entry, level) => {
    const kids = folding ? foldRuns(entry, folding) : entry.kids;
    for (let index = kids.length - 1; index >= 0; index -= 1) work.push([kids[index], level]);
  };
  while (work.length) {
    const [entry, level] = work.pop();
    if (entry.folded) {
      plans.push(new Plan('fold', entry, level));
      plans[plans.length - 1].weight = entry.folded;
      continue;
    }
    if (entry.text !== null) {
      if (!interactive) plans.push(new Plan('text', entry, level, entry.text));
      continue;
    }
    if (HOISTED.has(entry.role) && !entry.reason) {
      if (!entry.kids.length && entry.role === 'listitem') continue;
      if (entry.kids.length === 1 && entry.kids[0].text === null) {
        push(entry, level);
        continue;
      }
      if (textsAlone(entry)) {
        if (!interactive && entry.kids.length) plans.push(new Plan('node', entry, level, joined(entry)));
        continue;
      }
    }
    if (entry.role === 'row' && !entry.reason && entry.kids.length && entry.kids.every(cellAlone)) {
      if (!interactive) plans.push(new Plan('row', entry, level));
      continue;
    }
    const bare = !entry.reason && !entry.frame;
    if (bare && !entry.kids.length && !entry.name?.text && entry.role !== 'img' && entry.role !== 'canvas' && entry.role !== 'video') continue;
    if (interactive && bare && !(entry.role === 'heading' || isDialog(entry.role))) {
      push(entry, level);
      continue;
    }
    const plan = new Plan('node', entry, level);
    plans.push(plan);
    if (level + 1 >= depth && entry.kids.length) {
      plan.detail = undefined;
      plan.inside = countNodes(entry);
      continue;
    }
    push(entry, Math.min(level + 1, DEEPEST));
  }
  return plans;
};

const isDialog = (role) => role === 'dialog' || role === 'alertdialog';

const countNodes = (entry) => {
  let count = 0;
  const work = [...entry.kids];
  while (work.length) {
    const kid = work.pop();
    count += 1;
    for (const inner of kid.kids) work.push(inner);
  }
  return count;
};

/** Children with each long run of alike siblings cut to those that are in view, or to the first. */
const foldRuns = (entry, keep) => {
  const { kids } = entry;
  if (kids.length <= keep + 2 && !entry.open) return kids;
  const result = [];
  const unread = entry.open && kids.length ? siblingsAfter(kids[kids.length - 1].element) : 0;
  for (let start = 0; start < kids.length; ) {
    const { role } = kids[start];
    let end = start + 1;
    while (end < kids.length && kids[end].role === role) end += 1;
    const left = end === kids.length ? unread : 0;
    if ((end - start + left <= keep + 2 && left === 0) || !FOLDABLE.has(role)) {
      for (; start < end; start += 1) result.push(kids[start]);
      continue;
    }
    const seen = kids.slice(start, end).findIndex(holdsInView);
    const shown = Math.min(keep, end - start);
    const first = seen > 0 ? Math.min(start + seen, end - shown) : start;
    const after = end - first - shown + left;
    if (first > start) result.push({ folded: first - start, role, owner: entry, before: true });
    for (let index = first; index < first + shown; index += 1) result.push(kids[index]);
    if (after > 0) result.push({ folded: after, role, owner: entry, before: false });
    start = end;
  }
  return result;
};

/** How many alike follow that the walk had no time for. */
const siblingsAfter = (element) => {
  let count = 0;
  for (let node = element && nextElement(element); node && count < 100000; node = nextElement(node)) if (localName(node) === localName(element)) count += 1;
  return count;
};

const holdsInView = (entry) => {
  const work = [entry];
  for (let seen = 0; work.length && seen < 50; seen += 1) {
    const one = work.pop();
    if (one.inView) return true;
    for (const kid of one.kids) work.push(kid);
  }
  return false;
};


/** One line for one plan, without its indentation. */
const sayPlan = (pass, plan, total) => {
  const { entry } = plan;
  switch (plan.kind) {
    case 'text': return `text ${quote(entry.text, 320)}${entry.size > TEXT_KEEP ? ` (${entry.size} characters)` : ''}`;
    case 'fold': return `… ${entry.folded} more ${sayRole(entry.role)} ${entry.before ? 'before' : 'after'} these, all in ${sayOwner(pass, entry.owner)}`;
    case 'row': return sayRow(pass, entry);
    default: return sayNode(pass, entry, plan, total);
  }
};

/** What means nothing by itself is listed only because it can be clicked. */
const sayRole = (role, reason = null) => (TRANSPARENT.has(role) ? (reason === 'scroll' ? 'scrollable' : 'clickable') : role);

const sayOwner = (pass, owner) => (owner.element && owner.role !== 'root' ? `${sayRole(owner.role)} ${refMark(idOf(pass, owner.element))}` : 'the page');

const sayRow = (pass, row) => {
  const heads = row.kids.every((cell) => cell.role === 'columnheader');
  const cells = row.kids.map((cell) => quote(joined(cell), 80)).join(' | ');
  return `row ${cells}${heads ? ' (headers)' : ''}${stateWords(pass, row.element, row.role)}`;
};

const stateWords = (pass, element, role) => statesOf(pass, element, role).map((state) => ` ${state}`).join('');

const AFTER_REF = new Set(['invalid', 'required', 'readonly', 'multiline', 'file', 'aria-hidden', 'popup', 'busy']);

const sayNode = (pass, entry, plan) => {
  const { element, role } = entry;
  const name = role === 'row' && entry.reason !== 'asked' ? '' : plan.detail ?? (entry.name ?? (role === 'generic' ? null : nameOf(pass, element)))?.text ?? '';
  const long = plan.detail === undefined && entry.kids.length > 0 && name.length > 160 && role !== 'heading';
  let line = sayRole(role, entry.reason);
  if (name) line += ` ${quote(name, long ? 60 : plan.detail ? 320 : 200)}`;
  const states = statesOf(pass, element, role);
  for (const state of states) if (!AFTER_REF.has(state)) line += ` ${state}`;
  if (role === 'list' || role === 'table' || role === 'grid') line += sayCount(element, role, entry);
  if (entry.frame && crossOrigin(element)) line += ' cross-origin';
  if (entry.reason || plan.inside) line += ` ${refMark(idOf(pass, element))}`;
  for (const state of states) if (AFTER_REF.has(state)) line += ` ${state}`;
  line += sayValue(pass, element, role, entry);
  if (role === 'link') line += sayTarget(element);
  if (entry.reason && entry.reason !== 'asked' && !name) line += sayHint(element);
  const description = entry.reason ? descriptionOf(pass, element) : '';
  if (description) line += ` description=${quote(description, 100)}`;
  const hint = TEXT_ROLES.has(role) && entry.name?.from !== 'placeholder' ? squeeze(attribute(element, 'placeholder') ?? '') : '';
  if (hint && fold(hint) !== fold(name)) line += ` placeholder=${quote(hint, 60)}`;
  if (plan.inside) line += ` (${plan.inside} inside)`;
  if (entry.frame) line += ` ${frameMark(idOf(pass, element))}`;
  return line;
};

const sayCount = (element, role, entry) => {
  let count = 0;
  if (role === 'list') {
    for (let child = firstElement(element); child; child = nextElement(child)) if (['li', 'dt'].includes(tagOf(child)) || roleOfAttribute(child) === 'listitem') count += 1;
    return ` (${count || entry.kids.length} ${(count || entry.kids.length) === 1 ? 'item' : 'items'})`;
  }
  const declared = Number(attribute(element, 'aria-rowcount'));
  count = declared > 0 ? declared : queryElement(element, 'tr,[role=row]').length;
  return ` (${count} ${count === 1 ? 'row' : 'rows'})`;
};

const frameDocument = getter(HTMLIFrameElement.prototype, 'contentDocument');
const frameSource = getter(HTMLIFrameElement.prototype, 'src');
const crossOrigin = (element) => {
  if (tagOf(element) !== 'iframe') return false;
  try {
    if (frameDocument(element)) return false;
    return hasAttribute(element, 'sandbox') || new URL(frameSource(element), baseUri(document)).origin !== location.origin;
  } catch {
    return true;
  }
};

const sayValue = (pass, element, role, entry) => {
  const tag = tagOf(element);
  if (tag === 'select') return saySelect(element);
  if (!entry.reason && !['progressbar', 'meter', 'slider'].includes(role)) return '';
  const value = valueOf(element, role);
  if (value === null || value === '') return '';
  const range = role === 'slider' && tag === 'input' ? ` (${safeWord(attribute(element, 'min') ?? '0')} to ${safeWord(attribute(element, 'max') ?? '100')})` : '';
  return ` = ${quote(value, 200)}${range}`;
};

const safeWord = (string) => (/^[\p{L}\p{N}][\p{L}\p{N} ._,'+/-]*$/u.test(string) && clean(string) === string ? cut(string, 40) : quote(string, 40));

const saySelect = (element) => {
  const options = selectOptions(element);
  const chosen = [];
  const shown = [];
  const count = options.length;
  for (let index = 0; index < Math.min(count, 2000); index += 1) {
    const option = options[index];
    if (optionSelected(option) && chosen.length < 5) chosen.push(quote(optionLabel(option), 60));
    if (shown.length < 12) shown.push(`${safeWord(squeeze(optionLabel(option)))}${isDisabled(option) ? ' disabled' : ''}`);
  }
  const more = count > shown.length ? ` | … ${count - shown.length} more` : '';
  return `${chosen.length ? ` = ${chosen.join(', ')}` : ''} (${shown.join(' | ')}${more})`;
};

/** Where a link leads, if that is somewhere else. */
const sayTarget = (element) => {
  let address;
  try {
    const source = tagOf(element) === 'a' ? linkTarget(element) : attribute(element, 'href') ?? element.getAttributeNS('http://www.w3.org/1999/xlink', 'href');
    address = new URL(source, baseUri(document));
  } catch {
    return '';
  }
  const { protocol, hostname } = address;
  if (protocol === 'javascript:' || protocol === 'data:' || protocol === 'blob:' || protocol === 'about:') return '';
  if (protocol !== 'http:' && protocol !== 'https:') return protocol === location.protocol ? '' : ` -> ${safeWord(protocol.slice(0, -1))}:`;
  return hostname === location.hostname ? '' : ` -> ${cut(clean(hostname), 80)}`;
};

/** A nameless thing is known by the words its author used for it. */
const sayHint = (element) => {
  for (const name of ['data-icon', 'data-testid', 'class', 'id']) {
    const value = squeeze(attribute(element, name) ?? '');
    if (value) return ` like ${quote(value, 40)}`;
  }
  const inner = firstElement(element);
  const value = inner && squeeze(attribute(inner, 'class') ?? '');
  return value ? ` like ${quote(value, 40)}` : '';
};

/** The topmost modal dialog that a person sees. */
const topModal = (pass) => {
  let top = null;
  for (const element of pass.marked) {
    if (!isModal(element)) continue;
    const facts = factsOf(pass, element);
    if (facts.visible && (boxShown(pass, facts) || hasShownContents(pass, facts))) top = element;
  }
  return top;
};

const pageRoot = () => documentBody(document) ?? documentElement(document);

/** The tree of the page, of the modal that covers it, or of one element (which then is its only node). */
const treeOf = (pass, id, limits) => {
  const tree = new Tree(pass, limits);
  if (id) {
    const { element, followed } = elementOf(pass, id);
    const facts = factsOf(pass, element);
    if (!facts.rendered) throw new Refusal('hidden', 'the element is not shown now');
    const holder = tree.build(element);
    const self = new Entry(facts, roleOf(pass, element), clickReason(pass, facts, roleOf(pass, element)) ?? 'asked');
    self.kids = holder.kids;
    if (NAMED_BY_CONTENTS.has(self.role) && textsAlone(self)) self.kids = [];
    holder.kids = [self];
    return { tree, root: holder, followed, modal: null };
  }
  const modal = topModal(pass);
  if (!modal) return { tree, root: tree.build(pageRoot()), modal: null };
  const holder = tree.build(modal);
  const self = new Entry(factsOf(pass, modal), roleOf(pass, modal), null);
  self.kids = holder.kids;
  holder.kids = [self];
  return { tree, root: holder, modal };
};

const outline = ({ id, depth, interactive = false, maxChars = 10000, from = null, fold: wasFolded, budgetMs = 25 }) => {
  const pass = new Pass(budgetMs);
  const { tree, root, followed, modal } = treeOf(pass, id, { from, enough: 1.1 * maxChars });
  const shape = { depth: depth ?? Infinity, interactive };
  const { plans, folding } = wasFolded === undefined && (id || !(tree.stopped || tree.chars > maxChars))
    ? { plans: layOut(root, shape), folding: 0 }
    : foldToFit(root, shape, maxChars, wasFolded);
  const lines = [];
  if (modal && !from) lines.push('page behind the dialog, out of reach until it closes');
  const start = from ?? (modal || id || tree.chars <= maxChars ? 0 : startInView(pass, plans));
  let used = lines.join('').length;
  let index = start;
  const listed = [];
  for (; index < plans.length; index += 1) {
    const plan = plans[index];
    const line = `${'  '.repeat(plan.level)}${sayPlan(pass, plan)}`;
    // One line always goes out, so that a continuation makes progress.
    const size = line.length + (plan.entry.frame ? FRAME_REMARK : 1);
    if (used + size > maxChars && index > start) break;
    used += size;
    lines.push(cut(line, Math.max(maxChars, 200)));
    if (plan.entry.frame) listed.push(ids.get(plan.entry.element));
  }
  const weigh = (part) => part.reduce((sum, plan) => sum + plan.weight, 0);
  return {
    lines,
    from: start,
    next: index < plans.length || tree.stopped ? index : null,
    above: weigh(plans.slice(0, start)),
    below: weigh(plans.slice(index)) + (folding ? 0 : unreadNodes(root)),
    atLeast: tree.stopped,
    truncated: index < plans.length || tree.stopped || start > 0,
    fold: folding,
    frames: listed,
    view: viewOf(pass),
    modal: modal !== null,
    ...(followed ? { followed: sayElement(pass, elementOf(pass, id).element) } : {}),
  };
};

/** What follows the nodes at which the walk ran out of time. */
const unreadNodes = (root) => {
  let count = 0;
  for (let entry = root; entry?.open && entry.kids.length; entry = entry.kids[entry.kids.length - 1]) count += siblingsAfter(entry.kids[entry.kids.length - 1].element);
  return count;
};

/** Folds as little as makes the lines fit; as before where they go on. */
const foldToFit = (root, shape, maxChars, before) => {
  for (const keep of before === undefined ? FOLD_KEEP : [before]) {
    const plans = layOut(root, { ...shape, fold: keep });
    const size = plans.reduce((sum, plan) => sum + 2 * plan.level + 30 + Math.min((plan.detail ?? plan.entry.name?.text ?? '').length, 300), 0);
    if (size <= maxChars || keep === FOLD_KEEP[FOLD_KEEP.length - 1] || before !== undefined) return { plans, folding: keep };
  }
  return { plans: [], folding: 0 };
};

const viewOf = (pass) => {
  const { x, y, width, height, pageWidth, pageHeight } = pass.view;
  return { x, y, width, height, pageWidth, pageHeight };
};

/** The first line that a person sees now, when the page is scrolled. */
const startInView = (pass, plans) => {
  if (pass.view.y <= 0) return 0;
  const index = plans.findIndex((plan) => plan.entry.inView && !plan.entry.facts?.fixed);
  return Math.max(index, 0);
};

/** The outline line of one element, with its ref. */
const sayElement = (pass, element) => {
  const facts = factsOf(pass, element);
  const role = roleOf(pass, element);
  const reason = clickReason(pass, facts, role) ?? (scrollsByKeys(facts, role) ? 'scroll' : null);
  const entry = new Entry(facts, role, reason === 'scroll' ? reason : 'asked');
  entry.name = nameOf(pass, element);
  // Words that nobody sees name controls alone.
  if (!reason && entry.name.from === 'contents') entry.name = { text: shownWords(pass, element, 200) || (queryFirst(element, 'img,svg') ? entry.name.text : ''), from: '' };
  if (!entry.name.text && (TRANSPARENT.has(role) || HOISTED.has(role) || role === 'row' || role === 'article')) entry.name = { text: shownWords(pass, element, 80), from: '' };
  if (TRANSPARENT.has(role) && !reason) return `text ${quote(entry.name.text || shownWords(pass, element, 200), 120)} ${refMark(idOf(pass, element))}`;
  return sayNode(pass, entry, new Plan('node', entry, 0));
};
