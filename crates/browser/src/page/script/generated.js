// Generated content: what the style sheets put before and after the contents of an element.

/** CSS generated content (accname 2F.ii): strings, `attr()`, and the alternative text after a slash; as [text, inline, apart]. */
const generated = (element, which) => {
  const style = getComputedStyle(element, which);
  const content = style.content;
  if (content === 'none' || content === 'normal' || content === '' || content === '""') return ['', true, false];
  if (style.display === 'none' || style.visibility !== 'visible') return ['', true, false];
  const slash = /\/\s*((?:"(?:[^"\\]|\\.)*"|attr\([^)]*\)|\s)+)$/.exec(content);
  const source = slash ? slash[1] : content;
  let text = '';
  for (const part of source.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(([^)]*)\)/g)) {
    text += part[2] === undefined ? part[1].replace(/\\(["\\])/g, '$1') : attribute(element, part[2].trim()) ?? '';
  }
  return [text, INLINE_LEVEL.test(style.display), Boolean(slash)];
};

const NOTHING = new Set(['', 'none', 'normal', '""']);
/** So many elements are asked of before the style sheets are looked through, of which no more is read and matched than this. */
const ASKED_FIRST = 40;
const MOST_RULES = 2000;
const MOST_SELECTORS = 24;

/** May this element have generated content? The style of a pseudo-element that is not there is worked out anew each time it is
 *  asked for, which costs more than all else about an element; the rules of the document tell where to ask. */
const generates = (pass, element) => {
  if ((pass.generated.asked += 1) <= ASKED_FIRST) return true;
  const by = (pass.generated.by ??= originators());
  // Rules of shadow roots reach their host and what is slotted as well.
  return by === '*' || rootNode(element) !== document || shadowOf(element) !== null || slotOf(element) !== null || closedSlots.has(element) || (by !== '' && matches(element, by));
};

const sheetsOf = getter(Document.prototype, 'styleSheets');
const adoptedSheets = getter(Document.prototype, 'adoptedStyleSheets');

/** The elements of the document that a rule gives generated content to, as a selector: empty for none, `*` where that cannot be told.
 *  (The browser's own sheet gives quotation marks alone, which are no part of a name.) */
const originators = () => {
  const selectors = [];
  const work = [];
  try {
    for (const sheet of [...sheetsOf(document), ...adoptedSheets(document)]) work.push(...sheet.cssRules);
    for (let index = 0; index < work.length; index += 1) {
      if (work.length > MOST_RULES) return '*';
      const rule = work[index];
      if (rule instanceof CSSImportRule) {
        if (rule.styleSheet) work.push(...rule.styleSheet.cssRules);
        continue;
      }
      if (!(rule instanceof CSSKeyframesRule) && rule.cssRules) work.push(...rule.cssRules);
      const selector = rule.selectorText;
      if (!selector || !/::(before|after)/.test(selector) || NOTHING.has(rule.style.getPropertyValue('content'))) continue;
      // A nested or scoped rule means something only where it stands.
      if (selector.includes('&') || rule.parentRule instanceof CSSStyleRule || rule.parentRule instanceof CSSScopeRule) return '*';
      selectors.push(selector.replace(/(^|[\s,>+~(])::(before|after)/g, '$1*').replace(/::(before|after)/g, ''));
      if (selectors.length > MOST_SELECTORS) return '*';
    }
    const all = selectors.join(',');
    if (all) matches(documentElement(document), all);
    return all;
  } catch {
    // A sheet of another origin is not for reading, and not every selector can be matched.
    return '*';
  }
};
