// View (a): ranks with their chunks, and the chunks that move between them.

const MOST_BOXES = 16, MOST_TOKENS = 260;

class RanksView {
  constructor(model, player, into) {
    this.model = model;
    this.player = player;
    const size = model.data.size;
    this.boxes = size <= MOST_BOXES;
    this.cellSize = size <= 4 ? 34 : size <= 6 ? 28 : size <= 8 ? 22 : 15;
    // On a phone, boxes of several short rows stay large enough to be read.
    this.across = isNarrow() ? 4 - (size <= 4) * 2 : 8;
    this.rows = Array.from({ length: size }, (_, r) => this.boxes ? rowsOf(model, r) : []);
    this.measure();
    this.places = placesOf(model.data.layout, size, this.w, this.h);
    this.svg = canvas(this.places.width, this.places.height, `${size} ranks and the messages between them`);
    this.links = svg("g");
    this.ranks = svg("g");
    this.tokens = svg("g", { id: "tokens" });
    this.svg.append(this.links, this.ranks, this.tokens);
    this.drawHosts();
    this.drawLinks();
    this.drawRanks();
    into.replaceChildren(this.svg);
  }

  // measure finds the size of a rank: a box of rows of cells, or a dot.
  measure() {
    if (!this.boxes) {
      this.w = this.h = this.model.data.size > 40 ? 22 : 30;
      return;
    }
    const rows = this.rows.flat();
    const widest = Math.max(1, ...rows.map((r) => Math.min(this.across, r.cells.length)));
    const label = rows.some((r) => r.name) ? 54 : 0;
    this.label = label;
    this.w = Math.max(66, widest * this.cellSize + 12 + label);
    this.numbered = this.model.data.folds && this.cellSize >= 22 && rows.some((r) => r.cells.length > 1);
    this.h = 22 + Math.max(...this.rows.map((rs) => rs.reduce((sum, r) => sum + this.rowHeight(r), 0)), 0) + 4;
  }

  rowHeight(row) { return Math.ceil(row.cells.length / this.across) * this.lineHeight() + 4; }

  // lineHeight is that of a line of cells, with the numbers of the chunks below them.
  lineHeight() { return this.cellSize + (this.numbered ? 10 : 0); }

  drawHosts() {
    const { at } = this.places, width = this.model.data.layout.width;
    if (this.model.data.layout.kind !== "hosts") return;
    for (let r = 0; r < at.length; r += width) {
      const last = at[Math.min(r + width, at.length) - 1];
      this.links.append(svg("rect", { class: "host", rx: 10, x: at[r].x - this.w / 2 - 12, y: at[r].y - this.h / 2 - 12,
        width: this.w + 24, height: last.y - at[r].y + this.h + 24 }));
    }
  }

  drawLinks() {
    const known = new Set();
    for (const m of this.model.messages) {
      const name = `${Math.min(m.from, m.to)},${Math.max(m.from, m.to)}`;
      if (known.has(name) || known.size > 600) continue;
      known.add(name);
      const a = this.places.at[m.from], b = this.places.at[m.to];
      this.links.append(svg("line", { class: "link", x1: a.x, y1: a.y, x2: b.x, y2: b.y }));
    }
    this.flows = svg("g");
    this.links.append(this.flows);
  }

  drawRanks() {
    this.cells = new Map(); // by cell: the groups that show it, or the cell that it shows instead
    this.dots = [];
    this.places.at.forEach((p, rank) => {
      const g = svg("g", { transform: `translate(${p.x - this.w / 2},${p.y - this.h / 2})`, class: "rank" });
      if (this.boxes) this.drawBox(g, rank);
      else this.drawDot(g, rank);
      this.ranks.append(g);
    });
  }

  drawBox(g, rank) {
    g.append(svg("rect", { class: "box", width: this.w, height: this.h, rx: 7 }), text(8, 16, `rank ${rank}`));
    let y = 22;
    for (const row of this.rows[rank]) {
      if (row.name) g.append(text(7, y + this.cellSize / 2 + 4, row.name, "soft"));
      row.cells.forEach((pair, i) => {
        const left = 6 + this.label + (i % this.across) * this.cellSize, top = y + Math.floor(i / this.across) * this.lineHeight();
        const cell = svg("g", { class: "cell", transform: `translate(${left},${top})` });
        if (this.numbered && row.name !== "scratch") g.append(text(left + this.cellSize / 2 - 1, top + this.cellSize + 7, i, "chunk middle soft"));
        cell.addEventListener("click", () => this.player.select(this.shown(pair, this.player.moment)));
        g.append(cell);
        for (const c of pair) if (c >= 0) this.cells.set(c, { group: cell, pair });
      });
      y += this.rowHeight(row);
    }
  }

  // shown returns which of two cells that are one place where the call is in place has something in it.
  shown([out, inCell], moment) {
    const none = out < 0 || (inCell >= 0 && this.model.isEmpty(this.model.at(out, moment)));
    return none ? inCell : out;
  }

  drawDot(g, rank) {
    const r = this.w / 2;
    const part = svg("circle", { cx: r, cy: r, r: 0, class: "dot-part" });
    g.append(svg("circle", { cx: r, cy: r, r, class: "dot" }), part, text(r, r + 4, rank, "middle"));
    this.dots.push(part);
  }

