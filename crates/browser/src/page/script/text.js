// The visible text of a page or of one element, in reading order, as plain text or as Markdown.

const BLANK_AROUND = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'table', 'ul', 'ol', 'dl', 'blockquote', 'figure', 'fieldset', 'section', 'article', 'header', 'footer', 'main', 'nav', 'form']);

/** Collects text with collapsed white space, pending breaks and a prefix for each line. */
class Writer {
  constructor() {
    this.buffers = [{ text: '', flat: false }];
    this.breaks = 0;
    this.space = false;
    this.prefixes = [];
    this.length = 0;
  }

  get top() {
    return this.buffers[this.buffers.length - 1];
  }

  block(count) {
    if (this.top.text) this.breaks = Math.max(this.breaks, count);
    this.space = false;
  }

  /** Inline text; white space is collapsed unless `keep`. */
  write(string, keep = false) {
    const text = keep ? string.replace(/\r\n?/g, '\n') : string.replace(/[\t\n\f\r ]+/g, ' ');
    const body = keep ? text : text.replace(/^ | $/g, '');
    if (!keep && text.startsWith(' ')) this.space = true;
    if (!body) return;
    this.flush();
    if (this.space && this.top.text && !/\s$/.test(this.top.text)) this.put(' ');
    this.space = false;
    this.put(this.top.flat ? body.replace(/\s+/g, ' ') : keep ? body.replaceAll('\n', `\n${this.prefixes.join('')}`) : body);
    if (!keep && text.endsWith(' ') && text.length > 1) this.space = true;
  }

  flush() {
    if (this.breaks) {
      const prefix = this.prefixes.join('');
      if (this.top.flat) this.put(' ');
      else this.put(`\n${this.breaks > 1 ? `${prefix.trimEnd()}\n` : ''}${prefix}`);
      this.breaks = 0;
    } else if (!this.top.text && !this.top.flat) {
      this.put(this.prefixes.join(''));
    }
  }

  /** Finished inline text, after whatever is pending. */
  add(string) {
    this.flush();
    if (this.space && this.top.text && !/\s$/.test(this.top.text)) this.put(' ');
    this.space = false;
    this.put(string);
  }

  put(string) {
    this.top.text += string;
    this.length += string.length;
  }

  capture() {
    this.buffers.push({ text: '', flat: true, breaks: this.breaks, space: this.space });
    this.breaks = 0;
    this.space = false;
  }

  release() {
    const { text, breaks, space } = this.buffers.pop();
    this.breaks = breaks;
    this.space = space || /^\s/.test(text);
    this.length -= text.length;
    return text.trim();
  }
}

const text = ({ id, format = 'text', maxChars = 10000, offset = 0, budgetMs = 120 }) => {
  if (format !== 'text' && format !== 'markdown') throw new Refusal('invalid', 'format is "text" or "markdown"');
  const pass = new Pass(budgetMs);
  const found = id ? elementOf(pass, id) : { element: topModal(pass) ?? pageRoot(), followed: false };
  const reader = new Reader(pass, format === 'markdown', offset, maxChars);
  const complete = reader.read(found.element);
  const whole = reader.writer.buffers[0].text.replace(/[ \t]+\n/g, '\n').trim();
  let end = Math.min(offset + maxChars, whole.length);
  if (end < whole.length && /[\ud800-\udbff]/.test(whole[end - 1])) end -= 1;
  return {
    text: whole.slice(offset, end),
    next: end < whole.length || !complete ? end : null,
    total: complete ? whole.length : null,
    frames: reader.frames.map((frame) => ids.get(frame)),
    ...(found.followed ? { followed: sayElement(pass, found.element) } : {}),
  };
};

class Reader {
  constructor(pass, markdown, offset, maxChars) {
    this.pass = pass;
    this.markdown = markdown;
    this.offset = offset;
    this.limit = offset + maxChars;
    this.writer = new Writer();
    this.frames = [];
    this.lists = [];
    this.tables = [];
  }

