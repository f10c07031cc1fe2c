// A picture of a chunk: stripes for the ranks whose data it has. Stripe 2 stands for rank 2 in every picture.

// The colours of Okabe and Ito, which people with any kind of colour blindness tell apart; without their red.
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442", "#7F5A3C", "#8E8E93"];
const DARK = new Set(["#0072B2", "#7F5A3C"]); // text on them is white
const VIRIDIS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const MOST_STRIPES = 12;

// rankColour returns a rank's colour and whether it is light.
function rankColour(rank, size) {
  if (size <= PALETTE.length) return [PALETTE[rank], !DARK.has(PALETTE[rank])];
  const at = (rank / (size - 1)) * (VIRIDIS.length - 1), i = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const c = VIRIDIS[i].map((v, k) => Math.round(v + (VIRIDIS[i + 1][k] - v) * (at - i)));
  return [`rgb(${c.join(",")})`, at > 1.74];
}

// drawCell draws what a node is into a group, of a width and height.
function drawCell(g, model, node, w, h) {
  const size = model.data.size, ranks = model.ranks(node);
  const ground = svg("rect", { width: w, height: h, rx: Math.min(3, w / 5), class: "cell-ground" });
  g.replaceChildren(ground);
  g.classList.toggle("full", model.isFinished(node));
  if (ranks.length === 0) return;
  const label = model.isLeaf(node) ? `${model.rankOf[node]}` : "";
  if (!model.data.folds && model.isLeaf(node) && model.bufferName(node) !== "met") drawWhole(g, model, node, w, h);
  else if (size <= MOST_STRIPES) drawStripes(g, ranks, size, w, h, model.isFinished(node) ? 4 : 0);
  else drawAmount(g, ranks.length, size, w, h, label);
  if (model.isFinished(node) && w >= 13) g.append(text(w - 3, h - 3, "✓", "done end"));
}

// drawWhole fills a cell with the colour of the one rank whose data it holds.
function drawWhole(g, model, node, w, h) {
  const rank = model.rankOf[node], [colour, isLight] = rankColour(rank, model.data.size);
  g.append(svg("rect", { x: 1, y: 1, width: w - 2, height: h - 2, fill: colour }));
  const several = model.data.buffers[0].len.some((n) => n > 1);
  const label = several && w >= 26 ? `${rank}.${model.atOf[node]}` : `${rank}`;
  if (w >= 7 * label.length + 3 && h >= 11) g.append(text(w / 2, h / 2 + 3.5, label, `middle ${isLight ? "on-light" : "on-dark"}`));
}

// drawStripes writes numbers higher by some lengths, which leaves room below them.
function drawStripes(g, ranks, size, w, h, higher) {
  const each = (w - 2) / size;
  for (const r of ranks) {
    const [colour, isLight] = rankColour(r, size);
    g.append(svg("rect", { x: 1 + r * each, y: 1, width: each, height: h - 2, fill: colour }));
    if (each >= 6.5 && h >= 12) g.append(text(1 + (r + 0.5) * each, h / 2 + 3.5 - higher, r, `middle ${isLight ? "on-light" : "on-dark"}`));
  }
}

// drawAmount fills a cell as far as ranks have contributed, where there are too many for stripes.
function drawAmount(g, n, size, w, h, label) {
  const part = Math.max(1.2, (h - 2) * (n / size));
  g.append(svg("rect", { x: 1, y: h - 1 - part, width: w - 2, height: part, class: "amount" }));
  if (w >= 20 && h >= 12) g.append(text(w / 2, h / 2 + 3.5, label || n, "middle"));
}
