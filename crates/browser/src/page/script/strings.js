// Strings of the page on their way out: whatever it writes must stay inside our quotes and be seen for what it is.

/** Never drawn, so never read: soft hyphen, zero-width and filler characters, tag characters, variation selectors other
 *  than the two that emoji need, interlinear annotation, byte order mark, private-use glyphs (icon fonts). */
const INVISIBLE =
  /[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ue000-\uf8ff]|[\u{e0000}-\u{e0fff}]|[\u{f0000}-\u{10ffff}]/gu;
/** Would change how the line reads, so shown as an escape: controls, bidi controls, line and paragraph separators,
 *  halves of surrogate pairs, noncharacters. Joiners are handled apart. */
const ESCAPED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]|\p{Surrogate}/gu;
/** Joiners mean something only within scripts and emoji that use them. */
const LONE_JOINER = /(^|[\u0000-\u02ff\u200c\u200d\s])[\u200c\u200d]+|[\u200c\u200d]+(?=$|[\u0000-\u02ff\s])/gu;
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const PRINTABLE = /^[\x20-\x7e\n]*$/;

const escapeCharacter = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;

/** Drops what nobody sees and escapes what would disturb. `\n` may stay where the caller lays out lines itself. */
const clean = (string, keepBreaks = false) => {
  if (PRINTABLE.test(string)) return keepBreaks ? string : string.replaceAll('\n', ' ');
  let result = string.replace(INVISIBLE, '').replace(LONE_JOINER, '$1');
  result = result.replace(ESCAPED, (character) => {
    if (character === '\n') return keepBreaks ? '\n' : ' ';
    return character === '\t' || character === '\r' || character === '\f' ? ' ' : escapeCharacter(character);
  });
  return result;
};

/** Collapses white space the way that CSS does (no-break space stays apart in layout, but reads as a space). */
const squeeze = (string) => string.replace(/[\t\n\f\r \u00a0]+/g, ' ').trim();

/** Cuts at a character border. */
const cut = (string, length) => {
  if (string.length <= length) return string;
  const end = /[\ud800-\udbff]/.test(string[length - 1]) ? length - 1 : length;
  return `${string.slice(0, end)}…`;
};

/** A quoted string of at most `length` characters that cannot leave its quotes. */
const quote = (string, length = 200) => {
  const short = cut(squeeze(string.length > 8 * length ? string.slice(0, 8 * length) : string), length);
  if (PLAIN.test(short)) return `"${short}"`;
  // The page's own backslashes are doubled first, so that an escape of ours cannot be imitated.
  return `"${squeeze(clean(short.replace(/\\/g, '\\\\'))).replace(/"/g, '\\"')}"`;
};

/** Form in which two strings are compared: what a person would call the same words. */
const fold = (string) => squeeze(string.replace(INVISIBLE, '')).toLowerCase();

/** A test for folded words in raw text that costs little where they are not in it. */
const holdsWords = (words) => {
  const pattern = words.split(' ').map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('[\\t\\n\\f\\r \\u00a0]+');
  const plain = new RegExp(pattern, 'iu');
  return (string) => plain.test(string) || (string.search(INVISIBLE) >= 0 && fold(string).includes(words));
};

/** The mark that stands for a ref in finished text; see `index.js`. */
const refMark = (id) => `\u0001e${id}\u0002`;
const frameMark = (id) => `\u0001f${id}\u0002`;
