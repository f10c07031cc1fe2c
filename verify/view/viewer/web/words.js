// View (d), the specification, and all that the page says in words.

class SpecView {
  constructor(model, into, order) {
    this.model = model;
    this.items = (model.data.clauses || []).map((c) => {
      const mark = html("span", { class: "mark" }), count = html("span", { class: "hint" });
      const item = html("li", {}, mark, c.words + " ", count, ...(c.formula ? [html("code", {}, c.formula)] : []));
      return { c, item, mark, count };
    });
    into.replaceChildren(...this.items.map((x) => x.item));
    order.textContent = model.data.order || "";
  }

  show(moment) {
    for (const { c, item, mark, count } of this.items) {
      const about = c.since.filter((s) => s !== -2), holds = about.filter((s) => s >= 0 && s <= moment).length;
      const never = about.filter((s) => s === -1).length, over = moment === this.model.data.rounds;
      const all = holds === about.length;
      item.classList.toggle("holds", all);
      item.classList.toggle("broken", over && never > 0);
      mark.textContent = all ? "✓" : over && never > 0 ? "✗" : "○";
      count.textContent = about.length ? `(holds on ${holds} of ${plural(about.length, "rank")})` : "(speaks of no rank here)";
    }
  }
}

// PhasesView lists which steps do the same, and says what the current one does.
class PhasesView {
  constructor(model, player, into, total, narration) {
    Object.assign(this, { model, total, narration });
    const d = model.data;
    this.items = (d.phases || []).map((p) => html("li", {},
      html("button", { on: { click: () => player.go(p.from + 1) } }, p.to - p.from === 1 ? `Step ${p.to}` : `Steps ${p.from + 1} to ${p.to}`),
      `${lengthWords(p.to - p.from, d.size)}: ${p.words}`, d.phases.length <= 12 ? growthWords(model, p) : ""));
    into.replaceChildren(...this.items);
    const sum = (d.phases || []).map((p) => p.to - p.from);
    total.textContent = (sum.length > 1 && sum.length < 8 ? `${sum.join(" + ")} = ` : "") + `${plural(d.rounds, "step")} in all${totalWords(d.rounds, d.size)}.`;
  }

  show(moment) {
    const d = this.model.data, phase = d.phases.findIndex((p) => moment > p.from && moment <= p.to);
    this.items.forEach((item, i) => item.classList.toggle("now", i === phase));
    const where = moment === 0 ? "Before the call" : `Step ${moment} of ${d.rounds}`;
    const what = moment === 0 ? ownWords(this.model) : `${d.phases[phase].words} `;
    this.narration.replaceChildren(html("b", {}, where + ". "), what + standWords(this.model, moment));
  }

  start(moment) { this.show(moment + 1); }
}

// ownWords says who has data before the call.
function ownWords(model) {
  const b = model.data.buffers.find((x) => x.name === "in" && x.base.length);
  const ranks = b ? b.base.flatMap((base, rank) => (b.len[rank] > 0 && model.isInput(base) ? [rank] : [])) : [];
  if (ranks.length === model.data.size) return "Every rank has its own data. ";
  if (ranks.length === 1) return `Rank ${ranks[0]} alone has data. `;
  return ranks.length ? `${plural(ranks.length, "rank")} have data. ` : "";
}

function totalWords(rounds, n) {
  if (n > 2 && rounds === 2 * (n - 1)) return ", which is 2 (n − 1)";
  if (n > 2 && rounds === n - 1) return `, which is n − 1, for n = ${n} ranks`;
  return n > 2 && 2 ** rounds === n ? `, which is log₂ n, for n = ${n} ranks` : "";
}

function lengthWords(n, size) {
  if (size > 2 && n === size - 1) return ` (${n} = n − 1, for n = ${size} ranks)`;
  if (size > 4 && 2 ** n === size) return ` (${n} = log₂ n, for n = ${size} ranks)`;
  return n > 1 ? ` (${n} steps)` : "";
}

// stand counts how far things are at a moment: the most ranks whose data is in one chunk; and of what ranks get, how
// many chunks the rank with the fewest and the one with the most have, of how many, and how many ranks have them all.
// A rank has a chunk that is not reduced wherever it is in its memory: the root of a broadcast has it from the start.
function stand(model, moment) {
  const d = model.data, has = new Array(d.size).fill(0), all = new Array(d.size).fill(0);
  const held = d.folds ? [] : heldBy(model, moment);
  let most = 0;
  for (const b of d.buffers) {
    b.base.forEach((base, rank) => {
      for (let i = 0; i < b.len[rank]; i++) {
        const node = model.at(base + i, moment);
        if (d.folds) most = Math.max(most, model.count(node));
        if (b.name !== "out") continue;
        all[rank]++;
        if (moment === d.rounds && model.wrong.has(base + i)) continue;
        const last = model.at(base + i, d.rounds);
        if (d.folds ? model.isFinished(node) : !model.isEmpty(last) && held[rank].has(last)) has[rank]++;
      }
    });
  }
  const n = Math.max(...all), ranks = all.filter((x) => x > 0).length;
  return { most, low: Math.min(...has), high: Math.max(...has), n, ranks, full: has.filter((x, r) => all[r] && x === all[r]).length };
}

