// View (f): time by the number of ranks or the size of a message, for all algorithms of the primitive.

const KNOBS = [
  { id: "alpha", name: "α: latency of a message", unit: "µs", low: 0.05, high: 200, is: 5 },
  { id: "beta", name: "1/β: bandwidth of a link", unit: "GB/s", low: 0.05, high: 2000, is: 10 },
  { id: "gamma", name: "1/γ: speed of reducing", unit: "GB/s", low: 0.5, high: 5000, is: 20 },
];

const LINE = 13; // the height of a curve's name

class CostView {
  constructor(costs, data, into) {
    Object.assign(this, { costs, into, alpha: 5, beta: 10, gamma: 20, bytes: 2 ** 20, by: "bytes" });
    this.size = nearest(costs.sizes, costs.size);
    this.depth = nearest(costs.depths, costs.depth);
    this.plot = html("div", { class: "scroll", id: "plot" });
    this.words = html("p", { id: "cost-words", "aria-live": "polite" });
    this.table = html("div", { class: "scroll", id: "cost-table" });
    into.replaceChildren(this.knobs(), this.words, this.axis(), this.plot, this.table, html("p", { class: "hint" }, this.note()));
    this.draw();
  }

  note() {
    const source = this.costs.source ? ` The bound is of each part by itself: no algorithm need reach all three at once. Source: ${this.costs.source}.` : "";
    return "In the formulas, size is n, and depth is S. Point at a name, or at a line of the table, to see its curve. The model: each rank has one port in each direction. α, β and γ count on the critical path of each part by itself; " +
      "the sum is an estimate, the better the more one part weighs." + source;
  }

