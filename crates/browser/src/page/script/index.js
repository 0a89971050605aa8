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
// element for this action), "option" (no such option; the message lists those that exist), "timeout".
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
//   outline({id?, depth?, interactive?, maxChars?=10000, from?=0, fold?, budgetMs?=45})
//     → {lines: [string], from, next: number|null, above, below, atLeast: bool, fold: bool, frames: [id], shadows: n,
//        view: {x, y, width, height, pageWidth, pageHeight}, modal: bool, truncated: bool}
//     `from`: line to start with (null on the first call: the script may start at the viewport when the budget is short).
//     `next`: the `from` of the continuation, pass `fold` back with it. `above`/`below`: nodes left out on each side
//     (`atLeast`: the count is a lower bound since time ran out). `shadows`: elements that may hold a closed shadow root.
//   observe({maxChars?=6000, budgetMs?=45}) → the same shape: what is in the viewport and can be acted on, topmost layer
//     first, twins told apart by `in row "Ada"`, form state, last line `scroll …`.
//   text({id?, format?: "text"|"markdown", maxChars?=10000, offset?=0, budgetMs?=60})
//     → {text, next: number|null, total: number|null, frames: [id], shadows}; a frame stands as its mark on a line alone.
//   find({text?, role?, name?, label?, placeholder?, testId?, limit?=20, from?=0, budgetMs?=200})
//     → {matches: [{id, line, context}], more: n, next: number|null}
//   describe({id}) → {line, role, name, value, states: [string], rect}
//   frames() → {ids: [number]}; elements(ids) by `bathy.elements([id])` → array of elements (ask without returnByValue,
//     then Runtime.getProperties and DOM.describeNode{objectId} → node.frameId)
// SHADOW ROOTS AND LISTENERS (what the protocol alone knows)
//   adoptClosedRoots: `bathy.adoptClosedRoots(root, root, …)` with the ShadowRoot objects as call arguments → {ok: n}
//   adoptListeners({listeners: [{path: [int], tag, types: [string]}]}) → {known: n}: path from the document down, the index
//     among element children, -1 for "into the shadow root"; `bathy.adoptListenerNodes([types…], node, node…)` for handles.
//     getEventListeners of the command-line API sees only listeners of its own world (measured), so Rust asks
//     DOMDebugger.getEventListeners {document of this world, depth: -1, pierce: true} (all worlds, ~3 ms for 15,000 nodes)
//     and maps backend ids by DOM.resolveNode (few new ones) or DOM.describeNode {depth: -1, pierce: true} (many).
// ACTING
//   resolve({id}|{selector}) → {id, line, tag, kind, followed?}; kind: "text"|"date"|"range"|"color"|"checkbox"|"radio"|
//     "file"|"select"|"contenteditable"|"button"|"link"|"frame"|"other"
//   prepare({id, action: "click"|"hover"|"fill"|"select"|"drag"|"scroll"|"press", timeoutMs?=1500})
//     → {id, line, kind, x, y, rect: {x,y,width,height}, scrolled: bool, followed?, href?, target?, via?: line}
//     waits until attached, visible, stable and enabled, scrolls only if needed; x,y in this frame's viewport, in CSS px.
//     `via`: a visible label stands in for a hidden control. Errors as above.
//   hit({id, x, y}) → {hit: true} or {hit: false, cover: {id, line}, leaving: bool}; `leaving`: the cover is on its way out.
//   frameAt({id}) → {x, y, width, height, scaleX, scaleY}: content box of a frame owner, to turn the child's coordinates
//   focus({id}) → {focused: bool}
//   fillBegin({id, value, clear?=true})
//     → {done: true, value} for those set by value setter and input/change events (date, time, range, color, checkbox with
//       "true"/"false", select), or {done: false, kind, maxLength: number|null, value}: the field has focus and its contents
//       are selected; Rust sends Input.insertText (or a Delete key where value is empty) or keys
//   fillEnd({id}) → fires `change` if the page has not had it; {value}
//   value({id}) → {value} (what it holds now; passwords as bullets)
//   select({id, values: [string]}) → {selected: [label], changed: bool} or {listbox: true, options: [{id, line, selected}],
//     expand: bool}: an ARIA listbox, which Rust works by clicks
//   scroll({id?, direction: "up"|"down"|"left"|"right"|"top"|"bottom", amount?}) → {x, y, maxX, maxY, moved: bool, line?}
//   scrollPoint({id?}) → {x, y}: where a wheel event for this element would go
//   toggle state: describe({id}).states
// WAITING AND CHANGES
//   waitFor({text|textGone|id|gone: id, timeoutMs}) → {met: bool, waitedMs, line?}
//   watch({}) → {mark}: starts to watch; changes({mark, maxChars?=1500}) → {lines: ["+ …", "- …"], more: n, value?: string}
//     since mark; the lines compare the outline then and now
//   quiet({frames?=2, quietMs?=30, timeoutMs?=300}) → {quiet: bool, waitedMs}: no mutation and no running finite animation
//   layers() → {modal: line|null, focus: id|null, url, title, readyState}
//   audit({}) → {nodes: [{path: [int], role, name}]}: for the oracle test against Chromium's accessibility tree
