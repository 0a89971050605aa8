// One walk over the flat tree, without recursion and within its time, that keeps what a person can see or act on.

const SKIPPED_TAGS = new Set(['script', 'style', 'template', 'noscript', 'head', 'meta', 'link', 'title', 'datalist', 'param', 'source', 'track', 'base', 'noembed', 'noframes', 'rp', 'wbr', 'area']);

/** Roles that say nothing by themselves: their contents stand where they are. */
const TRANSPARENT = new Set(['generic', 'none', 'layout', 'paragraph', 'strong', 'emphasis', 'code', 'deletion', 'insertion', 'subscript', 'superscript', 'mark', 'time', 'term',
  'definition', 'label', 'legend', 'rowgroup', 'caption', 'pre', 'abbr', 'document', 'figcaption', 'sectionheader', 'sectionfooter', 'suggestion',
  'note', 'graphics-object', 'graphics-document', 'object', 'presentation', 'comment']);
/** Structure that is listed only with a name. */
const NEEDS_NAME = new Set(['form', 'group', 'figure', 'img', 'math', 'blockquote', 'article', 'radiogroup', 'toolbar', 'application', 'feed', 'graphics-symbol']);
const VOID_CONTROLS = new Set(['input', 'textarea', 'select', 'meter', 'progress', 'canvas', 'video', 'audio', 'iframe', 'frame', 'object', 'embed', 'hr']);
const TEXT_KEEP = 6000;
/** A walk that has not found enough when its time is up goes on for so long. */
const HARD_MS = 150;
/** And for so long where it has found nothing at all. */
const EMPTY_MS = 2000;

class Entry {
  constructor(facts, role, reason) {
    this.facts = facts;
    this.element = facts ? facts.element : null;
    this.role = role;
    this.reason = reason;
    this.kids = [];
    this.text = null;
    this.closed = false;
    this.inView = false;
    this.name = null;
    this.label = null;
  }
}

class Tree {
  constructor(pass, { from = null, enough = Infinity } = {}) {
    this.pass = pass;
    this.from = from;
    this.enough = enough;
    this.entries = 0;
    this.chars = 0;
    this.base = from === null && pass.view.y <= 0 ? 0 : null;
    this.stopped = false;
    this.grace = 0;
    this.frames = [];
    this.controls = new Set();
  }

  /** Builds the tree below an element, or below the document. */
  build(element) {
    const facts = factsOf(this.pass, element);
    const root = new Entry(facts, 'root', null);
    const stack = [{ facts, children: namingChildren(this.pass, element), into: root, block: true, mute: null, finish: null }];
    const hard = this.pass.deadline + HARD_MS + 2 * Math.max(this.pass.deadline - now(), 0);
    for (let seen = 1; stack.length; seen += 1) {
      const top = stack[stack.length - 1];
      if ((seen & 15) === 0 && this.full(hard)) {
        this.stopped = true;
        for (const frame of stack) frame.into.open = true;
        while (stack.length) this.leave(stack.pop());
        break;
      }
      const step = top.children.next();
      if (step.done) this.leave(stack.pop());
      else if (isText(step.value)) this.addText(top, step.value);
      else this.visit(stack, top, step.value);
    }
    return root;
  }

  full(hard) {
    const time = now();
    if (time > hard) {
      // Far down an empty tree each step is dear; an answer needs something to say, and what stands beside it.
      if (this.entries === 0) this.grace = time + HARD_MS;
      return time > Math.min(this.grace, hard + EMPTY_MS);
    }
    return time > this.pass.deadline && this.base !== null && this.chars - this.base > this.enough;
  }

  leave(frame) {
    if (frame.block) closeText(frame.into);
    if (frame.finish) frame.finish();
  }

  add(into, entry) {
    closeText(into);
    into.kids.push(entry);
    this.entries += 1;
    this.chars += 24;
    this.seen(entry);
  }

  seen(entry) {
    if (this.base !== null) return;
    if (this.from === null ? entry.inView : this.entries >= 2 * this.from) this.base = this.chars;
  }

