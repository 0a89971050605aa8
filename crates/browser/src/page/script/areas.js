// Image maps (HTML §4.8.14): an area has no box of its own; it is where the picture that uses its map is drawn, in CSS pixels from
// the picture's border box (as Chromium has it; HTML would say its contents). Which area a point belongs to, the browser alone decides: the first shape in tree order has it.

const areaTarget = getter(HTMLAreaElement.prototype, 'href');
const NUMBERS = /[-+]?(?:\d+\.?\d*|\.\d+)/g;

/** The name of the map that a picture uses. */
const usedMap = (picture) => /#(.+)$/s.exec(attribute(picture, 'usemap') ?? '')?.[1] ?? null;
const mapNamed = (near, name) => [...queryAll(rootNode(near), 'map[name]')].find((map) => attribute(map, 'name') === name) ?? null;

/** The areas of the map that a picture uses. */
const areasOf = (picture) => {
  const name = usedMap(picture);
  const map = name && mapNamed(picture, name);
  return map ? [...queryElement(map, 'area')].slice(0, 1000) : [];
};

/** The first picture with a size that uses an area's map. */
const pictureOf = (area) => {
  const map = closest(area, 'map');
  const name = map && attribute(map, 'name');
  if (!name || !isConnected(area) || mapNamed(area, name) !== map) return null;
  const uses = (picture) => usedMap(picture) === name && rectOf(picture).width >= 2 && getComputedStyle(picture).visibility === 'visible';
  return [...queryAll(rootNode(area), 'img[usemap]')].find(uses) ?? null;
};

/** The shape of an area over a picture of this size as {box, centre}, from the picture's corner; null for what is no shape. */
const shapeOf = (area, width, height) => {
  const shape = (attribute(area, 'shape') ?? '').trim().toLowerCase();
  const numbers = (attribute(area, 'coords')?.match(NUMBERS) ?? []).slice(0, 4000).map(Number);
  const around = (left, top, right, bottom) => ({
    box: { left: Math.min(left, right), top: Math.min(top, bottom), right: Math.max(left, right), bottom: Math.max(top, bottom) },
    centre: { x: (left + right) / 2, y: (top + bottom) / 2 },
  });
  if (shape === 'default') return around(0, 0, width, height);
  if (shape === 'circle' || shape === 'circ') {
    const [x, y, radius] = numbers;
    return radius > 0 ? around(x - radius, y - radius, x + radius, y + radius) : null;
  }
  if (shape !== 'poly' && shape !== 'polygon') return numbers.length >= 4 ? around(...numbers.slice(0, 4)) : null;
  const corners = [];
  for (let index = 0; index + 1 < numbers.length; index += 2) corners.push({ x: numbers[index], y: numbers[index + 1] });
  if (corners.length < 3) return null;
  const xs = corners.map((corner) => corner.x);
  const ys = corners.map((corner) => corner.y);
  const { box, centre } = around(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys));
  return { box, centre: centroid(corners) ?? centre };
};

/** The centre of gravity of a polygon (shoelace formula); null for one without an area. */
const centroid = (corners) => {
  let [twice, x, y] = [0, 0, 0];
  corners.forEach((one, index) => {
    const next = corners[(index + 1) % corners.length];
    const cross = one.x * next.y - next.x * one.y;
    twice += cross;
    x += (one.x + next.x) * cross;
    y += (one.y + next.y) * cross;
  });
  return Math.abs(twice) < 1 ? null : { x: x / (3 * twice), y: y / (3 * twice) };
};

/** Turned, mirrored or in perspective, so that boxes do not tell where a point of the picture is. */
const turned = (element) => {
  for (let node = element, depth = 0; node && depth < 200; node = flatParent(node), depth += 1) {
    const { transform, rotate } = getComputedStyle(node);
    if (rotate !== 'none' || /^matrix3d/.test(transform)) return true;
    const [, skewY = '0', skewX = '0'] = /^matrix\(([^)]*)\)/.exec(transform)?.[1].split(', ') ?? [];
    if (Math.abs(Number(skewY)) + Math.abs(Number(skewX)) > 1e-6 || /^matrix\(-|^matrix\(([^,]+, ){3}-/.test(transform)) return true;
  }
  return false;
};

/** Where an area is in the viewport: {picture, box, centre}, or null for what is nowhere. */
const areaPlace = (area) => {
  const picture = pictureOf(area);
  if (!picture) return null;
  const outer = rectOf(picture);
  const [across, down] = [outer.width / (offsetWidth(picture) || 1), outer.height / (offsetHeight(picture) || 1)];
  const shape = shapeOf(area, offsetWidth(picture), offsetHeight(picture));
  if (!shape) return null;
  const x = (value) => outer.left + across * value;
  const y = (value) => outer.top + down * value;
  if (turned(picture)) return { picture, box: outer, centre: { x: outer.left + outer.width / 2, y: outer.top + outer.height / 2 } };
  const { box, centre } = shape;
  const drawn = intersect(outer, { left: x(box.left), top: y(box.top), right: x(box.right), bottom: y(box.bottom) });
  if (drawn.right <= drawn.left || drawn.bottom <= drawn.top) return null;
  return { picture, box: new DOMRect(drawn.left, drawn.top, drawn.right - drawn.left, drawn.bottom - drawn.top), centre: { x: x(centre.x), y: y(centre.y) } };
};

/** What is known of an area: as much as of its picture, at its own place. */
const areaFacts = (pass, area) => {
  const place = areaPlace(area);
  if (!place) return null;
  const picture = factsOf(pass, place.picture);
  return { ...picture, element: area, parent: picture, pointer: false, controls: undefined, rect: place.box, ariaHidden: picture.ariaHidden || attribute(area, 'aria-hidden') === 'true' };
};

/** The box that an element is at, an area's too. */
const boxOf = (element) => (tagOf(element) === 'area' ? areaPlace(element)?.box : null) ?? rectOf(element);

/** Steps along each side of an area's box in the search for a point of its own. */
const STEPS = 16;

/** Points of an area that the browser finds it at, in view, the one nearest to its centre first. */
const areaPoints = (area) => {
  const place = areaPlace(area);
  if (!place) return [];
  const { picture, centre } = place;
  const part = visiblePart(picture, place.box);
  if (part.right - part.left < 0.5 || part.bottom - part.top < 0.5) return [];
  const isOwn = ({ x, y }) => deepestAt(x, y) === area;
  const inPart = centre.x > part.left && centre.x < part.right && centre.y > part.top && centre.y < part.bottom;
  if (inPart && isOwn(centre)) return [{ ...centre, part }];
  const points = [];
  for (let row = 0; row < STEPS; row += 1) {
    for (let column = 0; column < STEPS; column += 1) {
      points.push({ x: part.left + ((column + 0.5) * (part.right - part.left)) / STEPS, y: part.top + ((row + 0.5) * (part.bottom - part.top)) / STEPS, part });
    }
  }
  const own = points.filter(isOwn);
  if (!own.length) return inPart ? [{ ...centre, part }] : points.slice(0, 1);
  // Of a shape that is cut or turned, the middle of what is left of it.
  const middle = { x: own.reduce((sum, one) => sum + one.x, 0) / own.length, y: own.reduce((sum, one) => sum + one.y, 0) / own.length };
  const far = (one) => Math.hypot(one.x - middle.x, one.y - middle.y);
  return own.sort((one, other) => far(one) - far(other)).slice(0, 9);
};
