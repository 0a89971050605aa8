// ARIA roles: explicit (ARIA 1.3 §5, §8), native (HTML-AAM 1.0 §3.5), and where either loses (presentational conflicts).

const KNOWN_ROLES = new Set(`alert alertdialog application article banner blockquote button caption cell checkbox code
columnheader combobox complementary comment contentinfo definition deletion dialog directory document emphasis feed figure form
generic grid gridcell group heading img image insertion link list listbox listitem log main mark marquee math menu menubar
menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup
region row rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong
subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid
treeitem graphics-document graphics-object graphics-symbol doc-abstract doc-acknowledgments doc-afterword doc-appendix
doc-backlink doc-biblioentry doc-bibliography doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit
doc-credits doc-dedication doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword
doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagefooter doc-pageheader
doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc`.split(/\s+/));

/** ARIA 1.3 §7.1: with any of these on an element, `role=none` does not hold. */
const GLOBAL_ATTRIBUTES = `aria-atomic aria-busy aria-controls aria-current aria-describedby aria-details aria-dropeffect
aria-flowto aria-grabbed aria-keyshortcuts aria-label aria-labelledby aria-live aria-owns aria-relevant
aria-roledescription aria-description aria-braillelabel aria-brailleroledescription`.split(/\s+/);

const WIDGET_ROLES = new Set(['button', 'checkbox', 'combobox', 'gridcell', 'link', 'listbox', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'radio', 'scrollbar', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem',
  'doc-backlink', 'doc-biblioref', 'doc-glossref', 'doc-noteref']);

/** What `role=none` on a container takes from its required children as well (ARIA 1.3 §7.2 presentational inheritance). */
const INHERITS_NONE = { list: ['listitem'], table: ['rowgroup', 'row', 'cell', 'columnheader', 'rowheader', 'caption'],
  grid: ['rowgroup', 'row', 'gridcell', 'columnheader', 'rowheader'] };

const SECTIONING = 'article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]';

const INPUT_ROLES = { button: 'button', checkbox: 'checkbox', color: 'color', date: 'date', 'datetime-local': 'date', email: 'textbox',
  file: 'button', image: 'button', month: 'date', number: 'spinbutton', password: 'textbox', radio: 'radio', range: 'slider',
  reset: 'button', search: 'searchbox', submit: 'button', tel: 'textbox', text: 'textbox', time: 'date', url: 'textbox', week: 'date' };

const TAG_ROLES = { address: 'group', article: 'article', blockquote: 'blockquote', button: 'button', canvas: 'canvas', caption: 'caption',
  code: 'code', dd: 'definition', del: 'deletion', details: 'group', dfn: 'term', dialog: 'dialog', dir: 'list', dl: 'list',
  dt: 'term', em: 'emphasis', embed: 'object', fieldset: 'group', figcaption: 'figcaption', figure: 'figure', h1: 'heading', h2: 'heading', h3: 'heading',
  h4: 'heading', h5: 'heading', h6: 'heading', hgroup: 'group', hr: 'separator', html: 'document', iframe: 'iframe', frame: 'iframe',
  ins: 'insertion', label: 'label', legend: 'legend', main: 'main', mark: 'mark', math: 'math', menu: 'list', meter: 'meter',
  nav: 'navigation', object: 'object', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph', pre: 'pre',
  progress: 'progressbar', s: 'deletion', search: 'search', strong: 'strong', sub: 'subscript', sup: 'superscript',
  textarea: 'textbox', time: 'time', ul: 'list', video: 'video', audio: 'audio', portal: 'iframe', abbr: 'abbr' };

const focusable = (element) => {
  const tag = tagOf(element);
  if (hasAttribute(element, 'tabindex') && !Number.isNaN(parseInt(attribute(element, 'tabindex'), 10))) return true;
  switch (tag) {
    case 'a': case 'area': return hasAttribute(element, 'href');
    case 'button': case 'select': case 'textarea': return !isDisabled(element);
    case 'input': return inputType(element) !== 'hidden' && !isDisabled(element);
    case 'iframe': case 'embed': return true;
    case 'audio': case 'video': return hasAttribute(element, 'controls');
    case 'summary': return isMainSummary(element);
    case '': return namespace(element) === SVG && localName(element) === 'a' && (hasAttribute(element, 'href') || hasAttribute(element, 'xlink:href'));
    default: return editingHost(element);
  }
};

const editingHost = (element) => {
  const value = attribute(element, 'contenteditable');
  return value !== null && ['', 'true', 'plaintext-only'].includes(value.toLowerCase());
};

const isDisabled = (element) => {
  try {
    return matches(element, ':disabled');
  } catch {
    return false;
  }
};