  addText(frame, node) {
    const { into, facts } = frame;
    const string = data(node);
    if (!/\S/.test(string)) {
      const last = into.kids[into.kids.length - 1];
      if (last && last.text !== null && !last.closed) last.text += ' ';
      else into.gap = true;
      return;
    }
    if (frame.mute === true || !textShown(this.pass, facts, node)) return;
    if (frame.mute && within(frame.mute, string)) return;
    const last = into.kids[into.kids.length - 1];
    const piece = string.length > TEXT_KEEP ? string.slice(0, TEXT_KEEP) : string;
    this.chars += Math.min(string.length, 320);
    if (last && last.text !== null && !last.closed) {
      if (last.text.length < TEXT_KEEP) last.text += piece;
      last.size += string.length;
      return;
    }
    if (!clean(squeeze(piece.slice(0, 2000)))) return;
    const entry = new Entry(null, 'text', null);
    entry.text = piece;
    entry.size = string.length;
    entry.element = facts.element;
    entry.inView = !facts.fixed && inView(this.pass, textRect(this.pass, node));
    into.kids.push(entry);
    this.entries += 1;
    this.chars += 8;
    this.seen(entry);
  }

  visit(stack, frame, element) {
    const { pass } = this;
    const tag = tagOf(element);
    if (SKIPPED_TAGS.has(tag)) return;
    const facts = factsOf(pass, element);
    const { into } = frame;
    if (tag === 'br') {
      const last = into.kids[into.kids.length - 1];
      if (last && last.text !== null && !last.closed) last.text += '\n';
      return;
    }
    if (!facts.rendered) return;
    if (facts.opacity < 0.02) {
      if (standsIn(pass, facts, tag)) this.control(frame, facts, element);
      return;
    }
    mayHoldClosedRoot(pass, facts, tag);
    if (tag === 'label' && this.label(stack, frame, facts)) return;
    const role = roleOf(pass, element);
    const reason = facts.visible ? clickReason(pass, facts, role) ?? (scrollsByKeys(facts, role) ? 'scroll' : null) : null;
    if (tag === 'img' && hasAttribute(element, 'usemap')) {
      if (role === 'img' || reason) this.single(stack, frame, facts, role, reason, tag);
      this.areas(frame, facts);
      return;
    }
    if (VOID_CONTROLS.has(tag) || role === 'img') {
      this.single(stack, frame, facts, role, reason, tag);
      return;
    }
    const plain = !reason && (TRANSPARENT.has(role) || (NEEDS_NAME.has(role) && !nameOf(pass, element).text) || !facts.visible);
    // What has no box of its own to be seen counts by what is seen in it.
    if (plain || (!boxShown(pass, facts) && facts.display !== 'contents' && !hasShownContents(pass, facts))) {
      this.through(stack, frame, facts);
      return;
    }
    this.container(stack, frame, facts, role, reason);
  }

  /** Contents of no meaning of their own: a block of theirs still ends the line of text. */
  through(stack, frame, facts) {
    const block = !facts.inline;
    if (block) closeText(frame.into);
    if (facts.skipped && tagOf(facts.element) !== 'details') return;
    stack.push({ facts, children: namingChildren(this.pass, facts.element), into: frame.into, block, mute: frame.mute, finish: null });
  }

  container(stack, frame, facts, role, reason) {
    const { pass } = this;
    const entry = new Entry(facts, role, reason);
    if (reason) entry.inView = !facts.fixed && inView(pass, (facts.rect ??= rectOf(facts.element)));
    let mute = frame.mute;
    if (!reason && CELLS.has(role) && !hasAttribute(facts.element, 'aria-label') && !hasAttribute(facts.element, 'aria-labelledby')) {
      entry.name = nothing;
    } else if (!TRANSPARENT.has(role)) {
      entry.name = nameOf(pass, facts.element);
      this.chars += Math.min(entry.name.text.length, 160);
      if (entry.name.text && NAMED_BY_CONTENTS.has(role) && (reason || !CELLS.has(role))) {
        // Only a control may be called by words that nobody sees; a heading says what it shows.
        entry.asShown = !reason && entry.name.from === 'contents';
        const long = entry.name.text.length > 160 && role !== 'heading';
        mute = long || entry.asShown ? mute : entry.name.from === 'contents' ? true : ` ${fold(entry.name.text)} `;
      } else if (entry.name.from === 'caption' || entry.name.from === 'label' || entry.name.from === 'labelledby') {
        mute = null;
        entry.caption = fold(entry.name.text);
      }
    }
    this.add(frame.into, entry);
    const editor = editingHost(facts.element);
    if ((editor || role === 'combobox') && mute === null) mute = true;
    const finish = () => this.settle(frame.into, entry);
    if (facts.skipped) return;
    stack.push({ facts, children: namingChildren(pass, facts.element), into: entry, block: true, mute, finish });
  }

