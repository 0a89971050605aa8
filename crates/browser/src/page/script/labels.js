// What can be acted on in a picture, and where it is there.

const labels = ({ area = null, limit = 100, budgetMs = 1000 }) => {
  const pass = new Pass(budgetMs);
  const { root } = treeOf(pass, null, {});
  const { view } = pass;
  const wanted = area
    ? { left: area.x - view.x, top: area.y - view.y, right: area.x - view.x + area.width, bottom: area.y - view.y + area.height }
    : { left: 0, top: 0, right: view.width, bottom: view.height };
  const labels = [];
  let more = 0;
  const work = [...root.kids].reverse();
  while (work.length) {
    const entry = work.pop();
    for (let index = entry.kids.length - 1; index >= 0; index -= 1) work.push(entry.kids[index]);
    if (entry.text !== null || !entry.reason) continue;
    const place = pass.late ? null : pictured(pass, stage(pass, entry.element), wanted);
    if (!place && !pass.late) continue;
    if (pass.late || labels.length >= limit) more += 1;
    else labels.push({ id: idOf(pass, entry.element), line: sayShort(pass, entry), ...place });
  }
  return { labels, more, frames: shownFrames(pass), view: { x: view.x, y: view.y, width: view.width, height: view.height } };
};

const sayShort = (pass, entry) => {
  const name = entry.name?.text || nameOf(pass, entry.element).text || firstWords(entry.element, 60);
  return name ? `${sayRole(entry.role)} ${quote(name, 60)}` : sayRole(entry.role);
};

/** Where an element is drawn in the part that is pictured, or null. What is in the viewport must be met there by a pointer. */
const pictured = (pass, element, wanted) => {
  const rectangle = ({ left, top, right, bottom }) => ({ x: left, y: top, width: right - left, height: bottom - top });
  const points = pointsOf(element);
  if (points.length) {
    const point = points.find(({ x, y }) => lands(element, deepestAt(x, y)));
    const part = point && intersect(point.part, wanted);
    return part && area(part) > 0 ? { rect: rectangle(part), point: { x: point.x, y: point.y } } : null;
  }
  // Elsewhere on the page nothing can be met.
  const [box] = boxesOf(element);
  if (!box || inView(pass, box) || !boxShown(pass, factsOf(pass, element))) return null;
  const part = intersect(visiblePart(element, box, NO_CLIP), wanted);
  return part.right > part.left && part.bottom > part.top ? { rect: rectangle(part), point: null } : null;
};

const stands = ({ points }) => ({ stands: points.map(({ id, x, y }) => deepestAt(x, y) === references.get(id)?.element.deref()) });
