// Plays the corpus on the module in Node.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { corpus, report, root } from "./corpus.mjs";

register("./typescript.mjs", import.meta.url);
const { playAll } = await import("./scenario.ts");

const scenarios = corpus();
const module = await WebAssembly.compile(readFileSync(`${root}bin/hyroute.wasm`));
report("node", scenarios.length, await playAll(module, scenarios));