  /** When the contents of a clickable thing without a role are known: one thing, one entry. */
  settle(into, entry) {
    const { kids } = entry;
    if (entry.caption && kids.length && kids[0].text !== null && fold(kids[0].text) === entry.caption) kids.shift();
    if (entry.asShown) {
      entry.name = { text: squeeze(kids.map((kid) => kid.text ?? kid.name?.text ?? '').join(' ')), from: 'contents' };
      entry.kids = kids.filter((kid) => kid.text === null && !(kid.role === 'img' && !kid.reason));
      return;
    }
    if (entry.name?.text || !entry.reason || entry.reason === 'scroll') return;
    if (into.kids[into.kids.length - 1] !== entry) return;
    if (kids.length === 1 && kids[0].text === null && kids[0].reason && kids[0].reason !== 'scroll' && entry.reason !== 'focus' && TRANSPARENT.has(entry.role)) {
      into.kids[into.kids.length - 1] = kids[0];
      return;
    }
    if (kids.every((kid) => kid.text !== null || (kid.role === 'img' && !kid.reason))) {
      const words = squeeze(kids.map((kid) => kid.text ?? kid.name?.text ?? '').join(' '));
      if (words.length <= 160) {
        entry.name = { text: nameOf(this.pass, entry.element).text || words, from: 'contents' };
        if (within(` ${fold(entry.name.text)} `, words) || !words) entry.kids = [];
      }
    }
  }

  /** Things without contents of the page's own: fields, pictures, players, frames, rules. */
  single(stack, frame, facts, role, reason, tag) {
    const { pass } = this;
    const { element } = facts;
    if (tag === 'input' && inputType(element) === 'hidden') return;
    const shown = boxShown(pass, facts);
    if (!shown) {
      // A closer look at fields that are drawn by something else in their place.
      if (tag === 'input' && standsIn(pass, facts, tag)) this.control(frame, facts, element);
      else if (tag === '' || role === 'img') this.through(stack, frame, facts);
      return;
    }
    if (tag === 'iframe' || tag === 'frame') {
      const entry = new Entry(facts, 'iframe', null);
      entry.name = nameOf(pass, element);
      entry.frame = true;
      entry.inView = !facts.fixed && inView(pass, facts.rect);
      this.frames.push(element);
      this.add(frame.into, entry);
      return;
    }
    if (tag === 'hr') {
      closeText(frame.into);
      return;
    }
    if (role === 'none' && !reason) return;
    const name = nameOf(pass, element);
    if (role === 'img' && !reason && !name.text) {
      if (localName(element) === 'svg' || tag !== 'img') this.through(stack, frame, facts);
      else if (facts.rect.width >= 32 && facts.rect.height >= 32 && frame.mute !== true) this.entry(frame, facts, role, null, name);
      return;
    }
    // A picture that is already part of the name around it is not said twice.
    if (role === 'img' && !reason && (frame.mute === true || (frame.mute && within(frame.mute, name.text)))) return;
    if (role === 'object') return;
    const entry = this.entry(frame, facts, role, reason, name);
    if (tag === '' && firstElement(element)) {
      const mute = name.text ? true : frame.mute;
      stack.push({ facts, children: namingChildren(pass, element), into: entry, block: true, mute, finish: () => this.settle(frame.into, entry) });
    }
  }

  entry(frame, facts, role, reason, name) {
    const entry = new Entry(facts, role, reason);
    entry.name = name;
    entry.inView = !facts.fixed && inView(this.pass, (facts.rect ??= rectOf(facts.element)));
    this.chars += name.text.length;
    this.add(frame.into, entry);
    return entry;
  }