const nativeRole = (pass, element) => {
  const tag = tagOf(element);
  if (tag === '') return foreignRole(element);
  switch (tag) {
    case 'a': case 'area': return hasAttribute(element, 'href') ? 'link' : 'generic';
    case 'aside': return inSectioning(element) && !hasOwnName(element) ? 'generic' : 'complementary';
    case 'footer': return closest(parentElementOf(element), SECTIONING) ? 'sectionfooter' : 'contentinfo';
    case 'header': return closest(parentElementOf(element), SECTIONING) ? 'sectionheader' : 'banner';
    case 'form': return 'form';
    case 'section': return hasOwnName(element) ? 'region' : 'generic';
    case 'img': return attribute(element, 'alt') === '' && !hasOwnName(element) ? 'none' : 'img';
    case 'input': return inputRole(element);
    case 'li': return inList(element) ? 'listitem' : 'generic';
    case 'select': return selectMultiple(element) || selectSize(element) > 1 ? 'listbox' : 'combobox';
    case 'summary': return isMainSummary(element) ? 'button' : 'generic';
    case 'table': case 'thead': case 'tbody': case 'tfoot': case 'tr': case 'td': case 'th': return tableRole(pass, element, tag);
    default: return TAG_ROLES[tag] ?? (editingHost(element) ? 'textbox' : hasAttribute(element, 'popover') ? 'group' : 'generic');
  }
};

const parentElementOf = (element) => flatParent(element) ?? element;
const inSectioning = (element) => {
  const outer = flatParent(element);
  return Boolean(outer && closest(outer, 'article,aside,nav,section'));
};
const hasOwnName = (element) => {
  if (squeeze(attribute(element, 'aria-label') ?? '') || squeeze(attribute(element, 'title') ?? '')) return true;
  return referenced(element, 'aria-labelledby').length > 0;
};

const inputRole = (element) => {
  const type = inputType(element);
  const role = INPUT_ROLES[type] ?? 'textbox';
  if (type === 'checkbox' && hasAttribute(element, 'switch')) return 'switch';
  if ((role === 'textbox' || role === 'searchbox') && type !== 'password' && attribute(element, 'list') && byId(element, attribute(element, 'list'))) return 'combobox';
  return role;
};

/** An item is no list item where its list was given another role. */
const inList = (element) => {
  const outer = flatParent(element);
  const explicit = outer && ['ul', 'ol', 'menu', 'dir'].includes(tagOf(outer)) ? (attribute(outer, 'role') ?? '').trim().toLowerCase() : '';
  return !explicit || !KNOWN_ROLES.has(explicit) || ['list', 'directory', 'none', 'presentation'].includes(explicit);
};

const tableRole = (pass, element, tag) => {
  if (tag === 'table') return isDataTable(element) ? 'table' : 'layout';
  const table = tableOf(element);
  if (!table) return 'generic';
  const role = roleOf(pass, table);
  if (role === 'layout') return 'generic';
  const grid = role === 'grid' || role === 'treegrid';
  if (!grid && role !== 'table') return 'generic';
  if (tag === 'tr') return 'row';
  if (tag === 'td') return grid ? 'gridcell' : 'cell';
  if (tag !== 'th') return 'rowgroup';
  return headerRole(element, grid);
};

const tableOf = (element) => {
  for (let outer = flatParent(element), depth = 0; outer && depth < 8; outer = flatParent(outer), depth += 1) if (tagOf(outer) === 'table') return outer;
  return null;
};

/** Tables for layout are no tables to people. HTML leaves the guess to the browser; this is Chromium's (`IsDataTable`). */
const isDataTable = (table) => {
  if (isEditable(table) === true || ['summary', 'rules'].some((name) => attribute(table, name))) return true;
  for (let child = firstElement(table); child; child = nextElement(child)) if (['caption', 'thead', 'tfoot', 'col', 'colgroup'].includes(tagOf(child))) return true;
  const rows = tableRows(table);
  if (rows.length >= 20) return true;
  if (!rows.length) return false;
  const columns = rowCells(rows[0]).length;
  if (rows.length === 1 && columns === 1) return false;
  const style = getComputedStyle(table);
  const spaced = !/^0px/.test(style.borderSpacing) && style.borderCollapse !== 'collapse';
  const count = { valid: 0, bordered: 0, top: 0, bottom: 0, left: 0, right: 0, coloured: 0, headRow: 0, headColumn: 0 };
  const stripes = [];
  for (let row = 0; row < rows.length; row += 1) {
    const cells = rowCells(rows[row]);
    for (let column = 0; column < Math.min(cells.length, 100); column += 1) {
      const cell = cells[column];
      const box = rectOf(cell);
      if (box.width < 1 || box.height < 1) continue;
      count.valid += 1;
      if (tagOf(cell) === 'th') {
        if (row === 0) count.headRow += 1;
        if (column === 0) count.headColumn += 1;
      }
      if (['headers', 'abbr', 'axis', 'scope'].some((name) => attribute(cell, name))) return true;
      const own = getComputedStyle(cell);
      if (own.emptyCells === 'hide') return true;
      const [top, bottom, left, right] = ['Top', 'Bottom', 'Left', 'Right'].map((side) => parseFloat(own[`border${side}Width`]) > 0);
      if ((top && bottom) || (left && right)) count.bordered += 1;
      count.top += top;
      count.bottom += bottom;
      count.left += left;
      count.right += right;
      if (spaced && own.backgroundColor !== style.backgroundColor && colour(own.backgroundColor)[3] > 0) count.coloured += 1;
      if (count.bordered >= 10 || count.coloured >= 10) return true;
      if (row < 5 && row === stripes.length) stripes.push(getComputedStyle(rows[row]).backgroundColor);
    }
  }
  if (count.valid <= 1) return false;
  const half = count.valid / 2;
  if ([count.bordered, count.top, count.bottom, count.left, count.right, count.coloured].some((one) => one >= half)) return true;
  if (count.headRow === columns || count.headColumn === rows.length) return true;
  return stripes.length > 2 && stripes.every((stripe, index) => (index % 2 === 1) !== (stripe === stripes[0]));
};

