// Accessible names and descriptions: accname 1.2 §4.3, HTML-AAM 1.0 §4.1, with Chromium's spacing between pieces.

/** Roles that take their name from their contents when nothing else names them (ARIA 1.3 §5.2.8.5). */
const NAMED_BY_CONTENTS = new Set(['button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'radio', 'rowheader', 'switch', 'tab', 'tooltip', 'treeitem', 'doc-backlink', 'doc-biblioref', 'doc-glossref',
  'doc-noteref', 'comment', 'term']);

/** Roles that ARIA forbids to name take a title for a description (ARIA 1.3 §5.2.8.6). */
const NO_TITLE = new Set(['none', 'generic', 'paragraph', 'layout', 'legend', 'strong', 'emphasis', 'code', 'deletion', 'insertion', 'subscript', 'superscript']);

const NAME_LIMIT = 1000;
const DEPTH_LIMIT = 150;

/** Labels by control, for each tree scope. (`element.labels` is a live list that searches the document each time.) */
const labelsOf = (element) => {
  if (!LABELABLE.has(tagOf(element))) return [];
  const root = rootNode(element);
  let index = labelIndex.get(root);
  if (!index) {
    index = new Map();
    for (const label of nodeType(root) === 9 || nodeType(root) === 11 ? queryAll(root, 'label') : []) {
      const control = labelControl(label);
      if (!control) continue;
      if (index.has(control)) index.get(control).push(label);
      else index.set(control, [label]);
    }
    labelIndex.set(root, index);
  }
  return index.get(element) ?? [];
};
const LABELABLE = new Set(['input', 'textarea', 'select', 'button', 'meter', 'output', 'progress']);
let labelIndex = new Map();

/** {text, from}: the accessible name and where it came from ("" for none). */
const nameOf = (pass, element) => {
  const known = pass.names.get(element);
  if (known) return known;
  const walk = { root: element, visited: new Set(), left: 3000, length: 0 };
  const found = alternative(pass, element, walk, { recursive: false, labelling: false, hidden: false, depth: 0 });
  const name = { text: squeeze(found.text), from: found.from };
  if (!name.text) name.from = '';
  pass.names.set(element, name);
  return name;
};

const nothing = { text: '', from: '' };

const unseen = (facts) => !facts.rendered || facts.ariaHidden || facts.style.visibility !== 'visible';

/** Accname step 2 for one element. `how.labelling`: within an aria-labelledby traversal; `how.hidden`: its root is hidden. */
const alternative = (pass, element, walk, how) => {
  // The thing being named never names itself from within its own label.
  if (walk.root === element && how.depth > 1) return nothing;
  const facts = factsOf(pass, element);
  if (!how.hidden && how.recursive && unseen(facts)) return nothing;
  // 2B: aria-labelledby, never twice in one traversal.
  if (!how.labelling) {
    const parts = referenced(element, 'aria-labelledby');
    if (parts.length) {
      walk.visited.add(element);
      const text = parts.map((part) => labelText(pass, part, walk, true)).filter(Boolean).join(' ');
      if (squeeze(text)) return { text, from: 'labelledby' };
    }
  }
  const role = roleOf(pass, element);
  // 2C: the value of a control within a label stands for it.
  if (how.recursive && !walk.visited.has(element)) {
    const value = embeddedValue(pass, element, role);
    if (value !== null) return { text: value, from: 'value' };
  }
  // 2D
  const label = squeeze(attribute(element, 'aria-label') ?? '');
  if (label) return { text: label, from: 'label' };
  walk.visited.add(element);
  // 2E: the host language.
  if (role !== 'none' || how.recursive) {
    const native = nativeName(pass, element, role, walk, how);
    if (native) return native;
  }
  // 2F
  if (how.recursive || NAMED_BY_CONTENTS.has(role) || isSummaryButton(element, role) || (role === 'row' && inGrid(pass, element))) {
    const text = contents(pass, element, walk, how);
    if (squeeze(text)) return { text, from: 'contents' };
    // An inline element of white space alone still parts the words around it.
    if (how.recursive && text && facts.inline && !attribute(element, 'title')) return { text: ' ', from: 'contents' };
  }
  // 2I: tooltip, then placeholder.
  const title = squeeze(attribute(element, 'title') ?? '');
  if (title && (how.recursive || !NO_TITLE.has(role))) return { text: title, from: 'title' };
  if (['textbox', 'searchbox', 'spinbutton', 'combobox', 'date'].includes(role)) {
    const hint = squeeze(attribute(element, 'placeholder') ?? '') || squeeze(attribute(element, 'aria-placeholder') ?? '');
    if (hint) return { text: hint, from: 'placeholder' };
  }
  return nothing;
};

