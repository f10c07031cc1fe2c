// View (c): the matrix of ranks and chunks, for each buffer.

class MatrixView {
  constructor(model, player, into) {
    this.model = model;
    this.player = player;
    this.groups = new Map();
    const buffers = model.data.buffers.filter((b) => b.base.length);
    if (model.data.size > 24) buffers.sort((a, b) => (b.name === "out") - (a.name === "out")); // what is worth seeing first
    const panels = buffers.map((b) => this.panel(b));
    into.replaceChildren(...panels);
  }

  panel(b) {
    const columns = Math.max(...b.len), size = clamp(Math.floor(520 / columns), 9, 36), left = 52, top = 34;
    this.size = size;
    const pic = canvas(Math.max(7 * this.title(b).length, left + columns * size + 4), top + b.len.length * size + 4, `${b.name} of all ranks`, true);
    pic.append(text(0, 12, this.title(b)));
    for (let i = 0; i < columns; i++) if (size >= 16 || i % 8 === 0) pic.append(text(left + (i + 0.5) * size, top - 5, i, "middle soft"));
    b.len.forEach((n, rank) => {
      const y = top + rank * size;
      if (size >= 11 || rank % 8 === 0) pic.append(text(left - 6, y + size / 2 + 4, size >= 16 ? `rank ${rank}` : rank, "end soft"));
      for (let i = 0; i < n; i++) pic.append(this.cell(b, rank, i, left + i * size, y, size));
    });
    pic.setAttribute("tabindex", "0");
    pic.setAttribute("data-keys", "");
    pic.addEventListener("keydown", (e) => this.key(e, b));
    return pic;
  }

  title(b) {
    const what = { in: "in: what each rank contributes", out: "out: what each rank gets", scratch: "scratch: spare memory",
      met: "met: who has entered, as far as the rank knows" };
    return what[b.name] || b.name;
  }

  cell(b, rank, i, x, y, size) {
    const cell = b.base[rank] + i;
    const g = svg("g", { class: "cell", "data-cell": cell, transform: `translate(${x},${y})`, on: { click: () => this.player.select(cell) } });
    if (!this.groups.has(cell)) this.groups.set(cell, []);
    this.groups.get(cell).push({ g, size });
    return g;
  }

  // show draws again what may have changed: all cells when the moment is not the next one.
  show(moment, selected) {
    const forward = this.moment !== undefined && moment === this.moment + 1;
    const changed = new Set(moment > 0 ? this.model.changed[moment - 1] : []);
    const before = this.marked || new Set();
    const todo = forward ? new Set([...changed, ...before]) : moment === this.moment ? new Set([...changed, ...before]) : this.groups.keys();
    for (const cell of todo) this.draw(cell, moment, changed.has(cell));
    this.marked = changed;
    this.mark(this.selected, selected);
    this.moment = moment;
    this.selected = selected;
  }

  draw(cell, moment, isNew) {
    for (const { g, size } of this.groups.get(cell) || []) {
      drawCell(g, this.model, this.model.at(cell, moment), size - 1.5, size - 1.5);
      g.classList.toggle("changed", isNew);
      g.classList.toggle("wrong", this.model.wrong.has(cell) && moment === this.model.data.rounds);
    }
  }

  mark(before, now) {
    for (const { g } of this.groups.get(before) || []) g.classList.remove("selected");
    for (const { g } of this.groups.get(now) || []) g.classList.add("selected");
  }

  key(e, b) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (!moves[e.key]) return;
    e.preventDefault();
    const s = this.player.selected, mine = s >= 0 && b.base.some((base, r) => s >= base && s < base + b.len[r]);
    let rank = mine ? this.model.rankOf[s] : 0, at = mine ? s - b.base[rank] : 0;
    if (mine) { rank = clamp(rank + moves[e.key][0], 0, b.len.length - 1); at = clamp(at + moves[e.key][1], 0, b.len[rank] - 1); }
    if (b.len[rank] > 0) this.player.select(b.base[rank] + Math.max(0, at));
  }
}