  /** The areas of the map over a picture, each once, with the picture that it is drawn on. */
  areas(frame, picture) {
    const { pass } = this;
    for (const area of areasOf(picture.element)) {
      const facts = factsOf(pass, area);
      if (facts.parent !== picture || this.controls.has(area)) continue;
      this.controls.add(area);
      const role = roleOf(pass, area);
      const reason = boxShown(pass, facts) ? clickReason(pass, facts, role) : null;
      if (reason) this.entry(frame, facts, role, reason, nameOf(pass, area));
    }
  }

  /** A control that is hidden itself while something visible stands for it: listed once, where that stands. */
  control(frame, facts, element) {
    if (this.controls.has(element)) return;
    this.controls.add(element);
    const role = roleOf(this.pass, element);
    const entry = new Entry(facts, role, 'widget');
    entry.name = nameOf(this.pass, element);
    this.add(frame.into, entry);
  }

  /** True when the label was dealt with. */
  label(stack, frame, facts) {
    const { pass } = this;
    const control = labelControl(facts.element);
    if (!control || !facts.visible) return false;
    const name = nameOf(pass, control);
    const controlFacts = factsOf(pass, control);
    const type = tagOf(control) === 'input' ? inputType(control) : '';
    const hidden = !boxShown(pass, controlFacts);
    const standIn = hidden && ['checkbox', 'radio', 'file'].includes(type) && hasShownContents(pass, facts);
    const into = frame.into;
    closeText(into);
    if (standIn) this.control(frame, controlFacts, control);
    else if (hidden) return false;
    const mute = name.from === 'label element' ? true : name.text ? ` ${fold(name.text)} ` : frame.mute;
    stack.push({ facts, children: namingChildren(pass, facts.element), into, block: true, mute, finish: null });
    return true;
  }
}

const closeText = (into) => {
  const last = into.kids[into.kids.length - 1];
  if (last && last.text !== null) last.closed = true;
};

/** Is every word of `piece` already said, in this order, in the folded and space-padded `said`? */
const within = (said, piece) => {
  const words = fold(piece);
  return !words || said.includes(` ${words} `) || (words.length > 3 && said.includes(words));
};

const inView = (pass, rect) => rect.bottom > 0 && rect.right > 0 && rect.top < pass.view.height && rect.left < pass.view.width;

/** Anything in there that a person sees? Looks at a bounded number of descendants. */
const hasShownContents = (pass, facts) => {
  const queue = [facts.element];
  for (let seen = 0; queue.length && seen < 60; seen += 1) {
    const element = queue.shift();
    const one = factsOf(pass, element);
    if (!one.rendered) continue;
    if (boxShown(pass, one) && !one.inline) return true;
    for (const child of flatChildren(element)) {
      if (isText(child)) {
        if (/\S/.test(data(child)) && textShown(pass, one, child)) return true;
      } else if (queue.length < 60) {
        queue.push(child);
      }
    }
    if (one.inline && boxShown(pass, one)) return true;
  }
  return false;
};

/** A transparent or sizeless checkbox, radio or file field over something that is drawn in its place. */
const standsIn = (pass, facts, tag) => {
  if (tag !== 'input' && tag !== 'select') return false;
  const { element } = facts;
  if (tag === 'input' && !['checkbox', 'radio', 'file', 'range', 'color'].includes(inputType(element))) return false;
  if (facts.parent && facts.parent.opacity < 0.02) return false;
  if (labelsOf(element).some((label) => hasShownContents(pass, factsOf(pass, label)))) return true;
  const rect = rectOf(element);
  if (rect.width < 4 || rect.height < 4 || facts.style.pointerEvents === 'none' || facts.style.visibility !== 'visible') return false;
  for (const other of [previousElement(element), nextElement(element)]) {
    if (!other) continue;
    const box = rectOf(other);
    if (box.left < rect.right && box.right > rect.left && box.top < rect.bottom && box.bottom > rect.top && boxShown(pass, factsOf(pass, other))) return true;
  }
  return false;
};