  show(moment, selected) {
    this.drawCells(moment, selected);
    this.dots.forEach((dot, rank) => dot.setAttribute("r", (this.w / 2) * Math.sqrt(partDone(this.model, rank, moment))));
    this.flow(moment - 1);
    this.move(0.5);
  }

  drawCells(moment, selected) {
    const changed = new Set(moment > 0 ? this.model.changed[moment - 1] : []);
    for (const [cell, { group, pair }] of this.cells) {
      const shown = this.shown(pair, moment);
      if (shown !== cell) continue;
      drawCell(group, this.model, this.model.at(shown, moment), this.cellSize - 2, this.cellSize - 2);
      group.classList.toggle("changed", changed.has(shown));
      group.classList.toggle("selected", shown === selected);
      group.classList.toggle("wrong", this.model.wrong.has(shown) && moment === this.model.data.rounds);
    }
  }

  // flow draws the messages of a round, each with what it carries.
  flow(round) {
    const messages = this.model.byRound[round] || [];
    this.flows.replaceChildren();
    this.tokens.replaceChildren();
    this.moving = [];
    const many = messages.length > MOST_TOKENS;
    this.named = this.numbered && messages.length <= this.model.data.size && (this.model.data.size <= 6 || !isNarrow());
    for (const m of messages) {
      const path = this.path(m);
      this.flows.append(svg("path", { class: many ? "flow many" : "flow", d: path.d }));
      if (!many) this.moving.push({ path, token: this.token(m) });
    }
  }

  // path is a curve that bends to the right, so that two messages across each other stay apart.
  path(m) {
    const a = this.places.at[m.from], b = this.places.at[m.to];
    const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy) || 1, bend = Math.min(26, length / 7);
    const c = { x: (a.x + b.x) / 2 - (dy / length) * bend, y: (a.y + b.y) / 2 + (dx / length) * bend };
    const p = this.edge(a, c), q = this.edge(b, c);
    return { p, c, q, d: `M${p.x} ${p.y}Q${c.x} ${c.y} ${q.x} ${q.y}` };
  }

  // edge is where the line from the centre of a rank to another point leaves the box.
  edge(a, to) {
    const dx = to.x - a.x, dy = to.y - a.y;
    const k = Math.min((this.w / 2 + 4) / Math.max(1e-9, Math.abs(dx)), (this.h / 2 + 4) / Math.max(1e-9, Math.abs(dy)), 1);
    return { x: a.x + dx * k, y: a.y + dy * k };
  }

  token(m) {
    const s = this.boxes ? Math.max(16, this.cellSize - 4) : 14, g = svg("g", { class: "token" });
    const cell = svg("g", { class: "cell", transform: `translate(${-s / 2},${-s / 2})` });
    if (m.srcBuf >= 0) drawCell(cell, this.model, this.model.at(this.model.cell(m.srcBuf, m.from, m.srcAt), m.sent), s, s);
    else cell.append(svg("circle", { cx: s / 2, cy: s / 2, r: 4, class: "dot" }));
    g.append(cell);
    if (m.n > 1) g.append(text(s / 2 + 2, 4, `×${m.n}`));
    if (m.flags & REDUCES && this.boxes) g.append(text(-s / 2 - 12, 5, "⊕", "plus over"));
    if (this.named && m.srcBuf >= 0 && this.model.data.buffers[m.srcBuf].name !== "scratch" && m.n === 1) {
      g.append(text(0, s / 2 + 9, `chunk ${m.srcAt}`, "chunk middle over"));
    }
    g.append(svg("title", {}, this.model.messageWords(m)));
    this.tokens.append(g);
    return g;
  }

  start(moment) {
    this.flow(moment);
    this.move(0);
  }

  move(part) {
    for (const { path: { p, c, q }, token } of this.moving) {
      const a = (1 - part) ** 2, b = 2 * part * (1 - part), d = part * part;
      token.setAttribute("transform", `translate(${a * p.x + b * c.x + d * q.x},${a * p.y + b * c.y + d * q.y})`);
    }
  }
}

// rowsOf returns the rows of cells in the box of a rank: pairs of cells that are one place where the call is in place.
function rowsOf(model, rank) {
  const rows = [], d = model.data, held = (d.held || [])[rank] || [];
  const single = (b) => Array.from({ length: b.len[rank] || 0 }, (_, i) => [b.base[rank] + i, -1]);
  const pairs = [];
  for (let i = 0; i < held.length; i += 2) pairs.push([held[i], held[i + 1]]);
  if (pairs.length) rows.push({ cells: pairs });
  for (const b of d.buffers || []) {
    if (!(b.len[rank] > 0) || (pairs.length && (b.name === "in" || b.name === "out"))) continue;
    rows.push({ name: b.name, cells: single(b) });
  }
  const named = rows.filter((r) => r.cells.length).length > 1;
  return rows.map((r) => ({ cells: r.cells, name: named ? r.name || "data" : "" }));
}

// partDone returns which part of what a rank ends up with it has at a moment: from 0 to 1.
function partDone(model, rank, moment) {
  let done = 0, all = 0;
  for (const b of model.data.buffers) {
    if (b.name === "scratch") continue;
    for (let i = 0; i < (b.len[rank] || 0); i++) {
      const cell = b.base[rank] + i;
      const history = model.history.get(cell);
      if (!history) continue;
      all++;
      if (model.at(cell, moment) === history.at(-1)) done++;
    }
  }
  return all ? done / all : 1;
}
