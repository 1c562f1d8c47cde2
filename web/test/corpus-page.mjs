// A page that plays the corpus on the module, for whichever browser opens it.
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { corpus, root } from "./corpus.mjs";
import { serve } from "./real/serve.mjs";

/** The expression that plays: its value is the list of faults. */
export const play = `(async () => {
  const [{ playAll }, scenarios] = await Promise.all([import("/scenario.js"), fetch("/corpus.json").then((r) => r.json())]);
  return playAll(await WebAssembly.compileStreaming(fetch("/hyroute.wasm")), scenarios);
})()`;

/** Serves the page: `url`, `count` of scenarios, `close()`. */
export async function corpusPage() {
  const scenarios = corpus();
  const bundle = await build({ entryPoints: [`${root}web/test/scenario.ts`], bundle: true, format: "esm", write: false, target: "es2022" });
  const { url, close } = await serve({
    "/": { type: "text/html", body: "<!doctype html><title>scenarios</title>" },
    "/scenario.js": { type: "text/javascript", body: bundle.outputFiles[0].contents },
    "/corpus.json": { type: "application/json", body: JSON.stringify(scenarios) },
    "/hyroute.wasm": { type: "application/wasm", body: readFileSync(`${root}bin/hyroute.wasm`) },
  });
  return { url, close, count: scenarios.length };
}