  /** True when everything was read. The time limit holds once there is an answer to give: whoever goes on gets somewhere. */
  read(element) {
    const { pass } = this;
    const stack = [this.frame(factsOf(pass, element), null)];
    const hard = pass.deadline + HARD_MS;
    for (let seen = 1; stack.length; seen += 1) {
      if (this.writer.length > this.limit + 200 || ((seen & 31) === 0 && now() > hard + (this.writer.length > this.offset ? 0 : this.offset ? 4 * EMPTY_MS : EMPTY_MS))) {
        while (stack.length) stack.pop().end?.();
        return false;
      }
      const top = stack[stack.length - 1];
      const step = top.children.next();
      if (step.done) stack.pop().end?.();
      else if (isText(step.value)) this.text(top, step.value);
      else this.visit(stack, top, step.value);
    }
    return true;
  }

  frame(facts, end, keep = false) {
    return { facts, children: namingChildren(this.pass, facts.element), end, keep };
  }

  text(frame, node) {
    const string = data(node);
    if (!/\S/.test(string)) {
      if (frame.keep) this.writer.write(string, true);
      else this.writer.space = true;
      return;
    }
    if (!textShown(this.pass, frame.facts, node)) return;
    const keep = frame.keep || (string.includes('\n') && frame.facts.style.whiteSpaceCollapse !== 'collapse');
    const room = this.limit + 400 - this.writer.length;
    this.writer.write(clean(transformed(frame.facts, string.length > 4 * room ? string.slice(0, 4 * room) : string), keep), keep);
  }

  visit(stack, frame, element) {
    const { pass, writer, markdown } = this;
    const tag = tagOf(element);
    if (SKIPPED_TAGS.has(tag)) return;
    if (tag === 'br') {
      writer.block(1);
      if (!writer.top.text) writer.breaks = 0;
      return;
    }
    const facts = factsOf(pass, element);
    if (!facts.rendered || facts.opacity < 0.02) return;
    mayHoldClosedRoot(pass, facts, tag);
    if (VOID_CONTROLS.has(tag) || tag === 'img') {
      this.single(facts, tag, element);
      return;
    }
    if (facts.skipped) return;
    const ends = [];
    let keep = frame.keep;
    const isBlock = !facts.inline && !/^inline/.test(facts.display) && facts.display !== 'table-cell';
    if (isBlock) {
      const gap = BLANK_AROUND.has(tag) && !((tag === 'ul' || tag === 'ol') && this.lists.length) ? 2 : 1;
      writer.block(gap);
      ends.push(() => writer.block(gap));
    } else if (/^inline-(block|flex|grid|table)/.test(facts.display)) {
      writer.space = true;
      ends.push(() => { writer.space = true; });
    }
    if (tag === 'ul' || tag === 'ol' || tag === 'menu') {
      this.lists.push({ number: tag === 'ol' ? Number(attribute(element, 'start') ?? 1) || 1 : null });
      ends.push(() => this.lists.pop());
    } else if (tag === 'li' && !writer.top.flat) {
      this.item(ends);
    } else if (facts.display === 'table-row' && this.startRow(facts, ends)) {
      // Cells are collected, then written as one line.
    } else if (facts.display === 'table-cell' && this.tables.length && this.tables[this.tables.length - 1].cells) {
      const { cells } = this.tables[this.tables.length - 1];
      writer.capture();
      ends.push(() => cells.push(writer.release()));
    } else if (tag === 'table') {
      this.tables.push({ rows: 0, cells: null });
      ends.push(() => this.tables.pop());
    } else if (tag === 'pre') {
      keep = true;
      if (markdown && !writer.top.flat) this.fence(element, ends);
    } else if (markdown) {
      this.mark(tag, element, facts, ends);
    }
    stack.push(this.frame(facts, ends.length ? () => ends.reverse().forEach((end) => end()) : null, keep));
  }

  item(ends) {
    const { writer } = this;
    const list = this.lists[this.lists.length - 1];
    const sign = list?.number ? `${list.number++}. ` : '- ';
    writer.flush();
    if (writer.top.text && !/(^|\n)\s*$/.test(writer.top.text)) writer.block(1), writer.flush();
    writer.put(sign);
    writer.prefixes.push(' '.repeat(sign.length));
    ends.push(() => writer.prefixes.pop());
  }

