// Plays the corpus on the module in a page of a real Chromium.
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { browser, serve } from "./real/chromium.mjs";
import { corpus, report, root } from "./corpus.mjs";

const scenarios = corpus();
const bundle = await build({ entryPoints: [`${root}web/test/scenario.ts`], bundle: true, format: "esm", write: false, target: "es2022" });
const server = await serve({
  "/": { type: "text/html", body: "<!doctype html><title>scenarios</title>" },
  "/scenario.js": { type: "text/javascript", body: bundle.outputFiles[0].contents },
  "/hyroute.wasm": { type: "application/wasm", body: readFileSync(`${root}bin/hyroute.wasm`) },
});
const chromium = await browser();
try {
  const page = await chromium.newPage();
  await page.goto(server.url);
  const faults = await page.evaluate(async (all) => {
    const { playAll } = await import("/scenario.js");
    return playAll(await WebAssembly.compileStreaming(fetch("/hyroute.wasm")), all);
  }, scenarios);
  report("chromium", scenarios.length, faults);
} finally {
  await chromium.close();
  server.close();
}
