// Finding by text, role, name, label, placeholder or test id, among what a person can see.

const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa'];
const FIELDS = 'input,textarea,select,[role=textbox],[role=searchbox],[role=combobox],[role=listbox],[role=checkbox],[role=radio],[role=switch],[role=slider],[role=spinbutton],[contenteditable]';

const find = (query) => {
  const { text: wanted, role, name, label, placeholder, testId, limit = 20, from = 0, budgetMs = 200 } = query;
  if (![wanted, role, name, label, placeholder, testId].some((part) => typeof part === 'string' && part.trim())) {
    throw new Refusal('invalid', 'give at least one of text, role, name, label, placeholder, testId');
  }
  const pass = new Pass(budgetMs);
  const kind = role?.trim().toLowerCase();
  const wants = {
    text: wanted ? fold(wanted) : '', name: name ? fold(name) : '', label: label ? fold(label) : '', placeholder: placeholder ? fold(placeholder) : '', testId,
    role: kind === 'image' ? 'img' : kind,
  };
  const found = new Set();
  const needed = from + limit + 200;
  for (const scope of scopes(2000, suspectHosts(pass))) {
    for (const element of candidates(pass, scope, wants)) {
      if (found.size >= needed || pass.late) break;
      if (element) found.add(element);
    }
  }
  if (!found.size && wants.text && !wants.role) for (const element of acrossElements(pass, wants.text)) found.add(element);
  const all = [...found].sort((a, b) => (a === b ? 0 : compareOrder(a, b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  const exact = all.filter((element) => isExact(pass, element, wants));
  const ordered = exact.length && exact.length < all.length ? [...exact, ...all.filter((element) => !exact.includes(element))] : all;
  const page = ordered.slice(from, from + limit);
  return {
    matches: page.map((element) => ({ id: idOf(pass, element), line: sayElement(pass, element), context: contextOf(pass, element) })),
    more: Math.max(0, ordered.length - from - page.length),
    next: ordered.length > from + page.length ? from + page.length : null,
    atLeast: pass.late || found.size >= needed,
    frames: shownFrames(pass),
  };
};

/** Owners of frames that a person sees, in reading order. */
const shownFrames = (pass) => {
  const shown = [];
  for (const scope of knownScopes()) {
    for (const element of queryAll(scope, 'iframe,frame')) {
      if (shown.length >= 500 || now() > pass.deadline + 200) return shown;
      if (boxShown(pass, factsOf(pass, element))) shown.push(idOf(pass, element));
    }
  }
  return shown;
};

const isExact = (pass, element, wants) => {
  if (!wants.text && !wants.name && !wants.label) return false;
  const words = [fold(nameOf(pass, element).text), fold(firstWords(element, 300))];
  return words.includes(wants.text || wants.name || wants.label);
};

/** Elements of one tree scope that fit all that is wanted. */
function* candidates(pass, scope, wants) {
  const fits = (element) => (fitsAll(pass, element, wants) ? element : null);
  if (wants.testId) {
    for (const attributeName of TEST_IDS) for (const element of queryAll(scope, `[${attributeName}="${CSS.escape(wants.testId)}"]`)) yield fits(element);
  } else if (wants.placeholder) {
    for (const element of queryAll(scope, '[placeholder],[aria-placeholder],[data-placeholder]')) yield fits(element);
  } else if (wants.label) {
    for (const element of queryAll(scope, FIELDS)) yield fits(element);
  } else if (wants.role) {
    for (const element of queryAll(scope, '*')) yield roleFits(pass, element, wants.role) ? fits(element) : null;
  } else if (wants.text) {
    yield* byText(pass, scope, wants);
  } else {
    for (const element of queryAll(scope, '*')) yield TRANSPARENT.has(roleOf(pass, element)) ? null : fits(element);
  }
}

const roleFits = (pass, element, role) => {
  const own = roleOf(pass, element);
  if (own === role) return true;
  if (role === 'clickable' || role === 'generic') return own === 'generic' && clickReason(pass, factsOf(pass, element), own) !== null;
  if (role === 'textbox') return own === 'searchbox' || (own === 'date' && role === 'date');
  return role === 'text' && TRANSPARENT.has(own);
};

const fitsAll = (pass, element, wants) => {
  const facts = factsOf(pass, element);
  if (!facts.rendered) {
    if (tagOf(element) !== 'input' || !standsIn(pass, facts, 'input')) return false;
  } else if (!boxShown(pass, facts) && !standsIn(pass, facts, tagOf(element)) && !hasShownContents(pass, facts)) {
    return false;
  }
  if (wants.role && !roleFits(pass, element, wants.role)) return false;
  const name = () => fold(nameOf(pass, element).text || (roleOf(pass, element) === 'generic' ? firstWords(element, 300) : ''));
  if (wants.name && !name().includes(wants.name)) return false;
  if (wants.label && !name().includes(wants.label)) return false;
  if (wants.placeholder && !['placeholder', 'aria-placeholder', 'data-placeholder'].some((one) => fold(attribute(element, one) ?? '').includes(wants.placeholder))) return false;
  if (wants.testId && !TEST_IDS.some((one) => attribute(element, one) === wants.testId)) return false;
  return !wants.text || name().includes(wants.text) || fold(textContent(element).slice(0, 20000)).includes(wants.text);
};

/** Text nodes first (cheap), then what labels, values and pictures say. */
function* byText(pass, scope, wants) {
  const walker = makeWalker(document, scope, NodeFilter.SHOW_TEXT);
  const fits = holdsWords(wants.text);
  for (let seen = 1; walker.nextNode(); seen += 1) {
    if ((seen & 255) === 0 && pass.late) return;
    const node = walker.currentNode;
    if (dataLength(node) < wants.text.length || !fits(data(node))) continue;
    const holder = flatParent(node);
    if (!holder || SKIPPED_TAGS.has(tagOf(holder)) || closest(holder, 'object,video,audio,canvas,iframe,select,textarea')) continue;
    const facts = factsOf(pass, holder);
    if (facts.rendered && textShown(pass, facts, node)) yield actionable(pass, holder);
  }
  for (const element of queryAll(scope, '[aria-label],[aria-labelledby],[alt],[title],input,textarea,select')) {
    if (pass.late) return;
    if (fold(nameOf(pass, element).text).includes(wants.text) || fold(valueOf(element, roleOf(pass, element)) ?? '').includes(wants.text)) {
      const facts = factsOf(pass, element);
      if (boxShown(pass, facts) || standsIn(pass, facts, tagOf(element))) yield element;
    }
  }
}

/** Text that is spread over several elements: the innermost one that says it all. */
function* acrossElements(pass, wanted) {
  const tree = new Tree(pass, {});
  const work = [tree.build(pageRoot())];
  while (work.length) {
    const entry = work.pop();
    if (entry.text !== null && entry.element && fold(entry.text).includes(wanted)) yield entry.element;
    for (const kid of entry.kids) work.push(kid);
  }
}

/** The thing that a person would act on to act on this text. */
const actionable = (pass, element) => {
  for (let node = element, depth = 0; node && depth < 6; node = flatParent(node), depth += 1) {
    const facts = factsOf(pass, node);
    const tag = tagOf(node);
    if (tag === 'body' || tag === 'html') break;
    const reason = clickReason(pass, facts, roleOf(pass, node));
    if (reason && (reason === 'widget' || textContent(node).length < 400)) return node;
    if (tag === 'label') {
      const control = labelControl(node);
      if (control && ['checkbox', 'radio', 'file'].includes(tagOf(control) === 'input' ? inputType(control) : '')) return control;
    }
  }
  return element;
};

/** What tells an element from its twins: the row, item or part of the page that it is in. */
const contextOf = (pass, element) => {
  const parts = [];
  const own = fold(nameOf(pass, element).text || firstWords(element, 80));
  for (let outer = flatParent(element), depth = 0; outer && depth < 40 && parts.length < 3; outer = flatParent(outer), depth += 1) {
    const role = roleOf(pass, outer);
    if (role === 'row' || role === 'listitem' || role === 'article' || role === 'treeitem' || tagOf(outer) === 'tr') {
      if (parts.some((part) => part.startsWith('in '))) continue;
      const words = shownWords(pass, outer, 60);
      if (words && fold(words) !== own) parts.push(`in ${tagOf(outer) === 'tr' ? 'row' : role} ${quote(words, 60)}`);
    } else if (['dialog', 'alertdialog', 'form', 'navigation', 'region', 'group', 'figure', 'table', 'list', 'tabpanel', 'menu', 'main', 'banner', 'contentinfo', 'complementary', 'search'].includes(role)) {
      const name = nameOf(pass, outer).text;
      if (name || ['dialog', 'banner', 'contentinfo', 'navigation', 'complementary'].includes(role)) parts.push(`in ${role}${name ? ` ${quote(name, 60)}` : ''}`);
    }
  }
  const heading = headingBefore(pass, element);
  if (heading && parts.length < 3) parts.push(`under ${quote(heading, 60)}`);
  return parts.join(', ');
};

/** The first visible words in an element. */
const shownWords = (pass, element, length) => {
  const walker = makeWalker(document, element, NodeFilter.SHOW_TEXT);
  let words = '';
  for (let seen = 0; seen < 30 && words.length < length && walker.nextNode(); seen += 1) {
    const node = walker.currentNode;
    if (!/\S/.test(data(node))) continue;
    const facts = factsOf(pass, flatParent(node) ?? element);
    if (facts.rendered && textShown(pass, facts, node)) words += ` ${squeeze(data(node).slice(0, length * 4))}`;
  }
  return squeeze(words).slice(0, length);
};

/** The nearest heading before an element, among its ancestors' earlier siblings. */
const headingBefore = (pass, element) => {
  for (let node = element, depth = 0; node && depth < 12; node = parentNode(node), depth += 1) {
    if (!isElement(node)) return '';
    for (let sibling = previousElement(node), seen = 0; sibling && seen < 30; sibling = previousElement(sibling), seen += 1) {
      const heading = /^h[1-6]$/.test(tagOf(sibling)) ? sibling : tagOf(sibling) === 'header' || tagOf(sibling) === 'hgroup' ? queryFirst(sibling, 'h1,h2,h3,h4,h5,h6') : null;
      if (heading && factsOf(pass, heading).visible) return shownWords(pass, heading, 80);
    }
  }
  return '';
};
