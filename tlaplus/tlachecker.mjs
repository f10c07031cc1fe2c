// Checks one module with tla-checker: its folder, the module and the configuration are the arguments. What is said, as
// JSON, is its own.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, module, config] = process.argv.slice(2);
const checker = await import(pathToFileURL(folder + "/tla_checker.js"));
checker.initSync({ module: readFileSync(folder + "/tla_checker_bg.wasm") });
const text = (file) => readFileSync(file, "utf8");
const states = 10_000_000, depth = 1_000_000; // beyond all models: who comes that far says so, as an error
console.log(checker.check_spec_with_cfg(text(module), text(config), "{}", states, depth, false, false));
