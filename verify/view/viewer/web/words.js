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
      ` (${lengthWords(p.to - p.from, d.size)}): ${p.words}`));
    into.replaceChildren(...this.items);
    const sum = (d.phases || []).map((p) => p.to - p.from);
    total.textContent = sum.length > 1 && sum.length < 8 ? `${sum.join(" + ")} = ${plural(d.rounds, "step")} in all.` : `${plural(d.rounds, "step")} in all.`;
  }

  show(moment) {
    const d = this.model.data, phase = d.phases.findIndex((p) => moment > p.from && moment <= p.to);
    this.items.forEach((item, i) => item.classList.toggle("now", i === phase));
    const where = moment === 0 ? "Before the call" : `Step ${moment} of ${d.rounds}`;
    const what = moment === 0 ? "Every rank has its own data. " : `${d.phases[phase].words} `;
    this.narration.replaceChildren(html("b", {}, where + ". "), what + standWords(this.model, moment));
  }

  start(moment) { this.show(moment + 1); }
}

function lengthWords(n, size) {
  if (size > 2 && n === size - 1) return `${n} = n − 1, for n = ${size} ranks`;
  if (size > 4 && 2 ** n === size) return `${n} = log₂ n, for n = ${size} ranks`;
  return plural(n, "step");
}

// standWords says how far things are at a moment.
function standWords(model, moment) {
  const d = model.data;
  if (!d.folds) return moved(model, moment);
  const done = new Array(d.size).fill(0), all = new Array(d.size).fill(0);
  let most = 0;
  for (const b of d.buffers) {
    b.base.forEach((base, rank) => {
      for (let i = 0; i < b.len[rank]; i++) {
        const node = model.at(base + i, moment);
        most = Math.max(most, model.ranks(node).length);
        if (b.name !== "out") continue;
        all[rank]++;
        if (model.isFinished(node)) done[rank]++;
      }
    });
  }
  const low = Math.min(...done), high = Math.max(...done), n = Math.max(...all);
  if (high === 0) return `The fullest chunk holds the data of ${most} of ${d.size} ranks.`;
  if (low === high) return `Every rank holds ${low} of ${n} finished chunks.`;
  return `Ranks hold ${low} to ${high} of ${n} finished chunks.`;
}

function moved(model, moment) {
  const d = model.data, out = d.buffers.find((b) => b.name === "out");
  if (!out || !out.base.length) return "";
  const filled = out.base.map((base, rank) => {
    let n = 0;
    for (let i = 0; i < out.len[rank]; i++) if (!model.isEmpty(model.at(base + i, moment))) n++;
    return n;
  });
  const want = Math.max(...out.len), low = Math.min(...filled), high = Math.max(...filled);
  const full = filled.filter((n) => n === want).length;
  if (low === high) return `Every rank has ${low} of ${plural(want, "chunk")} of its result.`;
  return `${plural(full, "rank")} of ${d.size} ${full === 1 ? "has" : "have"} all ${plural(want, "chunk")} of the result.`;
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
  const d = model.data;
  if (!d.folds) return "Each small square is one chunk. Its colour and number are the rank that it comes from.";
  const marks = " A frame and ✓ mark a finished result; ⊕ marks a message whose data is added to what the receiver has.";
  if (d.size <= MOST_STRIPES) return `Each small square is one chunk of a rank's buffer. It has a stripe for each rank whose data is in it: ${d.size} stripes, and it is complete.` + marks;
  return "Each square is one chunk. The more ranks' data is in it, the fuller it is." + marks;
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