  startRow(facts, ends) {
    const table = this.tables[this.tables.length - 1];
    if (!table || table.cells) return false;
    const { writer, markdown } = this;
    table.cells = [];
    ends.push(() => {
      const { cells } = table;
      table.cells = null;
      if (!cells.some(Boolean)) return;
      writer.block(1);
      writer.flush();
      if (!markdown) {
        writer.put(cells.join('\t'));
        return;
      }
      const row = (list) => `| ${list.join(' | ')} |`;
      writer.put(row(cells.map((cell) => cell.replaceAll('|', '\\|'))));
      if ((table.rows += 1) === 1) writer.put(`\n${writer.prefixes.join('')}${row(cells.map(() => '---'))}`);
    });
    return true;
  }

  /** A fence longer than any run of backticks inside. */
  fence(element, ends) {
    const { writer } = this;
    const runs = textContent(element).slice(0, 200000).match(/`{3,}/g) ?? [];
    const fence = '`'.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
    writer.flush();
    writer.put(`${fence}\n${writer.prefixes.join('')}`);
    ends.push(() => {
      if (!writer.top.text.endsWith('\n')) writer.put(`\n${writer.prefixes.join('')}`);
      writer.put(fence);
    });
  }

  /** Headings, emphasis, code, quotations and links. */
  mark(tag, element, facts, ends) {
    const { writer } = this;
    const level = /^h([1-6])$/.exec(tag);
    const wrap = (make) => {
      writer.capture();
      ends.push(() => {
        const inner = writer.release();
        if (inner) writer.add(make(inner));
      });
    };
    if (level) wrap((inner) => `${'#'.repeat(Number(level[1]))} ${inner}`);
    else if (tag === 'strong' || tag === 'b') wrap((inner) => `**${inner}**`);
    else if (tag === 'em' || tag === 'i') wrap((inner) => `*${inner}*`);
    else if (tag === 'code' || tag === 'kbd' || tag === 'samp') {
      wrap((inner) => {
        const run = '`'.repeat(Math.max(1, ...(inner.match(/`+/g) ?? []).map((ticks) => ticks.length + 1)));
        return run.length > 1 ? `${run} ${inner} ${run}` : `\`${inner}\``;
      });
    } else if (tag === 'blockquote' && !writer.top.flat) {
      writer.flush();
      if (!/(^|\n)[> ]*$/.test(writer.top.text)) writer.put('\n');
      writer.put('> ');
      writer.prefixes.push('> ');
      ends.push(() => writer.prefixes.pop());
    } else if (tag === 'a' && hasAttribute(element, 'href')) {
      const target = markdownTarget(element);
      if (target) wrap((inner) => `[${inner.replace(/([[\]])/g, '\\$1')}](${target})`);
    }
  }

  single(facts, tag, element) {
    const { pass, writer, markdown } = this;
    if (tag === 'hr') {
      writer.block(2);
      if (markdown && boxShown(pass, facts)) writer.write('---');
      writer.block(2);
      return;
    }
    if (tag === 'input' && inputType(element) === 'hidden') return;
    if (!boxShown(pass, facts)) return;
    if (tag === 'iframe' || tag === 'frame') {
      idOf(pass, element);
      this.frames.push(element);
      const wasFlat = writer.top.flat;
      if (!wasFlat) writer.block(1);
      writer.flush();
      writer.put(frameMark(ids.get(element)));
      if (!wasFlat) writer.block(1);
      return;
    }
    if (tag === 'img') {
      const alt = squeeze(attribute(element, 'alt') ?? '');
      if (markdown && alt) {
        writer.write(' ');
        writer.write(`![${clean(alt).replace(/([[\]])/g, '\\$1').slice(0, 200)}]`);
      }
      return;
    }
    const type = tag === 'input' ? inputType(element) : '';
    const shown = type === 'checkbox' || type === 'radio' ? (inputChecked(element) ? 'x' : ' ')
      : ['submit', 'button', 'reset'].includes(type) ? nameOf(pass, element).text : valueOf(element, roleOf(pass, element));
    writer.space = true;
    if (shown) writer.write(`[${clean(shown.slice(0, 2000))}]`);
    writer.space = true;
  }
}

const markdownTarget = (element) => {
  try {
    const address = new URL(linkTarget(element));
    if (address.protocol === 'javascript:' || address.protocol === 'data:') return null;
    return cut(address.href, 300).replace(/[()\s<>]/g, (character) => encodeURIComponent(character).replace('(', '%28').replace(')', '%29'));
  } catch {
    return null;
  }
};