const SHADOW_TAGS = new Set(['article', 'aside', 'blockquote', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p', 'section', 'span']);

/** Only the protocol sees closed roots. In a large document it is asked about a plain element only where something shows that
 *  nothing we see explains: a size, or a place that its children do not start or end at. */
const mayHoldClosedRoot = (pass, facts, tag) => {
  const { element } = facts;
  const custom = tag.includes('-');
  if (!custom && !SHADOW_TAGS.has(tag)) return;
  if (checkedHosts.has(element) || shadowOf(element)) return;
  if (!custom && !pass.small && explained(pass, facts)) return;
  suspects.add(element);
};

/** Is what a plain element shows the work of the children that we see? */
const explained = (pass, facts) => {
  const { element } = facts;
  const child = firstChild(element);
  if (!child) return facts.display === 'contents' || tooSmall(pass, facts) || sizeIsOwn(pass, facts);
  // A child that has no style is not in the flat tree, so something hides it.
  for (let one = child, seen = 0; one && seen < 3; one = nextSibling(one), seen += 1) if (nodeType(one) === 1) return factsOf(pass, one).display !== '' && framed(pass, facts);
  if (facts.display === 'contents' || tooSmall(pass, facts)) return true;
  if (isText(child) && !nextSibling(child)) {
    if (textRect(pass, child).height > 0) return framed(pass, facts);
  } else {
    pass.range.selectNodeContents(element);
    if (pass.range.getBoundingClientRect().height > 0) return framed(pass, facts);
  }
  for (let text = child; text; text = nextSibling(text)) if (isText(text) && /\S/.test(data(text))) return false;
  return sizeIsOwn(pass, facts);
};

const tooSmall = (pass, facts) => {
  const rect = (facts.rect ??= rectOf(facts.element));
  return rect.width < 2 || rect.height < 2;
};

/** Do the few children of a block fill its height? (Widths follow the line, margins and alignment.) */
const framed = (pass, facts) => {
  const { element, style } = facts;
  if (facts.inline || !FRAMES_CHILDREN.has(tagOf(element)) || !/^(block|flow-root)$/.test(facts.display) || childElementCount(element) > 3) return true;
  const box = (facts.rect ??= rectOf(element));
  const start = box.top + clientTop(element) + parseFloat(style.paddingTop);
  const end = start + clientHeight(element) - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  // Within 8 px, and the margins of the first child and the last.
  let before = null;
  let after = 0;
  for (let child = firstChild(element), seen = 0; child; child = nextSibling(child), seen += 1) {
    if (seen > 8) return true;
    let rect = null;
    let margins = [0, 0];
    if (nodeType(child) === 1) {
      const one = factsOf(pass, child);
      if (/^(absolute|fixed|sticky)$/.test(one.position) || one.style.float !== 'none') return true;
      rect = (one.rect ??= rectOf(child));
      margins = [one.style.marginTop, one.style.marginBottom].map((margin) => parseFloat(margin) || 0);
    } else if (isText(child) && /\S/.test(data(child))) {
      rect = textRect(pass, child);
    }
    if (!rect || rect.height === 0) continue;
    before ??= rect.top - start - margins[0];
    after = end - rect.bottom - margins[1];
  }
  if (before === null || (before < 8 && after < 8)) return true;
  const given = computedMap(element);
  return ['height', 'min-height', 'aspect-ratio'].some((name) => !/^(auto|0px|0)$/.test(String(given.get(name) ?? 'auto')));
};

const FRAMES_CHILDREN = new Set(['div', 'section', 'article', 'aside', 'main']);

/** Looks for hosts of closed roots where no tree is built; a visitor for `scopes`. */
const suspectHosts = (pass) => {
  let looked = 0;
  return (element) => {
    const name = localName(element);
    if (!name.includes('-') && !SHADOW_TAGS.has(name)) return;
    if ((looked += 1) > (pass.small || name.includes('-') ? 3000 : 300) || pass.late || checkedHosts.has(element)) return;
    const facts = factsOf(pass, element);
    if (facts.rendered) mayHoldClosedRoot(pass, facts, tagOf(element));
  };
};

/** Is the size of an empty box given by its own style? */
const sizeIsOwn = (pass, facts) => {
  const { element, style } = facts;
  if (clientHeight(element) - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom) < 1 && !facts.inline) return true;
  const given = computedMap(element);
  const set = (name) => !/^(auto|none|0|0px|normal)$/.test(String(given.get(name) ?? 'auto'));
  return set('height') || set('min-height') || set('aspect-ratio') || (generates(pass, element) && ['::before', '::after'].some((which) => generated(element, which)[0] !== ''));
};
const computedMap = method(Element.prototype, 'computedStyleMap');
