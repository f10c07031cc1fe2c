// Where ranks are in the picture, by what the schedule does. All lengths are those of the picture.

// placesOf returns the centre of each rank, and the size of the picture, for boxes of a width and height.
function placesOf(layout, size, w, h) {
  const between = w < 40 ? 14 : 74, gapX = w + between, gapY = h + Math.min(between, 56);
  const kinds = { tree: treePlaces, torus: gridPlaces, hosts: hostPlaces, line: linePlaces };
  const at = (kinds[layout.kind] || circlePlaces)(layout, size, gapX, gapY);
  const left = Math.min(...at.map((p) => p.x)), top = Math.min(...at.map((p) => p.y));
  for (const p of at) { p.x += w / 2 + 24 - left; p.y += h / 2 + 24 - top; }
  return { at, width: Math.max(...at.map((p) => p.x)) + w / 2 + 24, height: Math.max(...at.map((p) => p.y)) + h / 2 + 24 };
}

function circlePlaces(layout, size, gapX, gapY) {
  const rx = Math.max(gapX * 0.75, (gapX * size) / 6.6), ry = Math.max(gapY * 1.05, (gapY * size) / 6.3);
  const turn = size === 4 ? -0.75 : -0.5; // four ranks are the corners of a square
  const angle = (r) => ((2 * r) / size + turn) * Math.PI;
  return Array.from({ length: size }, (_, r) => ({ x: rx * Math.cos(angle(r)), y: ry * Math.sin(angle(r)) }));
}

// linePlaces puts ranks into rows, each the other way round than the one before, so that neighbours are near.
function linePlaces(layout, size, gapX, gapY) {
  const across = size <= 5 ? size : Math.ceil(Math.sqrt(size * 1.6));
  return Array.from({ length: size }, (_, r) => {
    const row = Math.floor(r / across), i = r % across;
    return { x: gapX * (row % 2 ? across - 1 - i : i), y: gapY * row };
  });
}

function gridPlaces(layout, size, gapX, gapY) {
  return Array.from({ length: size }, (_, r) => ({ x: gapX * (r % layout.width), y: gapY * Math.floor(r / layout.width) }));
}

// treePlaces puts leaves side by side, and the others above the middle of their children.
function treePlaces(layout, size, gapX, gapY) {
  const children = Array.from({ length: size }, () => []), at = Array.from({ length: size }, () => ({ x: 0, y: 0 }));
  layout.parent.forEach((p, r) => { if (p >= 0) children[p].push(r); });
  let next = 0;
  const put = (r, depth) => {
    at[r].y = depth * gapY;
    children[r].forEach((c) => put(c, depth + 1));
    const xs = children[r].map((c) => at[c].x);
    at[r].x = xs.length ? (Math.min(...xs) + Math.max(...xs)) / 2 : gapX * next++;
  };
  layout.parent.forEach((p, r) => { if (p < 0) put(r, 0); });
  return at;
}

// hostPlaces puts the ranks of a host below each other, hosts side by side.
function hostPlaces(layout, size, gapX, gapY) {
  const hosts = Math.ceil(size / layout.width), across = Math.min(hosts, 4);
  return Array.from({ length: size }, (_, r) => {
    const host = Math.floor(r / layout.width);
    return { x: gapX * 1.15 * (host % across),
      y: gapY * (r % layout.width) + Math.floor(host / across) * (layout.width * gapY + 30), host };
  });
}
