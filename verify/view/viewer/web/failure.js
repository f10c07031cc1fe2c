// View (h): a counterexample, what was expected, and what is there.

function showFailure(model, player, into) {
  const f = model.data.failure;
  into.hidden = !f;
  if (!f) return;
  const rows = [];
  const add = (name, value, style) => { if (value) rows.push(html("dt", {}, name), html("dd", { class: style }, value)); };
  add("rank", f.rank >= 0 ? `${f.rank}` : "");
  add("step", f.round >= 0 ? `${f.round + 1}` : "");
  add("place", f.place);
  add("expected", f.expected);
  add("found", f.got, "got");
  if (/\bin\d+\[/.test(f.expected + f.got)) add("notation", "in2[1] is chunk 1 of what rank 2 passes in.");
  for (const s of model.data.stuck || []) add(`rank ${s.rank} waits`, s.text);
  const show = html("button", { id: "show-failure", on: { click: () => {
    if (f.cells.length) player.selected = f.cells[0];
    player.go(f.cells.length ? player.rounds : f.round + 1);
  } } }, "Show where");
  into.replaceChildren(html("h2", { id: "failure-title" }, `Wrong: ${f.meaning} (check “${f.check}”)`),
    html("dl", {}, ...rows), ...(model.data.rounds && (f.cells.length || f.round >= 0) ? [show] : []),
    html("details", {}, html("summary", {}, "All of the counterexample"), html("pre", {}, f.text)));
}
