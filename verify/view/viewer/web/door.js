// View (i): a plan that is dropped, chosen or written on the page is proved, or refuted, by the verifier in a worker.

const MOST_BYTES = 32 * 2 ** 20;

class Door {
  constructor(into, given) {
    this.given = given;
    this.verdict = html("p", { id: "plan-verdict", role: "status", "aria-live": "assertive" });
    if (!byId("checker")) {
      into.replaceChildren(html("p", {}, "This page has no verifier in it. “collgen view -checker” makes pages that prove plan files " +
        "dropped on them, and “collgen view -plan FILE” makes a page of a plan file."));
      return;
    }
    this.area = html("textarea", { id: "plan", rows: 10, spellcheck: "false", "aria-label": "A plan, as JSON" });
    this.area.value = given.plan || "";
    const file = html("input", { type: "file", id: "plan-file", accept: ".json,application/json", "aria-label": "A plan file",
      on: { change: () => { if (file.files[0]) this.read(file.files[0]); } } });
    this.stopButton = html("button", { id: "plan-stop", hidden: true, on: { click: () => this.end("The proof was stopped.") } }, "Stop");
    const zone = html("div", { class: "zone" },
      html("p", {}, "Drop a plan file here, choose one, or change the plan below. The verifier runs in this page; nothing leaves it."),
      file, this.area, html("p", {}, html("button", { id: "plan-prove", on: { click: () => this.check(this.area.value) } }, "Prove the plan"), " ",
        this.stopButton, " ", html("button", { id: "plan-back", on: { click: () => this.back() } }, `Back to ${given.name}`)), this.verdict);
    into.replaceChildren(zone);
    this.takeDrops(zone);
  }

  takeDrops(zone) {
    const over = (is) => (e) => { e.preventDefault(); zone.classList.toggle("over", is); };
    for (const [event, is] of [["dragover", true], ["dragleave", false]]) document.addEventListener(event, over(is));
    document.addEventListener("drop", (e) => {
      over(false)(e);
      if (e.dataTransfer && e.dataTransfer.files[0]) this.read(e.dataTransfer.files[0]);
    });
  }

  async read(file) {
    if (file.size > MOST_BYTES) return this.end(`${file.name} is longer than ${MOST_BYTES} bytes.`);
    const words = await file.text();
    this.area.value = words.length < 2e6 ? words : "";
    this.check(words);
  }

  back() {
    this.end("");
    this.area.value = this.given.plan || "";
    showData(this.given);
  }

  // check proves a plan; the worker is made when it is first needed.
  async check(plan) {
    this.end("Proving …");
    this.stopButton.hidden = false;
    const worker = this.worker = new Worker(URL.createObjectURL(new Blob([unpackText("worker")], { type: "text/javascript" })));
    worker.onerror = (e) => { if (this.worker === worker) this.end(`The verifier does not run here: ${e.message}`); };
    worker.onmessage = (e) => {
      if (this.worker !== worker) return;
      if (e.data.ready) worker.postMessage({ plan });
      else this.answer(JSON.parse(e.data.answer));
    };
    try {
      const wasm = await unpack("checker");
      if (this.worker === worker) worker.postMessage({ wasm }, [wasm]);
    } catch (err) {
      this.end(`The verifier cannot be unpacked: ${err}`);
    }
  }

  answer({ data, error }) {
    if (error) return this.end(`This is no plan that can be shown: ${error}`, "bad");
    const f = data.failure;
    this.end(f ? `✗ Refuted: ${f.meaning}.` : "✓ Proved: whatever the timing, every rank ends and holds what is promised.", f ? "bad" : "good");
    showData(data);
    if (f && byId("show-failure")) byId("show-failure").click();
  }

  // end ends what the worker does, and says why.
  end(words, style) {
    if (this.worker) this.worker.terminate();
    this.worker = null;
    this.verdict.textContent = words;
    this.verdict.className = style || "";
    if (this.stopButton) this.stopButton.hidden = true;
  }
}

function bytesOf(id) {
  const packed = atob(byId(id).textContent), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return bytes;
}

const unpackText = (id) => new TextDecoder().decode(bytesOf(id));
const unpack = (id) => new Response(new Blob([bytesOf(id)]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