// heldBy returns, by rank, the nodes that are somewhere in its memory at a moment.
function heldBy(model, moment) {
  const held = Array.from({ length: model.data.size }, () => new Set());
  for (const b of model.data.buffers) {
    b.base.forEach((base, rank) => {
      for (let i = 0; i < b.len[rank]; i++) held[rank].add(model.at(base + i, moment));
    });
  }
  return held;
}

// standWords says how far things are at a moment.
function standWords(model, moment) {
  const s = stand(model, moment), what = model.data.folds ? "finished chunk" : "chunk";
  if (s.n === 0) return "";
  if (model.data.folds && s.high === 0) return `The fullest chunk holds the data of ${s.most} of ${model.data.size} ranks.`;
  if (s.ranks === model.data.size && s.low === s.high) return `Every rank holds ${s.low} of ${plural(s.n, what)}.`;
  if (s.n === 1 || s.full) return `${plural(s.full, "rank")} of ${s.ranks} ${s.full === 1 ? "has" : "have"} all of the result.`;
  return `Ranks hold ${s.low} to ${s.high} of ${plural(s.n, what)}.`;
}

// growthWords says what a phase achieves, and so why it takes so many steps.
function growthWords(model, { from, to }) {
  const a = stand(model, from), b = stand(model, to), steps = to - from, size = model.data.size;
  const pace = (x, y) => {
    if (steps < 2) return "";
    if (y - x === steps) return ", one more in each step";
    return x > 0 && y === x * 2 ** steps ? ", twice as many in each step" : "";
  };
  if (b.most > a.most) {
    if (steps > 1 && b.most - a.most === steps) return ` Why ${steps}: at first a chunk has the data of ${plural(a.most, "rank")} at most. Each step adds that of one more rank, until it has that of ${b.most === size ? "all " : ""}${b.most}.`;
    return ` Chunks collect data: at first each has that of ${a.most} of ${size} ranks at most, at the end of ${b.most}${pace(a.most, b.most)}.`;
  }
  if (b.low === b.high && b.low > a.low && b.n > 1) {
    const what = model.data.folds ? "finished chunks" : "chunks of its result";
    if (steps > 1 && a.low === a.high && b.low - a.low === steps) return ` Why ${steps}: at first every rank has ${a.low} of ${b.n} ${what}. Each step brings it one more, until it has ${b.low === b.n ? "all " : ""}${b.low}.`;
    return ` Every rank has ${a.low} of ${b.n} ${what} at first, and ${b.low} at the end${pace(a.low, b.low)}.`;
  }
  if (b.full > a.full) return ` At first ${plural(a.full, "rank")} of ${b.ranks} ${a.full === 1 ? "has" : "have"} the result, at the end ${b.full}${pace(a.full, b.full)}.`;
  return "";
}

// Shown says where the player is, of a schedule that the page has a part of.
class Shown {
  constructor(model, narration) { Object.assign(this, { model, narration }); }

  show(moment) {
    const n = moment > 0 ? this.model.byRound[moment - 1].length : 0;
    this.narration.textContent = `Step ${moment} of the ${this.model.data.rounds} that are shown: ${plural(n, "message")} among the ranks that are shown.`;
  }

  start(moment) { this.show(moment + 1); }
}

// legend explains the pictures.
function legend(model) {
  return "A rank is one of the processes that take part. " + chunkWords(model) + (model.data.size <= MOST_BOXES ? " A thick frame marks what the step has changed, a dashed one the chosen chunk." : "");
}

function chunkWords(model) {
  const d = model.data;
  if (d.buffers.some((b) => b.name === "met")) return "Messages have no data here. The square of a rank shows who has entered the call, as far as it knows: it has a stripe for each of them.";
  if (!d.folds) return "Each small square is one chunk. Its colour and number are the rank that it comes from.";
  const marks = " ✓ marks a finished result; ⊕ marks a message whose data is added to what the receiver has.";
  if (d.size <= MOST_STRIPES) {
    return "Each has a buffer of data, cut into chunks: the small squares. A square shows the chunk wherever the rank has it, in its input or its result. It has a stripe for each rank whose data is in it, " +
      `that of rank 0 on the left: with ${d.size} stripes it is complete.` + marks;
  }
  if (d.size <= MOST_BOXES) return "Each square is one chunk. The more ranks' data is in it, the fuller it is." + marks;
  return "A circle is a rank: the more of its result it has, the fuller it is. A square is a chunk that moves: the more ranks' data is in it, the fuller it is.";
}

// TextView has all steps as text. It is filled in when it is opened.
class TextView {
  constructor(model, details) {
    this.model = model;
    details.addEventListener("toggle", () => { if (details.open) details.lastElementChild.replaceChildren(this.table()); });
    if (details.open) details.lastElementChild.replaceChildren(this.table());
  }

  table() {
    const d = this.model.data, rows = [];
    for (let k = 0; k < d.rounds; k++) {
      const words = this.model.byRound[k].map((m) => this.model.messageWords(m));
      for (const l of d.locals || []) if (l[2] === k) words.push(this.model.localWords(l));
      rows.push(html("tr", {}, html("th", { scope: "row" }, `${k + 1}`), html("td", {}, words.join("; ") || "nothing")));
    }
    return html("table", {}, html("caption", { class: "hidden" }, "What happens in each step"),
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "step"), html("th", { scope: "col" }, "what happens"))),
      html("tbody", {}, ...rows));
  }
}
