// Text in the colour of what is behind it is hidden text. The other way round counts more: where the background is not
// surely known (pictures, gradients, things painted from elsewhere), text is taken to be visible.

/** Computed colour → [red, green, blue, alpha]; colours are few, so they are remembered for good. */
const inks = new Map();
let canvas = null;

const colour = (value) => {
  let known = inks.get(value);
  if (known) return known;
  const plain = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(value);
  known = plain ? [Number(plain[1]), Number(plain[2]), Number(plain[3]), plain[4] === undefined ? 1 : Number(plain[4])] : paint(value);
  if (inks.size > 2000) inks.clear();
  inks.set(value, known);
  return known;
};

/** Other colour spaces are left to the browser: one pixel on a canvas that is in no document. */
const paint = (value) => {
  canvas ??= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = value;
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
};

/** The colour behind the contents of an element, or null where it cannot be known from styles. */
const backgroundOf = (facts) => {
  const chain = [];
  let at = facts;
  while (at && at.background === undefined) {
    chain.push(at);
    at = at.parent;
  }
  let behind = at ? at.background : [255, 255, 255, 1];
  for (let index = chain.length - 1; index >= 0; index -= 1) {
    const one = chain[index];
    const own = colour(one.style.backgroundColor);
    if (own[3] > 0) behind = own[3] >= 0.99 ? own : behind && mix(own, behind);
    one.background = behind;
  }
  return behind;
};

const mix = (above, below) => [0, 1, 2].map((part) => above[part] * above[3] + below[part] * (1 - above[3])).concat(1);
const close = (a, b) => Math.abs(a[0] - b[0]) <= 10 && Math.abs(a[1] - b[1]) <= 10 && Math.abs(a[2] - b[2]) <= 10;

const inkDiffers = (pass, facts, rect) => {
  const ink = colour(facts.style.webkitTextFillColor);
  const behind = backgroundOf(facts);
  if (!behind || (ink[3] > 0.03 && !close(ink[3] < 1 ? mix(ink, behind) : ink, behind))) return true;
  return decorated(facts) || paintedBehind(pass, facts, rect);
};

/** Shadows, strokes and backgrounds clipped to the text show letters that have no colour of their own. */
const decorated = (facts) => {
  const { style } = facts;
  if (style.textShadow !== 'none' || (parseFloat(style.webkitTextStrokeWidth) > 0 && colour(style.webkitTextStrokeColor)[3] > 0)) return true;
  if (style.mixBlendMode !== 'normal') return true;
  for (let at = facts, depth = 0; at && depth < 40; at = at.parent, depth += 1) {
    if (at.style.backgroundImage !== 'none') return true;
    if (at.style.webkitBackgroundClip === 'text' && colour(at.style.backgroundColor)[3] > 0) return true;
    if (colour(at.style.backgroundColor)[3] >= 0.99) return false;
  }
  return false;
};

const PICTURES = 'img,picture,video,canvas,svg,iframe,object,embed';

/** Is something else painted under this text that it may stand out from? */
const paintedBehind = (pass, facts, rect) => {
  const x = (Math.max(rect.left, 0) + Math.min(rect.right, pass.view.width)) / 2;
  const y = (Math.max(rect.top, 0) + Math.min(rect.bottom, pass.view.height)) / 2;
  const inView = rect.left < pass.view.width && rect.right > 0 && rect.top < pass.view.height && rect.bottom > 0;
  const others = inView ? documentAllAt(document, x, y).slice(0, 40) : nearby(facts, rect);
  const ink = colour(facts.style.webkitTextFillColor);
  for (const other of others) {
    if (holds(other, facts.element)) continue;
    if (matches(other, PICTURES)) return true;
    for (const layer of [undefined, '::before', '::after']) {
      const style = getComputedStyle(other, layer);
      if (style.backgroundImage !== 'none') return true;
      const own = colour(style.backgroundColor);
      if (own[3] > 0.2 && !close(own, ink) && ink[3] > 0.03) return true;
    }
  }
  // Generated boxes of the ancestors lie under their text as well.
  for (let at = facts, depth = 0; at && depth < 6 && ink[3] > 0.03; at = at.parent, depth += 1) {
    for (const layer of ['::before', '::after']) {
      const style = getComputedStyle(at.element, layer);
      if (style.content === 'none' || style.content === 'normal') continue;
      if (style.backgroundImage !== 'none') return true;
      const own = colour(style.backgroundColor);
      if (own[3] > 0.2 && !close(own, ink)) return true;
    }
  }
  return false;
};

/** Outside the viewport nothing can be hit-tested: look at what lies around, a few levels up, by rectangle. */
const nearby = (facts, rect) => {
  let top = facts;
  for (let depth = 0; top.parent && depth < 4; depth += 1) top = top.parent;
  const found = [];
  let seen = 0;
  for (const other of queryElement(top.element, '*')) {
    if ((seen += 1) > 300) break;
    if (other === facts.element || holds(other, facts.element)) continue;
    const box = rectOf(other);
    if (box.left < rect.right && box.right > rect.left && box.top < rect.bottom && box.bottom > rect.top) found.push(other);
  }
  return found;
};
