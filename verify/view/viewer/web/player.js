// The player is at a moment, or on its way to the next one. Views are told of both.

class Player {
  constructor(model) {
    this.model = model;
    this.rounds = model.data.rounds;
    this.moment = 0;
    this.selected = -1;
    this.views = [];
    this.playing = false;
    this.frames = []; // how long the last frames took, in ms
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  add(view) { this.views.push(view); }

  // go shows a moment at once.
  go(moment) {
    this.stop();
    this.moment = clamp(Math.round(moment) || 0, 0, this.rounds);
    this.tell();
  }

  tell() {
    for (const v of this.views) v.show(this.moment, this.selected);
    this.controls();
    const hash = `#step=${this.moment}` + (this.selected >= 0 ? `&cell=${this.selected}` : "");
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  select(cell) {
    this.selected = cell;
    this.tell();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.playing = this.moving = false;
  }

  // step moves on by a round; goesOn says that the next ones follow.
  step(goesOn) {
    this.stop();
    if (this.moment >= this.rounds) return this.tell();
    if (this.still && !goesOn) return this.go(this.moment + 1);
    this.playing = goesOn;
    this.moving = true;
    for (const v of this.views) if (v.start) v.start(this.moment);
    this.controls();
    this.since = this.last = performance.now();
    this.frame = requestAnimationFrame((now) => this.move(now));
  }

  move(now) {
    this.frames.push(now - this.last);
    if (this.frames.length > 600) this.frames.shift();
    this.last = now;
    const part = (now - this.since) / (900 / this.speed());
    if (part < 1) {
      for (const v of this.views) if (v.move) v.move(part);
      this.frame = requestAnimationFrame((t) => this.move(t));
      return;
    }
    this.moment++;
    const goesOn = this.playing && this.moment < this.rounds;
    this.moving = false;
    this.playing = goesOn;
    this.tell();
    if (goesOn) this.step(true);
  }

  toggle() {
    if (this.playing) return this.go(this.moment);
    if (this.moment >= this.rounds) this.moment = 0;
    this.tell();
    this.step(true);
  }

  speed() { return Number(byId("speed").value); }

  controls() {
    byId("seek").max = this.rounds;
    byId("seek").value = this.moment;
    byId("seek").setAttribute("aria-valuetext", `after step ${this.moment} of ${this.rounds}`);
    byId("first").disabled = byId("back").disabled = this.moment === 0;
    byId("next").disabled = byId("last").disabled = this.moment >= this.rounds;
    byId("play").textContent = this.playing ? "Pause" : "Play";
    byId("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }

  // wire listens to buttons, keys and the address.
  wire() {
    const on = (id, event, f) => byId(id).addEventListener(event, f);
    on("first", "click", () => current.go(0));
    on("back", "click", () => current.go(current.moment - 1));
    on("play", "click", () => current.toggle());
    on("next", "click", () => current.step(false));
    on("last", "click", () => current.go(current.rounds));
    on("seek", "input", () => current.go(Number(byId("seek").value)));
    addEventListener("hashchange", () => current.follow());
    addEventListener("keydown", (e) => current.key(e));
  }

  follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const cell = Number(wanted.get("cell") ?? -1);
    if (Number.isInteger(cell) && cell >= 0 && cell < this.model.data.cells) this.selected = cell;
    if (wanted.has("step") && Number(wanted.get("step")) !== this.moment) this.go(Number(wanted.get("step")));
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, [data-keys]")) return;
    const keys = { ArrowRight: () => this.step(false), ArrowLeft: () => this.go(this.moment - 1),
      Home: () => this.go(0), End: () => this.go(this.rounds), " ": () => this.toggle() };
    if (!keys[e.key] || (e.key === " " && e.target.closest("button, summary, a"))) return;
    e.preventDefault();
    keys[e.key]();
  }
}
