// Setting values as a user would. The setters of this world's prototypes go past what a framework hung on the field in its
// own world to follow changes, so the framework sees a new value, as after typing.

const setInput = setter(HTMLInputElement.prototype, 'value');
const setArea = setter(HTMLTextAreaElement.prototype, 'value');
const setOption = setter(HTMLOptionElement.prototype, 'selected');
const setIndex = setter(HTMLSelectElement.prototype, 'selectedIndex');
const selectInput = method(HTMLInputElement.prototype, 'select');
const selectArea = method(HTMLTextAreaElement.prototype, 'select');
const rangeInput = method(HTMLInputElement.prototype, 'setSelectionRange');
const rangeArea = method(HTMLTextAreaElement.prototype, 'setSelectionRange');

const DATE_FORMS = { date: 'YYYY-MM-DD', time: 'HH:MM', 'datetime-local': 'YYYY-MM-DDTHH:MM', month: 'YYYY-MM', week: 'YYYY-Www' };

const announce = (element, ...types) => {
  for (const type of types) dispatch(element, type === 'input' ? new Event('input', { bubbles: true, composed: true }) : new Event(type, { bubbles: true }));
};

const editable = (pass, id) => {
  const { element, followed } = elementOf(pass, id);
  const kind = kindOf(element);
  const line = sayElement(pass, element);
  if (unable(pass, element)) throw new Refusal('disabled', 'the field is disabled', line);
  if (isReadonly(element)) throw new Refusal('readonly', 'the field is read-only', line);
  return { element, followed, kind, line };
};

const fillBegin = ({ id, value, clear = true }) => {
  const pass = new Pass(300);
  const { element, kind, line } = editable(pass, id);
  if (typeof value !== 'string') throw new Refusal('invalid', 'value must be a string', line);
  switch (kind) {
    case 'date': case 'range': case 'color': return setDirectly(pass, element, kind, value, line);
    case 'checkbox': case 'radio': return wantChecked(element, value, line);
    case 'select': {
      const result = select({ id, values: [value] });
      return { done: true, kind, value: result.selected.join(', ') };
    }
    case 'text': {
      focusElement(element, { preventScroll: true });
      placeCaret(element, clear);
      const limit = Number(attribute(element, 'maxlength') ?? -1);
      return { done: false, kind, focused: activeElement() === element, suggests: suggests(element), maxLength: limit >= 0 ? limit : null, value: rawValue(element) };
    }
    case 'contenteditable': {
      const host = editorOf(element);
      focusElement(host, { preventScroll: true });
      const selection = pageSelection(document);
      selection.selectAllChildren(host);
      if (!clear) selection.collapseToEnd();
      return { done: false, kind, focused: activeElement() === host || holds(host, activeElement()), maxLength: null, value: visibleString(host, 20000) };
    }
    default: throw new Refusal('kind', kind === 'file' ? 'a file field takes files: use browser_upload' : 'the element takes no text', line);
  }
};

/** Sets a text field at once, in this document alone: what goes over the keyboard goes where the focus is by then. */
const fillSecret = ({ id, value }) => {
  const { element, kind, line } = editable(new Pass(300), id);
  if (kind !== 'text') throw new Refusal('kind', 'a secret goes into a text field', line);
  focusElement(element, { preventScroll: true });
  const before = rawValue(element);
  if (tagOf(element) === 'textarea') setArea(element, value);
  else setInput(element, value);
  const holds = rawValue(element) === value;
  if (before !== value) announce(element, 'input', 'change');
  return { holds };
};

const placeCaret = (element, clear) => {
  const area = tagOf(element) === 'textarea';
  if (clear) {
    if (area) selectArea(element);
    else selectInput(element);
    return;
  }
  const end = rawValue(element).length;
  try {
    if (area) rangeArea(element, end, end);
    else rangeInput(element, end, end);
  } catch {
    // Number and email fields have no caret to place (HTML "setSelectionRange does not apply"); focus put it at the end.
  }
};

const editorOf = (element) => {
  let host = element;
  for (let outer = parentNode(host); isElement(outer) && isEditable(outer) === true; outer = parentNode(host)) host = outer;
  return host;
};

const setDirectly = (pass, element, kind, value, line) => {
  focusElement(element, { preventScroll: true });
  const before = inputValue(element);
  const wanted = kind === 'color' ? value.trim().toLowerCase() : value.trim();
  setInput(element, wanted);
  const after = inputValue(element);
  const refused = kind === 'range' ? Number.isNaN(Number(wanted)) || wanted === '' : kind === 'color' ? after !== wanted : wanted !== '' && after === '';
  if (refused) {
    setInput(element, before);
    const form = kind === 'range' ? 'a number' : kind === 'color' ? '#rrggbb' : DATE_FORMS[inputType(element)] ?? 'a date';
    throw new Refusal('invalid', `the field wants ${form}`, line);
  }
  if (after !== before) announce(element, 'input', 'change');
  return { done: true, kind, value: inputValue(element) };
};

const wantChecked = (element, value, line) => {
  const wish = { true: true, on: true, checked: true, yes: true, 1: true, false: false, off: false, unchecked: false, no: false, 0: false }[value.trim().toLowerCase()];
  if (wish === undefined) throw new Refusal('invalid', 'a checkbox or radio is filled with "true" or "false"', line);
  if (kindOf(element) === 'radio' && !wish && inputChecked(element)) throw new Refusal('invalid', 'a chosen radio is unset by choosing another', line);
  return { done: inputChecked(element) === wish, kind: kindOf(element), click: inputChecked(element) !== wish, value: String(inputChecked(element)) };
};

