// The page script's face: one object, `bathy`, in an isolated world of each frame.
//
// The files of this folder are joined in the order of `page/mod.rs` into one function, which is evaluated once for each
// document in a world of its own. Nothing here touches the page's world: no global, attribute, style, element or event
// handler of ours is ever visible to it.
//
// HOW TO CALL. `bathy.call(name, argument)` with one JSON argument; the answer (await the promise) is
//     {ok: RESULT}  or  {error: {code, message, line?}}
// codes: "stale" (the ref's element is gone), "none" (nothing matches), "invalid" (bad argument: selector, value),
// "hidden", "disabled", "readonly", "unstable", "unreachable" (cannot be scrolled into view), "kind" (wrong sort of
// element for this action), "option" (no such option; the message lists those that exist), "timeout", "excess" (too much text).
//
// IDS AND MARKS. An element is named by a local id, a positive integer of this document. Finished text (every `line`,
// `lines`, `context`, `message`, `text`) has every string of the page escaped, and never holds a control character except
// our marks, one private pair: U+0001 "e" ID U+0002 stands for the ref of element ID (Rust writes `@e12`), and
// U+0001 "f" ID U+0002 for the contents of the frame owner ID (Rust splices the child's lines one level deeper below that
// line, or says why it cannot, and drops the mark). `line`s carry no line break, two spaces for each level.
//
// FOLLOWED. Where a ref's element was replaced by its framework and exactly one twin is found, the result holds
// `followed: LINE` (the twin's outline line); the id then names the twin.
//
// READING
//   outline({id?, depth?, interactive?, maxChars?=10000, from?=0, fold?, budgetMs?=25})
//     → {lines: [string], from, next: number|null, above, below, atLeast: bool, fold: number, frames: [id],
//        view: {x, y, width, height, pageWidth, pageHeight}, modal: bool, truncated: bool}
//     `from`: line to start with (null on the first call: the script may start at the viewport when the budget is short).
//     `next`: the `from` of the continuation, pass `fold` back with it. `above`/`below`: nodes left out on each side
//     (`atLeast`: the count is a lower bound since time ran out).
//   observe({maxChars?=6000, full?, budgetMs?=25}) → the same shape: what changed since the last call, what is in the viewport (`full`: on
//     the page) and can be acted on, topmost layer first, twins told apart by `in row "Ada"`, form state, last line `scroll …`.
//   text({id?, format?: "text"|"markdown", maxChars?=10000, offset?=0, budgetMs?=120})
//     → {text, next: number|null, total: number|null, frames: [id]}; a frame stands as its mark on a line alone.
//   find({text?, role?, name?, label?, placeholder?, testId?, limit?=20, from?=0, budgetMs?=200})
//     → {matches: [{id, line, context}], more: n, next: number|null}
//   describe({id}) → {line, role, name, value, states: [string], rect}
//   frames() → {ids: [number]}; `bathy.windows([id])` → array of windows (ask with deep serialization, which tells their frames)
// SHADOW ROOTS AND LISTENERS (what the protocol alone knows; see asking.js)
//   `bathy.read(name, argument, {listening?: [number], batches?: [[batch, [number]]], nodes?: [number], frames: n}, ...handles)` is
//     `call` for readings. Ask with deep serialization: windows come with the ids of their frames, elements with the browser's numbers
//     and with their closed roots. No more is handed out than `frames` windows.
//     getEventListeners of the command-line API sees only listeners of its own world (measured), so Rust asks
//     DOMDebugger.getEventListeners {`document` of the MAIN world (an unforgeable own property), depth: -1, pierce: true}
//     (all worlds and the frames of the same process, ~3 ms for 15,000 nodes). With the document of this world Chromium 156 makes
//     wrappers of the main world's prototypes here (measured), which every accessor then refuses: never ask with that.
// ACTING
//   resolve({id}|{selector}) → {id, line, tag, kind, followed?}; kind: "text"|"date"|"range"|"color"|"checkbox"|"radio"|
//     "file"|"select"|"contenteditable"|"button"|"link"|"frame"|"other"
//   prepare({id, action: "click"|"hover"|"fill"|"select"|"drag"|"scroll"|"press", timeoutMs?=1500, watch?: bool})
//     → {id, line, kind, x, y, rect: {x,y,width,height}, scrolled: bool, promising: bool, mark, followed?, href?, target?, via?: line, download?: {url, name}}
//     `promising`: an action on it is bound to have an effect, if not at once; `mark`: with `watch`, as of watch().
//     waits until attached, visible, stable and enabled, scrolls only if needed; x,y in this frame's viewport, in CSS px.
//     `via`: a visible label stands in for a hidden control. Errors as above.
//   hit({id, x, y, guard?: bool}) → {hit: true} (with `guard` the next press is watched over, see guard.js) or {hit: false, cover: {id, line}, leaving: bool}; `leaving`: the cover is on its way out.
//   viewport() → {width, height}: of this frame, in its own CSS px; reveal({id, x, y}) → {scrolled: bool}: scrolls a point of a
//     frame owner into view; drawn() → {}: once it is on the screen; pointed({x, y}) → {pointed: bool}: the pointer was seen there; `bathy.name(element)` → id, for an owner that the protocol found
//   focus({id}) → {focused: bool}
//   fileInput({id}) → {id: number|null}: the file input that the element is, labels or holds
//   fillSecret({id, value}) → {holds: bool}: set at once, in this document alone
//   fillBegin({id, value, clear?=true})
//     → {done: true, value} for those set by value setter and input/change events (date, time, range, color, checkbox with
//       "true"/"false", select), or {done: false, kind, focused, maxLength: number|null, value}: the field has focus and its contents
//       are selected; Rust sends Input.insertText (or a Delete key where value is empty) or keys
//   fillEnd({id}) → fires `change` if the page has not had it; {value}
//   value({id}) → {value} (what it holds now; passwords as bullets)
//   select({id, values: [string]}) → {selected: [label], changed: bool} or {listbox: true, options: [{id, name, match, selected, disabled}],
//     expand: bool}: an ARIA listbox, which Rust works by clicks
//   scroll({id?, direction: "up"|"down"|"left"|"right"|"top"|"bottom", amount?}) → {x, y, maxX, maxY, moved: bool, line?}
//   scrollPoint({id?, direction}) → {pointX, pointY, step, x, y, maxX, maxY}: where a wheel event goes, most of a view, the place
//   scrolled({id?, direction, x, y}) → {x, y, maxX, maxY, moved}: once the wheel's scroll from x, y has come to rest
//   toggle state: describe({id}).states
// PICTURES
//   labels({area?: {x, y, width, height}, limit?=100, budgetMs?=1000}) → {labels: [{id, line, rect, point?}], more: n, frames: [id], view}
//     what can be acted on and is drawn, not covered; `area` in coordinates of the whole page, or else what is in the viewport;
//     `rect` in the viewport's coordinates; `point`: where it was met; view: {x, y, width, height}, the scroll position and the size
//   stands({points: [{id, x, y}]}) → {stands: [bool]}: whether the frame owner is what is met there
//   writing({print?: bool}) → {text, mark, view}, or "excess": all that the document has in writing, whether it shows or not;
//     with `print`, also what only a print would have
//   spots({mark, ranges: [[from, to]]}) → {rects: [{x, y, width, height}], astray: bool}: where parts of that text are drawn;
//     `astray`: where some of it is drawn cannot be said
// WAITING AND CHANGES
//   waitFor({text|textGone|id|gone: id, timeoutMs}) → {met: bool, waitedMs, line?}
//   watch({last?}) → {mark}: starts to watch, with `last` as of the last look; settle({mark, maxChars?, timeoutMs?=300}) → {lines: ["+ …", "- …", "~ …"], more: n,
//     quiet: bool, press: {outcome: "target"|"pressed"|"other"|"none", line?}, closing: bool, download?: {url, name}}: since mark, once the page has come to rest
//   stir({mark?, timeoutMs, enter?}) → {stirred: bool}: once something changes since mark
//   layers() → {modal: line|null, focus: id|null, url, title, readyState}
//   audit({}) → {nodes: [{path: [int], role, name}]}: for the oracle test against Chromium's accessibility tree