/** Rows are named where they can be moved to (as Chromium does; ARIA would name all, which costs a lot for tables). */
const inGrid = (pass, row) => {
  if (focusable(row)) return true;
  for (let outer = flatParent(row), depth = 0; outer && depth < 4; outer = flatParent(outer), depth += 1) {
    const role = roleOf(pass, outer);
    if (role === 'treegrid') return true;
    if (role === 'grid') return queryFirst(outer, '[tabindex]') !== null;
  }
  return false;
};

const isSummaryButton = (element, role) => role === 'button' && tagOf(element) === 'summary';

/** The text of an element that labels another, hidden or not (accname 2A: a hidden referent counts when named directly). */
const labelText = (pass, element, walk, labelling) => {
  const facts = factsOf(pass, element);
  const hidden = labelling && unseen(facts);
  return alternative(pass, element, walk, { recursive: true, labelling: true, hidden, depth: 1 }).text;
};

const embeddedValue = (pass, element, role) => {
  const tag = tagOf(element);
  switch (role) {
    case 'textbox': case 'searchbox':
      if (tag === 'input') return inputType(element) === 'password' ? '' : inputValue(element);
      if (tag === 'textarea') return areaValue(element);
      return textContent(element).slice(0, NAME_LIMIT);
    case 'combobox': case 'listbox':
      if (tag === 'select') return [...selectOptions(element)].filter((option) => optionSelected(option)).map((option) => optionLabel(option)).join(' ');
      if (tag === 'input') return inputValue(element);
      return chosenOption(pass, element);
    case 'slider': case 'spinbutton': case 'progressbar': case 'meter': case 'scrollbar': {
      const text = attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow');
      if (text !== null) return text;
      return tag === 'input' ? inputValue(element) : '';
    }
    default: return null;
  }
};

const chosenOption = (pass, element) => {
  const chosen = queryFirst(element, '[role=option][aria-selected=true]');
  return chosen ? squeeze(textContent(chosen).slice(0, NAME_LIMIT)) : '';
};

const named = (text, from) => (squeeze(text ?? '') ? { text, from } : null);

/** HTML-AAM §4.1, SVG-AAM §5.1.1, by element. */
const nativeName = (pass, element, role, walk, how) => {
  const tag = tagOf(element);
  if (LABELABLE.has(tag) && !how.labelling) {
    const text = labelsOf(element).slice(0, 10).filter((label) => !walk.visited.has(label)).map((label) => labelText(pass, label, walk, false)).filter(Boolean).join(' ');
    if (squeeze(text)) return { text, from: 'label element' };
  }
  switch (tag) {
    case 'input': return inputType(element) === 'file' && attribute(element, 'title') ? null : inputName(element);
    case 'img': case 'area': {
      const alt = attribute(element, 'alt');
      return alt !== null && alt.trim() ? { text: alt, from: 'attribute' } : null;
    }
    case 'fieldset': return captionName(pass, element, 'legend', walk, how);
    case 'table': return captionName(pass, element, 'caption', walk, how) ?? named(attribute(element, 'summary'), 'attribute');
    case 'optgroup': return named(attribute(element, 'label'), 'attribute');
    case 'option': return named(optionLabel(element), 'contents');
    case 'html': return named(documentTitle(document), 'attribute');
    case '': return foreignName(element);
    default: return null;
  }
};

const inputName = (element) => {
  const value = () => attribute(element, 'value');
  switch (inputType(element)) {
    case 'button': return named(inputValue(element), 'attribute');
    case 'submit': return value() === null ? { text: 'Submit', from: 'attribute' } : named(inputValue(element), 'attribute');
    case 'reset': return value() === null ? { text: 'Reset', from: 'attribute' } : named(inputValue(element), 'attribute');
    case 'image': return named(attribute(element, 'alt'), 'attribute') ?? named(value(), 'attribute') ?? named(attribute(element, 'title'), 'title') ?? { text: 'Submit', from: 'attribute' };
    case 'file': return { text: hasAttribute(element, 'multiple') ? 'Choose Files' : 'Choose File', from: 'attribute' };
    default: return null;
  }
};

const captionName = (pass, element, caption, walk, how) => {
  for (let child = firstElement(element); child; child = nextElement(child)) {
    if (tagOf(child) === caption) {
      const text = alternative(pass, child, walk, { ...how, recursive: true, depth: how.depth + 1 }).text;
      return named(text, 'caption');
    }
  }
  return null;
};

