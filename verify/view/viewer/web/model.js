// A model answers what a cell holds at a moment. A moment is a number of rounds that are over.

const FINISHED = -1;
const MESSAGE = ["from", "to", "sent", "round", "srcBuf", "srcAt", "dstBuf", "dstAt", "n", "flags", "withBuf", "withAt"];
const REDUCES = 1, RECEIVED_FIRST = 2;
const LOCAL = { 4: "copy", 5: "reduce", 6: "finish" };

class Model {
  constructor(data) {
    this.data = data;
    this.undefinedCells = new Set(data.undefined || []);
    this.owners(data.buffers || []);
    this.histories(data.writes || []);
    this.messages = [];
    this.byRound = Array.from({ length: data.rounds }, () => []);
    this.readMessages(data.messages || []);
    this.wrong = new Set([...(data.failure ? data.failure.cells : []), ...(data.wrong || [])]);
  }

  // owners notes whose each cell is. A cell that in and out share counts as out's.
  owners(buffers) {
    this.rankOf = new Int32Array(this.data.cells).fill(-1);
    this.bufOf = new Int32Array(this.data.cells);
    this.atOf = new Int32Array(this.data.cells);
    this.isIn = new Uint8Array(this.data.cells);
    buffers.forEach((b, k) => b.base.forEach((base, rank) => {
      for (let i = 0; i < b.len[rank]; i++) {
        this.rankOf[base + i] = rank;
        this.bufOf[base + i] = k;
        this.atOf[base + i] = i;
        if (b.name === "in") this.isIn[base + i] = 1;
      }
    }));
  }

  histories(writes) {
    this.history = new Map(); // by cell: rounds and nodes in turn
    this.changed = Array.from({ length: this.data.rounds }, () => []);
    for (let i = 0; i < writes.length; i += 3) {
      const [round, cell, node] = writes.slice(i, i + 3);
      if (!this.history.has(cell)) this.history.set(cell, []);
      this.history.get(cell).push(round, node);
      if (this.changed[round]) this.changed[round].push(cell);
    }
  }

  readMessages(list) {
    for (let i = 0; i < list.length; i += MESSAGE.length) {
      const m = { index: this.messages.length };
      MESSAGE.forEach((name, k) => { m[name] = list[i + k]; });
      this.messages.push(m);
      if (this.byRound[m.round]) this.byRound[m.round].push(m);
    }
  }

  // at returns the node that a cell holds at a moment.
  at(cell, moment) {
    const h = this.history.get(cell);
    let node = cell;
    for (let i = 0; h && i < h.length && h[i] < moment; i += 2) node = h[i + 1];
    return node;
  }

  isLeaf(node) { return node < this.data.cells; }

  // isInput reports whether a cell holds an input before the call, or who has entered.
  isInput(cell) {
    return (this.isIn[cell] === 1 && !this.undefinedCells.has(cell)) || this.bufferName(cell) === "met";
  }

  isEmpty(node) { return this.isLeaf(node) && !this.isInput(node); }
  operands(node) { const i = 2 * (node - this.data.cells); return [this.data.inner[i], this.data.inner[i + 1]]; }
  isFinished(node) { return !this.isLeaf(node) && this.operands(node)[1] === FINISHED; }

  // ranks returns the ranks whose inputs are in a node, ascending.
  ranks(node) {
    if (this.isLeaf(node)) return this.isInput(node) ? [this.rankOf[node]] : [];
    const ranges = this.data.sets[this.data.setOf[node - this.data.cells]];
    const list = [];
    for (let i = 0; i < ranges.length; i += 2) for (let r = ranges[i]; r < ranges[i + 1]; r++) list.push(r);
    return list;
  }

  // count returns how many ranks' inputs are in a node.
  count(node) {
    if (this.isLeaf(node)) return this.isInput(node) ? 1 : 0;
    const ranges = this.data.sets[this.data.setOf[node - this.data.cells]];
    let n = 0;
    for (let i = 0; i < ranges.length; i += 2) n += ranges[i + 1] - ranges[i];
    return n;
  }

  bufferName(cell) { const b = this.data.buffers[this.bufOf[cell]]; return b ? b.name : ""; }
  cell(buf, rank, at) { return buf < 0 ? -1 : this.data.buffers[buf].base[rank] + at; }
  cellName(cell) { return `${this.bufferName(cell)}[${this.atOf[cell]}] of rank ${this.rankOf[cell]}`; }

  place(buf, at, n) {
    if (buf < 0) return "nothing";
    const name = this.data.buffers[buf].name;
    return n === 1 ? `${name}[${at}]` : `${name}[${at}..${at + n})`;
  }

  // leafName is what a leaf is called in formulas: the input of rank 2, of which it is chunk 1, is in2[1].
  leafName(cell) {
    const several = this.data.buffers[0] && Math.max(0, ...this.data.buffers[0].len) > 1;
    if (!this.isInput(cell)) return `?${this.cellName(cell)}`;
    return `in${this.rankOf[cell]}` + (several ? `[${this.atOf[cell]}]` : "");
  }

  // sentence says what a cell holds.
  sentence(cell, moment) {
    const node = this.at(cell, moment);
    if (this.bufferName(cell) === "met") return `rank ${this.rankOf[cell]} knows that ranks ${this.ranks(node).join(", ")} have entered`;
    if (this.isEmpty(node)) return `${this.cellName(cell)} holds nothing yet`;
    if (this.isLeaf(node)) return `${this.cellName(cell)} holds chunk ${this.atOf[node]} of the input of rank ${this.rankOf[node]}`;
    const ranks = this.ranks(node);
    const all = ranks.length === this.data.size ? `all ${ranks.length} ranks` : `${ranks.length === 1 ? "rank" : "ranks"} ${ranks.join(", ")}`;
    return `${this.cellName(cell)} holds the ${this.isFinished(node) ? "finished" : "partial"} reduction of ${all}`;
  }

  // messageWords says what a message does.
  messageWords(m) {
    const to = this.place(m.dstBuf, m.dstAt, m.n);
    let does = m.dstBuf < 0 ? "is empty" : `becomes ${to}`;
    if (m.flags & REDUCES) {
      const has = this.place(m.withBuf, m.withAt, m.n);
      does = m.flags & RECEIVED_FIRST ? `makes ${to} = received ⊕ ${has}` : `makes ${to} = ${has} ⊕ received`;
    }
    return `rank ${m.from} sends ${this.place(m.srcBuf, m.srcAt, m.n)} to rank ${m.to}, where it ${does}`;
  }

  localWords(l) {
    const [kind, rank, , n, buf, at, ...srcs] = l;
    const from = [];
    for (let i = 0; i < srcs.length; i += 2) from.push(this.place(srcs[i], srcs[i + 1], n));
    const to = this.place(buf, at, n);
    if (LOCAL[kind] === "finish") return `rank ${rank} finishes ${to}`;
    return `rank ${rank} makes ${to} = ${from.join(" ⊕ ")}`;
  }
}