const frames = () => {
  const pass = new Pass(100);
  const found = [];
  for (const scope of scopes()) for (const element of queryAll(scope, 'iframe,frame')) if (found.length < 1000) found.push(idOf(pass, element));
  return { ids: found };
};

const pathOf = (element) => {
  const path = [];
  for (let node = element; node; ) {
    let index = 0;
    for (let before = previousElement(node); before; before = previousElement(before)) index += 1;
    path.unshift(index);
    const parent = parentNode(node);
    if (isElement(parent)) node = parent;
    else if (parent instanceof ShadowRoot) {
      path.unshift(-1);
      node = shadowHost(parent);
    } else break;
  }
  return path;
};

/** Roles and names of everything that the walk can see, for comparison with Chromium's own tree. */
const audit = () => {
  const pass = new Pass(20000);
  const nodes = [];
  for (const scope of scopes()) {
    for (const element of queryAll(scope, '*')) {
      if ((SKIPPED_TAGS.has(tagOf(element)) && tagOf(element) !== 'area') || pass.late) continue;
      const facts = factsOf(pass, element);
      if (!facts.rendered) continue;
      const role = roleOf(pass, element);
      const reason = facts.rendered ? clickReason(pass, facts, role) : null;
      nodes.push({ path: pathOf(element), tag: localName(element), role, name: clean(nameOf(pass, element).text), reason, shown: boxShown(pass, facts) || standsIn(pass, facts, tagOf(element)) || (facts.visible && hasShownContents(pass, facts)), ref: ids.get(element) ?? null });
    }
  }
  return { nodes };
};

