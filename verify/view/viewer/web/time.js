// View (b): a line for each rank, time from left to right, and every message as an arrow.

class TimeView {
  constructor(model, player, into) {
    const d = model.data;
    this.model = model;
    this.player = player;
    this.lane = d.size <= 8 ? 30 : d.size <= 20 ? 20 : d.size <= 70 ? 12 : 5;
    this.column = clamp(Math.floor(1100 / Math.max(1, d.rounds)), 16, 110);
    this.left = 62;
    this.top = 26;
    const width = this.left + d.rounds * this.column + 30, height = this.top + d.size * this.lane + 6;
    this.svg = canvas(width, height, `${model.messages.length} messages in ${d.rounds} steps`, true);
    this.cursor = svg("rect", { class: "column", y: 0, height, width: this.column, x: -999 });
    this.svg.append(this.cursor);
    this.drawLanes(width);
    this.drawRounds();
    this.drawStuck();
    this.svg.addEventListener("click", (e) => this.click(e));
    into.replaceChildren(this.svg);
    this.watch(into);
  }

  x(moment) { return this.left + moment * this.column; }
  y(rank) { return this.top + (rank + 0.5) * this.lane; }

  drawLanes(width) {
    const d = this.model.data, every = this.lane >= 11 ? 1 : 8, apart = Math.max(1, Math.ceil(26 / this.column));
    for (let r = 0; r < d.size; r++) {
      if (r % every === 0) this.svg.append(text(this.left - 10, this.y(r) + 4, this.lane >= 20 ? `rank ${r}` : r, "end"));
      this.svg.append(svg("line", { class: "lane", x1: this.left, y1: this.y(r), x2: width - 20, y2: this.y(r) }));
    }
    for (let k = 0; k < d.rounds; k++) {
      if (k % apart === 0) this.svg.append(text(this.x(k) + this.column / 2, 13, k + 1, "middle soft"));
    }
  }

  drawRounds() {
    const fine = this.model.messages.length > 1500;
    this.groups = this.model.byRound.map((messages) => {
      const g = svg("g", { class: fine ? "messages fine" : "messages" });
      for (const m of messages) g.append(...this.arrow(m, fine));
      this.svg.append(g);
      return g;
    });
  }

  arrow(m, fine) {
    const x2 = this.x(m.round) + this.column * 0.86, y2 = this.y(m.to);
    const line = svg("line", { class: "message", x1: this.x(m.sent) + this.column * 0.12, y1: this.y(m.from), x2, y2 });
    if (fine) return [line];
    line.append(svg("title", {}, this.model.messageWords(m)));
    line.setAttribute("marker-end", "url(#head)");
    if (!(m.flags & REDUCES)) return [line];
    return [line, text(x2 + 1, y2 - 2, "⊕", "reduced")];
  }

  // drawStuck marks what waits for ever.
  drawStuck() {
    for (const s of this.model.data.stuck || []) {
      const mark = text(this.x(s.round) + this.column * 0.3, this.y(s.rank) + 5, "✗", "stuck-mark");
      mark.append(svg("title", {}, `rank ${s.rank} waits for ever: ${s.text}`));
      this.svg.append(mark);
    }
  }

  click(e) {
    const box = this.svg.getBoundingClientRect();
    const x = ((e.clientX - box.left) / box.width) * this.svg.viewBox.baseVal.width;
    this.player.go(Math.floor((x - this.left) / this.column) + 1);
  }

  show(moment) {
    this.groups.forEach((g, k) => {
      g.classList.toggle("now", k === moment - 1);
      g.classList.toggle("past", k < moment - 1);
    });
    this.cursor.setAttribute("x", moment > 0 ? this.x(moment - 1) : -999);
    this.keepInSight(moment);
  }

  // keepInSight scrolls to a moment. It asks for no lengths of the page, which would have the browser work them out anew.
  keepInSight(moment) {
    const x = this.x(moment), { left, width } = this.seen;
    if (width && (x < left + 80 || x > left + width - 40)) this.svg.parentElement.scrollLeft = x - width / 2;
  }

  watch(frame) {
    this.seen = { left: 0, width: 0 };
    frame.onscroll = () => { this.seen.left = frame.scrollLeft; };
    new ResizeObserver(() => { this.seen.width = frame.clientWidth; }).observe(frame);
  }

  start(moment) { this.show(moment + 1); }
}