  // slider returns a slider over the logarithm of a number.
  slider(id, name, low, high, is, step, show, set) {
    const output = html("output", { for: id }, show(is));
    const input = html("input", { id, type: "range", min: low, max: high, step, value: is, "aria-valuetext": show(is), on: { input: () => {
      output.textContent = show(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
      set(Number(input.value));
      this.draw();
    } } });
    return html("label", { for: id }, name + " ", output, input); // without for, it would be the label of the output
  }

  knobs() {
    const log = Math.log10, list = KNOBS.map((k) => this.slider(k.id, k.name, log(k.low), log(k.high), log(k.is), "any",
      (v) => `${short(10 ** v)} ${k.unit}`, (v) => { this[k.id] = 10 ** v; }));
    list.push(this.slider("bytes", `D: bytes of ${this.costs.blocks}`, 3, 33, 20, 0.1, (v) => byteWords(2 ** v), (v) => { this.bytes = 2 ** v; }));
    list.push(this.slider("size", "n: ranks", 0, this.costs.sizes.length - 1, this.size, 1, (v) => String(this.costs.sizes[v]), (v) => { this.size = v; }));
    if (this.costs.algorithms.some((a) => a.hasDepth)) {
      list.push(this.slider("depth", "S: pieces of a pipelined algorithm", 0, this.costs.depths.length - 1, this.depth, 1,
        (v) => String(this.costs.depths[v]), (v) => { this.depth = v; }));
    }
    return html("div", { class: "knobs" }, ...list);
  }

  axis() {
    const option = (value, words) => html("label", {}, html("input", { type: "radio", name: "by", value, checked: this.by === value,
      on: { change: () => { this.by = value; this.draw(); } } }), " " + words + " ");
    return html("p", {}, "Time by: ", option("bytes", "bytes"), option("size", "ranks"));
  }

  // numbers returns messages, chunks sent, chunks reduced, and chunks of a block; undefined if nobody knows.
  numbers(a, size) {
    const row = a.rows[a.hasDepth ? this.depth : 0][size];
    return row.length ? row : undefined;
  }

  // time returns seconds, NaN if nobody knows.
  time(a, size, bytes) {
    const row = this.numbers(a, size);
    if (!row) return NaN;
    const chunk = bytes / row[3];
    return row[0] * this.alpha * 1e-6 + (row[1] * chunk) / (this.beta * 1e9) + (row[2] * chunk) / (this.gamma * 1e9);
  }

  draw() {
    const all = this.costs.algorithms.map((a) => ({ a, t: this.time(a, this.size, this.bytes) }));
    const bound = this.costs.bound ? this.time(this.costs.bound, this.size, this.bytes) : NaN;
    this.words.textContent = this.sentence();
    this.plot.replaceChildren(this.picture());
    const known = all.filter((x) => !Number.isNaN(x.t)).sort((x, y) => x.t - y.t);
    const point = (a, is) => () => this.lines.get(a.name).classList.toggle("pointed", is);
    const row = ({ a, t }) => html("tr", { class: a.name === this.costs.this ? "this" : "", title: a.doc,
      on: { pointerenter: point(a, true), pointerleave: point(a, false) } },
      html("td", {}, a.name), html("td", { class: "number" }, timeWords(t)),
      html("td", { class: "number" }, bound > 0 ? `${(t / bound).toFixed(2)} ×` : "–"),
      html("td", {}, a.alpha || "measured"), html("td", {}, a.beta || "measured"), html("td", {}, a.chunks));
    const head = ["algorithm", "time", "of the bound", "messages in turn (× α)", "chunks sent in turn", "chunks of a block"];
    this.table.replaceChildren(html("table", {}, html("thead", {}, html("tr", {}, ...head.map((h) => html("th", { scope: "col" }, h)))),
      html("tbody", {}, ...known.map(row),
        ...(bound > 0 ? [html("tr", {}, html("td", {}, "lower bound"), html("td", { class: "number" }, timeWords(bound)))] : []))));
  }

  // sentence works the time of this algorithm out.
  sentence() {
    const a = this.costs.algorithms.find((x) => x.name === this.costs.this);
    const n = a && this.numbers(a, this.size), ranks = this.costs.sizes[this.size];
    if (!n) return `Nothing is known of the time of ${this.costs.this} with ${ranks} ranks.`;
    const part = (k) => `${short(n[k] / n[3])}·D`;
    return `${a.name} with ${ranks} ranks: ${n[0]}·α + ${part(1)}·β` + (n[2] ? ` + ${part(2)}·γ` : "") +
      ` = ${timeWords(n[0] * this.alpha * 1e-6)} + ${timeWords((n[1] / n[3]) * this.bytes / (this.beta * 1e9))}` +
      (n[2] ? ` + ${timeWords((n[2] / n[3]) * this.bytes / (this.gamma * 1e9))}` : "") + ` = ${timeWords(this.time(a, this.size, this.bytes))}.`;
  }

  // picture draws a curve for each algorithm, with logarithms on both axes.
  picture() {
    const xs = this.by === "bytes" ? Array.from({ length: 61 }, (_, i) => 2 ** (3 + i / 2)) : this.costs.sizes;
    const curves = [...this.costs.algorithms, ...(this.costs.bound ? [this.costs.bound] : [])].map((a) => ({ a,
      ts: xs.map((x, i) => (this.by === "bytes" ? this.time(a, this.size, x) : this.time(a, i, this.bytes))) }));
    const ts = curves.flatMap((c) => c.ts).filter((t) => t > 0);
    const frame = { left: 70, top: 24, width: isNarrow() ? 180 : 560, height: Math.max(300, LINE * curves.length), x0: Math.log(xs[0]), x1: Math.log(xs.at(-1)),
      y0: Math.log(Math.min(...ts)), y1: Math.log(Math.max(...ts)) };
    const longest = Math.max(...curves.map((c) => shortName(c.a).length));
    const pic = canvas(frame.left + frame.width + 30 + 7 * longest, frame.top + frame.height + 40, "time of all algorithms", isNarrow());
    const x = (v) => frame.left + ((Math.log(v) - frame.x0) / (frame.x1 - frame.x0)) * frame.width;
    const y = (t) => frame.top + (1 - (Math.log(t) - frame.y0) / Math.max(1e-9, frame.y1 - frame.y0)) * frame.height;
    this.grid(pic, frame, xs, x, y);
    this.lines = new Map(); // by algorithm
    const rank = (c) => (c.a === this.costs.bound ? 1 : c.a.name === this.costs.this ? 2 : 0);
    for (const c of curves.sort((p, q) => rank(p) - rank(q))) {
      const style = ["curve other", "curve bound", "curve this"][rank(c)];
      const line = svg("path", { class: style, d: pathOf(xs.map((v, i) => [x(v), y(c.ts[i])])) });
      line.append(svg("title", {}, c.a.name));
      pic.append(line);
      this.lines.set(c.a.name, line);
    }
    this.names(pic, frame, curves, (c) => {
      const last = c.ts.findLastIndex((t) => t > 0);
      return last < 0 ? [] : [x(xs[last]), y(c.ts[last])];
    });
    return pic;
  }

  // names writes the names of curves on the right, in the order of their ends, each tied to its end.
  names(pic, frame, curves, end) {
    const right = frame.left + frame.width, bottom = frame.top + frame.height, labels = [];
    for (const c of curves) {
      const [x, y] = end(c);
      if (x) labels.push({ name: c.a.name, short: shortName(c.a), x, y, at: y });
    }
    labels.sort((p, q) => p.y - q.y);
    for (let i = 1; i < labels.length; i++) labels[i].at = Math.max(labels[i].y, labels[i - 1].at + LINE);
    for (let i = labels.length - 1, most = bottom; i >= 0; i--, most -= LINE) labels[i].at = Math.min(labels[i].at, most);
    for (const l of labels) {
      const style = l.name === this.costs.this ? "this" : l.name === this.costs.bound?.name ? "bound" : "other";
      const point = (is) => () => this.lines.get(l.name).classList.toggle("pointed", is);
      const name = text(right + 18, l.at + 4, l.short, `name ${style}`);
      name.addEventListener("pointerenter", point(true));
      name.addEventListener("pointerleave", point(false));
      pic.append(svg("line", { class: "tie", x1: l.x, y1: l.y, x2: right + 15, y2: l.at }), name);
    }
  }

  grid(pic, frame, xs, x, y) {
    const bottom = frame.top + frame.height, here = this.by === "bytes" ? this.bytes : this.costs.sizes[this.size];
    for (let p = Math.ceil(frame.y0 / Math.LN10); p <= frame.y1 / Math.LN10; p++) {
      pic.append(svg("line", { class: "tick", x1: frame.left, x2: frame.left + frame.width, y1: y(10 ** p), y2: y(10 ** p) }),
        text(frame.left - 6, y(10 ** p) + 4, timeWords(10 ** p), "end soft"));
    }
    const marks = this.by === "bytes" ? [8, 1024, 2 ** 20, 2 ** 30] : [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].filter((_, i) => i % 3 === 0 || !isNarrow());
    for (const m of marks) pic.append(text(x(m), bottom + 16, this.by === "bytes" ? byteWords(m) : m, "middle soft"));
    pic.append(text(frame.left + frame.width / 2, bottom + 34, this.by === "bytes" ? "D: bytes" : "n: ranks", "middle soft"), text(frame.left - 6, 12, "time", "end soft"));
    pic.append(svg("line", { class: "here", x1: x(here), x2: x(here), y1: frame.top, y2: bottom }));
  }
}

// pathOf joins points, but not those between which one is unknown.
function pathOf(points) {
  let d = "", pen = "M";
  for (const [x, y] of points) {
    if (Number.isNaN(y)) { pen = "M"; continue; }
    d += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = "L";
  }
  return d;
}

// shortName returns the name of an algorithm without that of its primitive, which all have.
const shortName = (a) => a.name.split("/").at(-1);
const nearest = (list, x) => list.reduce((best, v, i) => (Math.abs(v - x) < Math.abs(list[best] - x) ? i : best), 0);
const short = (x) => Number(x.toPrecision(3)).toString();

function timeWords(s) {
  if (s >= 1) return `${short(s)} s`;
  return s >= 1e-3 ? `${short(s * 1e3)} ms` : s >= 1e-6 ? `${short(s * 1e6)} µs` : `${short(s * 1e9)} ns`;
}

function byteWords(n) {
  const units = ["B", "KiB", "MiB", "GiB"], i = clamp(Math.floor(Math.log2(n) / 10 + 1e-9), 0, 3);
  return `${short(n / 1024 ** i)} ${units[i]}`;
}