const functions = { fileInput, outline, observe, text, find, describe, frames, resolve, prepare, hit, viewport, reveal, drawn, pointed, focus, fillBegin, fillSecret, fillEnd, value, select, scroll, scrollPoint, scrolled, waitFor, watch, settle, stir, layers, audit, labels, stands, writing, spots };

const answer = (problem) => {
  if (problem instanceof Refusal) {
    return { error: { code: problem.code, message: problem.message, ...(problem.line ? { line: problem.line } : {}) } };
  }
  return { error: { code: 'script', message: clean(String(problem?.stack ?? problem)).slice(0, 500) } };
};

const bathy = {
  call(name, argument) {
    try {
      if (!Object.hasOwn(functions, name)) throw new Refusal('invalid', 'no such function');
      const result = functions[name](argument ?? {});
      return result instanceof Promise ? result.then((ok) => ({ ok }), answer) : { ok: result };
    } catch (problem) {
      return answer(problem);
    }
  },
  element: (id) => references.get(id)?.element.deref() ?? null,
  name: (element) => idOf(new Pass(100), element),
  /** A reading. Its answer is a string of JSON, or an array where something is handed out: the string, the windows of the frames
   *  in the order of `frames`, then the elements of `batch`. */
  read(name, argument, told, ...handles) {
    takeIn(told, handles);
    const answer = this.call(name, argument);
    if (answer.error) return JSON.stringify(answer);
    const windows = windowsOf((answer.ok.frames ?? []).slice(0, told.frames));
    const { batch, elements } = toAsk();
    if (!windows.length && !elements.length) return JSON.stringify(answer);
    handed.push(JSON.stringify({ ...answer, batch }), ...windows, ...elements);
    return handed;
  },
  windows(ids) {
    handed.splice(0, handed.length, ...windowsOf(ids));
    return handed;
  },
};
// An element of that name would be found in its place.
Object.defineProperty(globalThis, 'bathy', { value: bathy });
