// View (e): the tree by which a chunk came about, and what it does to the last bit of a sum.

class TreeView {
  constructor(model, player, into, title, sum) {
    Object.assign(this, { model, player, into, title, sum });
  }

  show(moment, selected) {
    if (selected < 0) {
      this.title.textContent = "No chunk is chosen. Click one in the matrix.";
      this.into.replaceChildren();
      this.sum.textContent = "";
      return;
    }
    let words = (moment ? `After step ${moment}, ` : "Before the call, ") + this.model.sentence(selected, moment) + ".";
    let node = this.model.at(selected, moment);
    if (this.model.isEmpty(node)) {
      node = this.model.at(selected, this.model.data.rounds);
      if (!this.model.isEmpty(node)) words += ` In the end ${this.model.sentence(selected, this.model.data.rounds)}:`;
    }
    this.title.textContent = words;
    if (this.node === node && this.into.firstChild) return;
    this.node = node;
    const met = this.model.bufferName(selected) === "met";
    this.into.replaceChildren(...(met || this.model.isEmpty(node) ? [] : [this.draw(node)]));
    this.sum.textContent = met ? "" : sumWords(this.model, node, selected);
  }

  // draw draws a tree, its leaves side by side.
  draw(node) {
    const tree = layTree(this.model, node), level = tree.depth > 12 ? 28 : 44;
    const gap = 5 + Math.max(...tree.all.map((n) => (n.children.length ? 0 : leafWidth(this.model.leafName(n.node)))));
    const pic = canvas(Math.max(60, tree.leaves * gap + 10), (tree.depth + 1) * level, "the tree of the reduction", true);
    const at = (n) => [(n.x + 0.5) * gap + 5, (tree.depth - n.height) * level + level / 2];
    for (const n of tree.all) for (const c of n.children) {
      const [x1, y1] = at(n), [x2, y2] = at(c);
      pic.append(svg("line", { class: "edge", x1, y1, x2, y2 }));
    }
    for (const n of tree.all) pic.append(this.joint(n, ...at(n)));
    return pic;
  }

  joint(n, x, y) {
    const g = svg("g", { transform: `translate(${x},${y})` });
    if (n.children.length === 0) {
      const [colour, isLight] = rankColour(Math.max(0, this.model.rankOf[n.node]), this.model.data.size);
      const name = this.model.leafName(n.node), wide = leafWidth(name);
      g.append(svg("rect", { class: "leaf", x: -wide / 2, y: -11, width: wide, height: 22, rx: 4, fill: colour }));
      g.append(svg("text", { x: 0, y: 4, class: "middle", fill: isLight ? "#000" : "#fff" }, name));
      g.lastChild.classList.add(isLight ? "on-light" : "on-dark");
      g.classList.add("cell");
      return g;
    }
    g.append(svg("circle", { class: "join", r: 13 }), text(0, 5, n.children.length === 1 ? "✓" : "⊕", "middle"));
    g.append(svg("title", {}, n.children.length === 1 ? "the reduction is finished" : "two operands are combined"));
    return g;
  }
}

// leafWidth returns how wide the box of a leaf is, for its name.
const leafWidth = (name) => Math.max(36, 6.2 * name.length + 8);

const MOST_JOINTS = 400;

// layTree gives each node of a tree its place: x counts leaves, height is that above the leaves.
function layTree(model, root) {
  const tree = { all: [], leaves: 0, depth: 0 };
  const lay = (node) => {
    const n = { node, children: [], height: 0 };
    if (!model.isLeaf(node) && tree.all.length < MOST_JOINTS) {
      n.children = model.operands(node).filter((c) => c >= 0).map(lay);
    }
    if (n.children.length === 0) n.x = tree.leaves++;
    else {
      n.x = n.children.reduce((s, c) => s + c.x, 0) / n.children.length;
      n.height = 1 + Math.max(...n.children.map((c) => c.height));
    }
    tree.all.push(n);
    return n;
  };
  tree.depth = lay(root).height;
  return tree;
}

// leafOf returns the leftmost leaf of a tree.
function leafOf(model, node) {
  while (!model.isLeaf(node)) [node] = model.operands(node);
  return node;
}

// formula returns a tree as people write it, shortened where it is long.
function formula(model, node) {
  if (model.isLeaf(node)) return model.leafName(node);
  const [left, right] = model.operands(node);
  if (right === FINISHED) return formula(model, left);
  return `(${formula(model, left)} ⊕ ${formula(model, right)})`;
}

// contribution is the float32 that rank q contributes to the sum that is shown.
const contribution = (q) => Math.fround(1 / (q + 3));

// sumOf adds float32 numbers in the order of a tree.
function sumOf(model, node) {
  const memo = new Map();
  const sum = (n) => {
    if (model.isLeaf(n)) return contribution(model.rankOf[n]);
    if (!memo.has(n)) {
      const [left, right] = model.operands(n);
      memo.set(n, right === FINISHED ? sum(left) : Math.fround(sum(left) + sum(right)));
    }
    return memo.get(n);
  };
  return sum(node);
}

// comparable returns the ranks whose data is in a tree, if each is there once, with the same chunk; otherwise none.
function comparable(model, node) {
  if (model.isLeaf(node)) return [];
  const leaves = layTree(model, node).all.filter((n) => n.children.length === 0).map((n) => n.node);
  const ranks = model.ranks(node), chunks = new Set(leaves.map((c) => model.atOf[c]));
  return leaves.length === ranks.length && chunks.size === 1 ? ranks : [];
}

// sumWords shows what the order does to floating-point numbers.
function sumWords(model, node, cell) {
  const ranks = comparable(model, node);
  if (ranks.length < 3) return "";
  const inOrder = ranks.map(contribution).reduce((a, b) => Math.fround(a + b)), here = sumOf(model, node);
  const long = formula(model, node), words = (x) => x.toPrecision(9);
  const example = leafOf(model, node), named = `${model.leafName(example)} is chunk ${model.atOf[example]} of what rank ${model.rankOf[example]} passes in. `;
  return `${long.length > 400 ? long.slice(0, 400) + "…" : long}. ${named}Why the last bits of sums can differ: if rank q contributes the ` +
    `float32 1/(q + 3), this tree gives ${words(here)}, and adding in the order of ranks gives ${here === inOrder ? "the same" : words(inOrder)}.` + otherSums(model, node, cell, words);
}

// otherSums says what the trees of the rank's other chunks make of the same numbers.
function otherSums(model, node, cell, words) {
  const rank = model.rankOf[cell], out = model.data.buffers.find((b) => b.name === "out"), sums = new Set();
  for (let i = 0; out && i < (out.len[rank] || 0); i++) {
    const other = model.at(out.base[rank] + i, model.data.rounds);
    if (comparable(model, other).join() === comparable(model, node).join()) sums.add(words(sumOf(model, other)));
  }
  if (sums.size < 2) return "";
  return ` The trees of this rank's chunks make ${sums.size} different sums of the same numbers: ${[...sums].join(", ")}. Each ⊕ rounds, and the trees differ.`;
}
