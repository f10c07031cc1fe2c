// The page shows the data that it was made with, or those of a plan that was dropped on it.

let current = null; // the player

// showData shows one schedule on the whole page.
function showData(data) {
  if (current) current.stop();
  const model = new Model(data), player = new Player(model);
  current = player;
  heading(data);
  showFailure(model, player, byId("failure"));
  const whole = data.cells > 0 && !data.clipped;
  for (const id of ["ranks-card", "matrix-card", "spec-card", "tree-card", "phases-card", "text-card"]) byId(id).hidden = !whole;
  byId("player").hidden = byId("time-card").hidden = data.rounds === 0;
  byId("ranks-card").classList.toggle("wide", data.size > 8 && data.size <= MOST_BOXES);
  if (whole) {
    byId("legend").textContent = legend(model);
    player.add(new RanksView(model, player, byId("ranks")));
    player.add(new MatrixView(model, player, byId("matrix")));
    player.add(new SpecView(model, byId("spec"), byId("order")));
    player.add(new TreeView(model, player, byId("tree"), byId("tree-title"), byId("tree-sum")));
    new TextView(model, byId("text"));
  }
  else player.add(new Shown(model, byId("narration")));
  if (data.phases && data.phases.length) player.add(new PhasesView(model, player, byId("phases"), byId("total"), byId("narration")));
  if (data.rounds > 0) player.add(new TimeView(model, player, byId("time")));
  byId("time-hint").textContent = data.clipped || "A line is a rank, time goes from left to right, an arrow is a message. Click to go there.";
  byId("go-card").hidden = !data.go;
  byId("go").textContent = data.go || "";
  byId("cost-card").hidden = !data.costs;
  if (data.costs) new CostView(data.costs, data, byId("cost"));
  player.selected = firstChoice(model);
  player.follow();
  player.tell();
  return player;
}

// firstChoice is the wrong cell, or one that ends as a reduction.
function firstChoice(model) {
  const wrong = [...model.wrong]; // the one that the failure names comes first
  if (wrong.length) return wrong[0];
  const out = (model.data.buffers || []).find((b) => (b.name === "out" || b.name === "met") && b.base.length);
  return out ? out.base[out.len.findIndex((n) => n > 0)] : -1;
}

function heading(data) {
  document.title = `${data.name}, ${data.call}`;
  byId("name").textContent = data.name;
  byId("call").textContent = data.call;
  byId("promise").textContent = data.promise;
  byId("doc").textContent = data.doc || "";
  byId("source").textContent = data.source ? `Source: ${data.source}.` : "";
  const verdict = byId("verdict"), proof = data.proof || [];
  verdict.className = data.failure ? "bad" : proof.length ? "good" : "plain";
  verdict.textContent = data.failure ? `✗ Refuted: ${data.failure.meaning}` : proof.length ? "✓ Proved" : "Not proved";
  byId("proof").hidden = proof.length === 0;
  byId("proof").lastElementChild.replaceChildren(...proof.map((p) => html("li", {}, p)));
}

// summed undoes what packed data are written as: differences to the record before.
function summed(data) {
  const sum = (list, record) => { for (let i = record; list && i < list.length; i++) list[i] += list[i - record]; };
  sum(data.messages, MESSAGE.length);
  sum(data.writes, 3);
  sum(data.inner, 2);
  sum(data.setOf, 1);
  for (const list of data.held || []) sum(list, 2);
  return data;
}

// start shows the data of the page, which are packed where they are long.
async function start() {
  const plain = byId("data");
  const given = plain ? JSON.parse(plain.textContent) : summed(JSON.parse(new TextDecoder().decode(await unpack("packed"))));
  showData(given).wire();
  new Door(byId("door"), given);
}

start().catch((err) => {
  byId("verdict").textContent = `The page cannot be shown here: ${err}`;
  throw err;
});
