// What the browser tests share: a Chromium, a Message Node, and pages that have the package at hand.
import { readFileSync } from "node:fs";
import { browser } from "./chromium.mjs";
import { serve } from "./serve.mjs";
import { freePort, startNode } from "./message-node.mjs";
import { root } from "../corpus.mjs";

const dist = (name) => readFileSync(`${root}web/dist/${name}`);
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src *";

/** The files of a page that tests run in. */
export function files(changes = {}) {
  return {
    "/": { type: "text/html", body: "<!doctype html><title>test</title>", headers: { "content-security-policy": policy } },
    "/hyroute.js": { type: "text/javascript", body: dist("hyroute.js") },
    "/last-act.js": { type: "text/javascript", body: dist("last-act.js") },
    "/stay.js": { type: "text/javascript", body: dist("stay.js") },
    "/stats.js": { type: "text/javascript", body: dist("stats.js") },
    "/peer.js": { type: "text/javascript", body: dist("peer.js") },
    "/keystore.js": { type: "text/javascript", body: dist("keystore.js") },
    "/ed25519.js": { type: "text/javascript", body: dist("ed25519.js") },
    "/trace.js": { type: "text/javascript", body: dist("trace.js") },
    "/hyroute.wasm": { type: "application/wasm", body: dist("hyroute.wasm") },
    ...changes,
  };
}

/** Sets a stage for the tests of a file. */
export async function stage(changes) {
  const [chromium, node, server] = await Promise.all([browser(), freePort().then((port) => startNode(port)), serve(files(changes))]);
  return {
    chromium,
    node,
    server,
    /** A page in a context of its own, or in the given one. Errors of the page fail the test that looks at `faults`. */
    async open(context, url = server.url) {
      const page = await (context ?? (await chromium.newContext())).newPage();
      page.faults = [];
      page.on("pageerror", (error) => page.faults.push(String(error)));
      await page.goto(url);
      await page.evaluate(async () => {
        globalThis.hyroute = await import("/hyroute.js");
        /** An error as the test can read it. */
        globalThis.told = (promise) => promise.then((value) => ({ value }), (error) => ({ code: error.code, maybe: error.maybe, name: error.name, message: error.message }));
      });
      return page;
    },
    async close() {
      await Promise.all([chromium.close(), node.stop()]);
      server.close();
    },
  };
}
