// States and values, as a person meets them (ARIA 1.3 §6.6; native states win over ARIA where HTML says so).

const TEXT_ROLES = new Set(['textbox', 'searchbox', 'spinbutton', 'combobox', 'date']);

/** Words for the state of an element, in a fixed order. */
const statesOf = (pass, element, role) => {
  const states = [];
  const aria = (name) => (attribute(element, name) ?? '').trim().toLowerCase();
  if (role === 'heading') states.push(`level=${headingLevel(element)}`);
  else if (/^[1-9]\d?$/.test(aria('aria-level'))) states.push(`level=${aria('aria-level')}`);
  const checked = checkedState(element, role);
  if (checked) states.push(checked);
  const pressed = aria('aria-pressed');
  if (pressed === 'true' || pressed === 'mixed') states.push(pressed === 'true' ? 'pressed' : 'pressed=mixed');
  if (isSelected(element, role)) states.push('selected');
  const expanded = expandedState(element);
  if (expanded) states.push(expanded);
  if (unable(pass, element)) states.push('disabled');
  if (isReadonly(element)) states.push('readonly');
  if (isRequired(element)) states.push('required');
  if (isInvalid(element)) states.push('invalid');
  const current = aria('aria-current');
  if (current && current !== 'false') states.push(current === 'true' ? 'current' : `current=${/^(page|step|location|date|time)$/.test(current) ? current : 'true'}`);
  const sort = aria('aria-sort');
  if (sort === 'ascending' || sort === 'descending') states.push(`sort=${sort}`);
  if (aria('aria-busy') === 'true') states.push('busy');
  if (isModal(element)) states.push('modal');
  if (role === 'textbox' && (tagOf(element) === 'textarea' || aria('aria-multiline') === 'true')) states.push('multiline');
  if (tagOf(element) === 'input' && inputType(element) === 'password') states.push('password');
  if (tagOf(element) === 'input' && inputType(element) === 'file') states.push('file');
  if (tagOf(element) === 'input' && role === 'date') states.push(`type=${inputType(element)}`);
  if ((role === 'listbox' && (tagOf(element) === 'select' || aria('aria-multiselectable') === 'true')) && (tagOf(element) !== 'select' || selectMultiple(element))) states.push('multiple');
  if (aria('aria-haspopup') && aria('aria-haspopup') !== 'false' && role !== 'combobox') states.push('popup');
  if (factsOf(pass, element).ariaHidden) states.push('aria-hidden');
  return states;
};

const headingLevel = (element) => {
  const level = Number(attribute(element, 'aria-level'));
  if (Number.isInteger(level) && level > 0) return level;
  const tag = /^h([1-6])$/.exec(tagOf(element));
  return tag ? Number(tag[1]) : 2;
};

const checkedState = (element, role) => {
  if (tagOf(element) === 'input') {
    const type = inputType(element);
    if (type === 'checkbox' || type === 'radio') {
      if (type === 'checkbox' && inputIndeterminate(element)) return 'checked=mixed';
      return inputChecked(element) ? 'checked' : null;
    }
  }
  if (!['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'option', 'treeitem'].includes(role)) return null;
  const value = (attribute(element, 'aria-checked') ?? '').trim().toLowerCase();
  return value === 'true' ? 'checked' : value === 'mixed' ? 'checked=mixed' : null;
};

const isSelected = (element, role) => {
  if (tagOf(element) === 'option') return optionSelected(element);
  return ['option', 'tab', 'row', 'gridcell', 'treeitem', 'columnheader', 'rowheader', 'cell'].includes(role) && (attribute(element, 'aria-selected') ?? '').trim() === 'true';
};

const expandedState = (element) => {
  const tag = tagOf(element);
  if (tag === 'summary' && isMainSummary(element)) return hasAttribute(parentNode(element), 'open') ? 'expanded' : 'collapsed';
  const value = (attribute(element, 'aria-expanded') ?? '').trim().toLowerCase();
  return value === 'true' ? 'expanded' : value === 'false' ? 'collapsed' : null;
};

/** Disabled natively, by ARIA (own or inherited), or inert. */
const unable = (pass, element) => {
  const facts = factsOf(pass, element);
  return isDisabled(element) || facts.inert || facts.disabled;
};

const inputReadonly = getter(HTMLInputElement.prototype, 'readOnly');
const areaReadonly = getter(HTMLTextAreaElement.prototype, 'readOnly');
const isReadonly = (element) => {
  const tag = tagOf(element);
  if (tag === 'input') return inputReadonly(element) && !['button', 'submit', 'reset', 'image', 'checkbox', 'radio', 'range', 'color', 'file', 'hidden'].includes(inputType(element));
  if (tag === 'textarea') return areaReadonly(element);
  return (attribute(element, 'aria-readonly') ?? '').trim() === 'true';
};

const isRequired = (element) => {
  if (['input', 'textarea', 'select'].includes(tagOf(element)) && matches(element, ':required')) return true;
  return (attribute(element, 'aria-required') ?? '').trim() === 'true';
};

/** Natively invalid counts once the page shows it (`:user-invalid`) or the field holds something. */
const isInvalid = (element) => {
  const aria = (attribute(element, 'aria-invalid') ?? '').trim().toLowerCase();
  if (aria) return aria !== 'false';
  if (!['input', 'textarea', 'select'].includes(tagOf(element))) return false;
  return matches(element, ':user-invalid') || (matches(element, ':invalid') && Boolean(rawValue(element)));
};

const isModal = (element) => {
  if (tagOf(element) === 'dialog' && matches(element, ':modal')) return true;
  const role = attribute(element, 'role');
  return /^(alert)?dialog$/.test(role ?? '') && (attribute(element, 'aria-modal') ?? '').trim() === 'true';
};

const rawValue = (element) => {
  switch (tagOf(element)) {
    case 'input': return inputValue(element);
    case 'textarea': return areaValue(element);
    case 'select': return [...selectOptions(element)].filter((option) => optionSelected(option)).map((option) => optionLabel(option)).join(', ');
    default: return null;
  }
};

/** What a field holds now, as a string for the model; null for what holds nothing. */
const valueOf = (element, role) => {
  const tag = tagOf(element);
  if (tag === 'input') {
    const type = inputType(element);
    if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'hidden'].includes(type)) return null;
    if (type === 'file') return [...(inputFiles(element) ?? [])].slice(0, 20).map((file) => file.name).join(', ');
    return type === 'password' ? '•'.repeat(Math.min(inputValue(element).length, 32)) : inputValue(element);
  }
  if (tag === 'textarea' || tag === 'select') return rawValue(element);
  if (['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar', 'separator'].includes(role)) {
    return attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow') ?? (tag === 'progress' || tag === 'meter' ? attribute(element, 'value') : null);
  }
  if (role === 'combobox') return squeeze(visibleString(element, 300)) || null;
  if (editingHost(element) || role === 'textbox' || role === 'searchbox') return squeeze(visibleString(element, 2000));
  return null;
};

/** Text of an editor, block by block, without asking the page's own properties. */
const visibleString = (element, limit) => {
  let text = '';
  const walker = makeWalker(document, element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  while (walker.nextNode() && text.length < limit) {
    const node = walker.currentNode;
    if (isText(node)) text += data(node).slice(0, limit);
    else if (text && !text.endsWith('\n') && (tagOf(node) === 'br' || !INLINE_LEVEL.test(getComputedStyle(node).display))) text += '\n';
  }
  return text;
};