const tableRows = getter(HTMLTableElement.prototype, 'rows');
const rowCells = getter(HTMLTableRowElement.prototype, 'cells');

/** HTML-AAM `th`: by scope, else by the place: alone in a row of data cells it heads the row. */
const headerRole = (element, grid) => {
  const scope = (attribute(element, 'scope') ?? '').toLowerCase();
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  if (scope === 'col' || scope === 'colgroup') return 'columnheader';
  const row = parentNode(element);
  if (isElement(row) && tagOf(row) === 'tr') {
    let data = 0;
    for (let cell = firstElement(row); cell; cell = nextElement(cell)) if (tagOf(cell) === 'td') data += 1;
    if (data > 0) return 'rowheader';
  }
  return 'columnheader';
};

const foreignRole = (element) => {
  const name = localName(element);
  if (namespace(element) === MATH) return name === 'math' ? 'math' : 'generic';
  if (namespace(element) !== SVG) return 'generic';
  if (name === 'a') return hasAttribute(element, 'href') || hasAttribute(element, 'xlink:href') ? 'link' : 'generic';
  if (name === 'svg' || name === 'image') return 'img';
  return ['circle', 'ellipse', 'line', 'path', 'polygon', 'polyline', 'rect', 'use', 'g', 'symbol'].includes(name) && svgTitle(element) ? (name === 'g' ? 'group' : 'graphics-symbol') : 'generic';
};

const svgTitle = (element) => {
  for (let child = firstElement(element); child; child = nextElement(child)) {
    if (localName(child) === 'title' && namespace(child) === SVG) return squeeze(textContent(child)) || null;
  }
  return null;
};

/** The role that assistive technology gets. `none` where the element means nothing by itself. */
const roleOf = (pass, element) => {
  const known = pass.roles.get(element);
  if (known !== undefined) return known;
  const role = findRole(pass, element);
  pass.roles.set(element, role);
  return role;
};

const findRole = (pass, element) => {
  const list = attribute(element, 'role');
  if (list) {
    for (const token of list.toLowerCase().split(/\s+/)) {
      if (!KNOWN_ROLES.has(token)) continue;
      if (token === 'none' || token === 'presentation') return keepsNative(element) ? nativeRole(pass, element) : 'none';
      if (token === 'image') return 'img';
      if (token === 'directory') return 'list';
      // A region or form without a name is no landmark (ARIA 1.3 §5.3.4).
      if ((token === 'region' || token === 'form') && !hasOwnName(element)) continue;
      if (token === 'option' && !inListbox(element)) continue;
      if (token === 'combobox' && tagOf(element) === 'select') return nativeRole(pass, element);
      return token;
    }
  }
  const native = nativeRole(pass, element);
  return native !== 'generic' && losesToNone(element, native) ? 'none' : native;
};

/** An option belongs to a list of options (ARIA 1.3 §5.2.7 required accessibility parent). */
const inListbox = (element) => {
  for (let outer = flatParent(element), depth = 0; outer && depth < 10; outer = flatParent(outer), depth += 1) {
    if (/\b(listbox|combobox)\b/.test(attribute(outer, 'role') ?? '') || tagOf(outer) === 'select') return true;
  }
  return queryDocument(document, '[role=listbox][aria-owns]').length > 0;
};

const keepsNative = (element) => focusable(element) || GLOBAL_ATTRIBUTES.some((name) => hasAttribute(element, name));

const losesToNone = (element, native) => {
  const outerRole = native === 'listitem' ? 'list' : INHERITS_NONE.table.includes(native) || native === 'gridcell' ? 'table' : null;
  if (!outerRole || attribute(element, 'role')) return false;
  const outer = outerRole === 'list' ? flatParent(element) : tableOf(element);
  if (!outer) return false;
  const explicit = (attribute(outer, 'role') ?? '').trim().toLowerCase();
  return (explicit === 'none' || explicit === 'presentation') && !keepsNative(outer);
};