const blurElement = method(HTMLElement.prototype, 'blur');
const fillEnd = ({ id, commit = false }) => {
  const { element } = elementOf(new Pass(100), id);
  if (commit && element instanceof HTMLElement) blurElement(element);
  return value({ id });
};

const value = ({ id }) => {
  const pass = new Pass(100);
  const { element } = elementOf(pass, id);
  const kind = kindOf(element);
  if (kind === 'checkbox' || kind === 'radio') return { value: String(inputChecked(element)) };
  if (kind === 'contenteditable') return { value: clean(visibleString(editorOf(element), 20000), true) };
  const held = valueOf(element, roleOf(pass, element));
  return { value: held === null ? null : clean(held, true) };
};

/** Native: by label or value, one `input` and one `change`. An ARIA listbox is worked by clicks, which the caller makes. */
const select = ({ id, values }) => {
  const pass = new Pass(500);
  const { element, kind, line } = editable(pass, id);
  if (!Array.isArray(values) || !values.every((one) => typeof one === 'string')) throw new Refusal('invalid', 'values must be a list of strings', line);
  if (kind === 'other' || kind === 'button' || kind === 'text') return listbox(pass, element, values, line);
  const target = kind === 'select' ? element : tagOf(element) === 'option' ? closest(element, 'select') : null;
  if (!target) return listbox(pass, element, values, line);
  const options = [...selectOptions(target)];
  if (values.length > 1 && !selectMultiple(target)) throw new Refusal('invalid', 'this field takes one option', line);
  const wanted = values.map((one) => optionFor(options, one, line));
  const before = options.map(optionSelected);
  if (selectMultiple(target)) options.forEach((option) => setOption(option, wanted.includes(option)));
  else if (wanted.length) setIndex(target, options.indexOf(wanted[0]));
  else throw new Refusal('invalid', 'give the option to choose', line);
  const changed = options.some((option, index) => optionSelected(option) !== before[index]);
  focusElement(target, { preventScroll: true });
  if (changed) announce(target, 'input', 'change');
  const chosen = [...selectOptions(target)].filter(optionSelected);
  return { selected: chosen.map((option) => clean(squeeze(optionLabel(option)))), changed };
};

const optionFor = (options, wanted, line) => {
  const by = (test) => options.find((option) => test(option) && !isDisabled(option)) ?? options.find(test);
  const option = by((one) => squeeze(optionLabel(one)) === squeeze(wanted)) ?? by((one) => optionValue(one) === wanted) ?? by((one) => fold(optionLabel(one)) === fold(wanted));
  const list = options.slice(0, 40).map((one) => `${quote(optionLabel(one), 40)}${isDisabled(one) ? ' (disabled)' : ''}`).join(', ');
  if (!option) throw new Refusal('option', `no option ${quote(wanted, 60)}; there are ${list}${options.length > 40 ? ` and ${options.length - 40} more` : ''}`, line);
  if (isDisabled(option)) throw new Refusal('option', `the option ${quote(wanted, 60)} is disabled; there are ${list}`, line);
  return option;
};

const listbox = (pass, element, values, line) => {
  const role = roleOf(pass, element);
  const holder = role === 'listbox' || role === 'menu' || role === 'tree' || role === 'radiogroup' || role === 'tablist' ? element
    : referenced(element, 'aria-controls')[0] ?? referenced(element, 'aria-owns')[0] ?? queryElement(element, '[role=listbox]')[0];
  // A button that is not said to open anything may do anything: it is not pressed to see.
  const expandable = role === 'combobox' || hasAttribute(element, 'aria-haspopup') || hasAttribute(element, 'aria-expanded');
  if (!holder && !expandable) throw new Refusal('kind', 'the element is no list to choose from', line);
  const options = [];
  if (holder) {
    for (const option of queryElement(holder, '[role=option],[role=menuitemradio],[role=menuitem],[role=treeitem],[role=radio],[role=tab]')) {
      if (!boxShown(pass, factsOf(pass, option)) || options.length >= 500) continue;
      const name = nameOf(pass, option).text;
      const match = values.some((one) => fold(one) === fold(name) || one === attribute(option, 'data-value') || one === attribute(option, 'value'));
      options.push({ id: idOf(pass, option), name: clean(cut(name, 200)), match, selected: isSelected(option, roleOf(pass, option)) || checkedState(option, roleOf(pass, option)) === 'checked', disabled: unable(pass, option) });
    }
  }
  return { listbox: true, expand: expandable && !options.length, options: options.filter((one, index) => one.match || index < 40) };
};

const isFileInput = (node) => isElement(node) && tagOf(node) === 'input' && inputType(node) === 'file';

/** The file input that an element is, labels or holds; none where only a click can tell. */
const fileInput = ({ id }) => {
  const pass = new Pass(100);
  const { element } = elementOf(pass, id);
  const label = closest(element, 'label');
  const inner = [...queryElement(element, 'input[type=file]')];
  const input = [element, label && labelControl(label), inner.length === 1 ? inner[0] : null].find((node) => isFileInput(node));
  return { id: input ? idOf(pass, input) : null };
};