const foreignName = (element) => {
  if (namespace(element) !== SVG) return null;
  const title = svgTitle(element);
  if (title) return { text: title, from: 'caption' };
  return localName(element) === 'a' ? named(element.getAttributeNS('http://www.w3.org/1999/xlink', 'title'), 'attribute') : null;
};

const INLINE_LEVEL = /^(inline|ruby|contents|math$)/;
const CONTROL_TAGS = new Set(['input', 'textarea', 'select', 'button', 'meter', 'progress']);
const NEVER_TEXT = new Set(['iframe', 'frame', 'object', 'embed', 'video', 'audio', 'canvas', 'script', 'style', 'template', 'noscript', 'datalist', 'optgroup', 'map']);

/** 2F/2G/2H: what the contents say, generated content included. */
const contents = (pass, element, walk, how) => {
  if (how.depth > DEPTH_LIMIT || walk.left <= 0 || walk.length > 4 * NAME_LIMIT) return '';
  const tag = tagOf(element);
  if (NEVER_TEXT.has(tag) || tag === 'textarea' || tag === 'select' || tag === 'input') return '';
  const facts = factsOf(pass, element);
  const flexible = /flex|grid/.test(facts.display);
  let text = '';
  let beforeInline = true;
  let beforeApart = false;
  const nested = roleOf(pass, element) === 'treeitem' || roleOf(pass, element) === 'menuitem';
  const push = (piece, inline, apart) => {
    if (!piece) return;
    if (text && !/\s$/.test(text) && !/^\s/.test(piece) && (!inline || !beforeInline || apart || beforeApart)) text += ' ';
    text += piece;
    walk.length += piece.length;
    beforeInline = inline;
    beforeApart = apart;
  };
  if (generates(pass, element)) push(...generated(element, '::before'));
  for (const child of namingChildren(pass, element)) {
    if ((walk.left -= 1) <= 0 || walk.length > 4 * NAME_LIMIT) break;
    if (isText(child)) {
      if ((how.hidden || facts.style.visibility === 'visible') && facts.rendered | how.hidden) push(transformed(facts, data(child).slice(0, 4 * NAME_LIMIT)), !flexible, false);
      continue;
    }
    const childTag = tagOf(child);
    if (childTag === 'br') {
      push('\n', true, false);
      continue;
    }
    // The items below an item are items of their own.
    if (nested && ['group', 'tree', 'menu'].includes(roleOf(pass, child))) continue;
    const inner = alternative(pass, child, walk, { ...how, recursive: true, depth: how.depth + 1 });
    if (!inner.text) continue;
    const display = factsOf(pass, child).display;
    push(inner.text, INLINE_LEVEL.test(display) && !flexible, (inner.from !== 'contents' && inner.from !== '') || CONTROL_TAGS.has(childTag));
  }
  if (generates(pass, element)) push(...generated(element, '::after'));
  return text;
};

/** Flat children, those that `aria-owns` took away left out, those that it brings in last. */
function* namingChildren(pass, element) {
  if (!pass.owned.size) {
    yield* flatChildren(element);
    return;
  }
  for (const child of flatChildren(element)) if (!pass.owned.has(child)) yield child;
  for (const child of referenced(element, 'aria-owns')) if (pass.owned.get(child) === element) yield child;
}

const transformed = (facts, text) => {
  switch (facts.style.textTransform) {
    case 'uppercase': return text.toUpperCase();
    case 'lowercase': return text.toLowerCase();
    case 'capitalize': return text.replace(/(^|[\s\u00a0(["'-])(\p{L})/gu, (all, before, letter) => before + letter.toUpperCase());
    default: return text;
  }
};

/** The description where it adds something to the name (accname 4.3.1, ARIA `aria-description`). */
const descriptionOf = (pass, element) => {
  const parts = referenced(element, 'aria-describedby');
  let text = '';
  if (parts.length) {
    const walk = { root: null, visited: new Set([element]), left: 500, length: 0 };
    text = squeeze(parts.map((part) => labelText(pass, part, walk, true)).filter(Boolean).join(' '));
  }
  text ||= squeeze(attribute(element, 'aria-description') ?? '');
  const name = nameOf(pass, element);
  // A tooltip on a link is mostly its target's name again.
  if (!text && name.from !== 'title' && roleOf(pass, element) !== 'link') text = squeeze(attribute(element, 'title') ?? '');
  return text && !fold(name.text).includes(fold(text)) ? text : '';
};
