// The worker that runs the verifier. It gets the compiled program first, and a plan then.

onmessage = async (e) => {
  if (e.data.wasm) {
    const go = new Go();
    globalThis.collgenReady = () => postMessage({ ready: true });
    try {
      const { instance } = await WebAssembly.instantiate(e.data.wasm, go.importObject);
      await go.run(instance);
    } catch (err) {
      postMessage({ answer: JSON.stringify({ error: `the verifier does not run here: ${err}` }) });
    }
    return;
  }
  postMessage({ answer: globalThis.collgenCheck(e.data.plan) });
};
