// What surrounds the body: policies, origins, other tabs, a slow or broken module, a node that comes and goes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser } from "./chromium.mjs";
import { serve } from "./serve.mjs";
import { freePort, startNode } from "./message-node.mjs";
import { files, stage } from "./stage.mjs";
import { root } from "../corpus.mjs";

let set;
before(async () => (set = await stage()));
after(() => set.close());

const connect = (page, url = set.node.url, options = {}) =>
  page.evaluate(
    async ([to, more]) => {
      globalThis.warnings = [];
      globalThis.got = [];
      globalThis.trace = [];
      globalThis.me = await hyroute.connect(to, { direct: false, warning: (w) => warnings.push(w.code), trace: (line) => /^(?:signal-received .*kind=bye|stub-changed .*status=disconnected)/.test(line) && trace.push(line), ...more });
      me.on("message", (m) => void got.push(m.value));
      return me.address;
    },
    [url, options],
  );

test("a page whose policy forbids wasm gets an error that names wasm-unsafe-eval", async () => {
  const server = await serve(files({ "/": { type: "text/html", body: "<!doctype html>", headers: { "content-security-policy": "default-src 'self'; connect-src *" } } }));
  const page = await set.open(undefined, server.url);
  const error = await page.evaluate((url) => globalThis.told(hyroute.connect(url)), set.node.url);
  server.close();
  assert.equal(error.code, "wasm-unsafe-eval");
  assert.equal(error.name, "HyrouteError");
  assert.match(error.message, /'wasm-unsafe-eval'.*script-src/);
  assert.deepEqual(page.faults, []);
});

test("on an insecure origin there is a warning, and it works all the same", async () => {
  // Not over https and not on localhost: WebCrypto and Web Locks are withheld there.
  const chromium = await browser(["--host-resolver-rules=MAP plain.test 127.0.0.1"]);
  try {
    const url = set.server.url.replace("localhost", "plain.test");
    const context = await chromium.newContext();
    const pages = [await set.open(context, url), await set.open(context, url)];
    const addresses = [];
    for (const page of pages) addresses.push(await connect(page));
    assert.equal(await pages[0].evaluate(() => globalThis.isSecureContext || crypto.subtle !== undefined), false);
    for (const page of pages) assert.deepEqual(await page.evaluate(() => warnings), ["insecure-origin"]);
    assert.notEqual(addresses[0], addresses[1]);
    await pages[0].evaluate((to) => me.send(to, "in plain"), addresses[1]);
    assert.deepEqual(await pages[1].evaluate(() => got), ["in plain"]);
  } finally {
    await chromium.close();
  }
});

test("two tabs are two runtimes, and each keeps its address when it is loaded again", async () => {
  const context = await set.chromium.newContext();
  const [a, b] = [await set.open(context), await set.open(context)];
  const [addressA, addressB] = await Promise.all([connect(a), connect(b)]);
  assert.notEqual(addressA, addressB);
  await a.evaluate((to) => me.send(to, "other tab"), addressB);
  assert.deepEqual(await b.evaluate(() => got), ["other tab"]);
  const again = async (page) => {
    await page.reload();
    await page.evaluate(async () => (globalThis.hyroute = await import("/hyroute.js")));
    return connect(page);
  };
  assert.equal(await again(b), addressB);
  assert.equal(await again(a), addressA);
  assert.deepEqual(await a.evaluate(() => warnings), []);
  await a.close();
  const c = await set.open(context);
  assert.equal(await connect(c), addressA, "a key that nobody uses any more is used again");
  assert.equal(await c.evaluate((url) => hyroute.connect(url).then((other) => other.address === me.address), set.node.url), false, "two runtimes in one page are two as well");
});

test("a duplicated tab, which has a copy of the session storage, gets a key of its own", async () => {
  const context = await set.chromium.newContext();
  const a = await set.open(context);
  const address = await connect(a);
  const [b] = await Promise.all([context.waitForEvent("page"), a.evaluate(() => void window.open("/", "_blank"))]);
  await b.waitForLoadState();
  assert.equal(await b.evaluate(() => sessionStorage.length), 1);
  await b.evaluate(async () => (globalThis.hyroute = await import("/hyroute.js")));
  assert.notEqual(await connect(b), address);
});

test("send works before the module is there", async () => {
  let hand;
  const held = new Promise((resolve) => (hand = resolve));
  const page = await (await set.chromium.newContext()).newPage();
  await page.route("**/hyroute.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(set.server.url);
  const other = await set.open();
  const to = await connect(other);
  await page.evaluate(
    async ([url, address]) => {
      const { connect } = await import("/hyroute.js");
      globalThis.me = await connect(url, { direct: false });
      globalThis.modules = [];
      me.on("status", (s) => s.kind === "module" && modules.push(s.status));
      globalThis.sent = Promise.all([me.send(address, 1), me.send(address, 2), me.request(address, 3, { timeout: 1 }).catch((e) => e.code)]);
    },
    [set.node.url, to],
  );
  assert.deepEqual(await page.evaluate(() => modules), []);
  assert.deepEqual(await other.evaluate(() => got), []);
  hand();
  const results = await page.evaluate(() => sent);
  assert.deepEqual(results, [{ outcome: "delivered", path: "relay" }, { outcome: "delivered", path: "relay" }, "no-answer"]);
  assert.deepEqual(await other.evaluate(() => got), [1, 2, 3]);
  assert.deepEqual(await page.evaluate(() => modules), ["live"]);
});

test("what was loaded ahead serves several runtimes, and is loaded once", async () => {
  const page = await (await set.chromium.newContext()).newPage();
  let asked = 0;
  await page.route("**/hyroute.wasm", (route) => (asked++, route.continue()));
  await page.goto(set.server.url);
  const got = await page.evaluate(async (url) => {
    const { connect, load } = await import("/hyroute.js");
    const module = load();
    await module;
    const [a, b, c] = [await connect(url, { module, direct: false }), ...(await Promise.all([1, 2].map(() => connect(url, { module, direct: false }))))];
    const answers = [];
    for (const me of [a, b, c]) me.on("message", (m) => m.reply(m.value + 1));
    for (const [from, to] of [[a, b], [b, c], [c, a]]) answers.push((await from.request(to.address, answers.length)).value);
    return { answers, addresses: new Set([a.address, b.address, c.address]).size };
  }, set.node.url);
  assert.deepEqual(got, { answers: [1, 2, 3], addresses: 3 });
  assert.equal(asked, 1);
  const refused = await page.evaluate(async (url) => {
    const { connect, load } = await import("/hyroute.js");
    const module = load("/no-such.wasm");
    const code = await module.catch((error) => error.code);
    const me = await connect(url, { module, direct: false });
    return [code, await me.send(me.address + "x", 1).catch((error) => error.code)];
  }, set.node.url);
  assert.deepEqual(refused, ["module", "module"]);
});

test("a module that can not be loaded is a typed error for whoever sends", async () => {
  const page = await set.open();
  const address = await connect(page, undefined, { module: "/no-such.wasm" });
  const error = await page.evaluate((to) => globalThis.told(me.send(to, 1)), address);
  assert.equal(error.code, "module");
  assert.match(error.message, /hyroute\.wasm can not be loaded: .*404/);
});

test("a file server that does not know the type of wasm is good enough", async () => {
  const server = await serve(files({ "/hyroute.wasm": { ...files()["/hyroute.wasm"], type: "application/octet-stream" } }));
  const page = await set.open(undefined, server.url);
  const address = await connect(page);
  assert.equal((await page.evaluate((to) => me.send(to, 1), address)).outcome, "delivered");
  server.close();
});

test("a trap in the module loses nothing but the message that caused it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hyroute-"));
  execFileSync("go", ["run", "./wasm/build", "-tags", "trap", join(folder, "trap.wasm")], { cwd: root });
  const server = await serve(files({ "/hyroute.wasm": { type: "application/wasm", body: readFileSync(join(folder, "trap.wasm")) } }));
  rmSync(folder, { recursive: true });
  const [page, other] = [await set.open(undefined, server.url), await set.open()];
  const [address, to] = [await connect(page, undefined, { direct: true }), await connect(other, undefined, { direct: true })];
  // The other side sends all the while, so frames come in while the machine is being made anew.
  await other.evaluate((back) => {
    globalThis.stop = false;
    globalThis.sent = 0;
    globalThis.run = (async () => {
      while (!stop) await me.send(back, ++sent);
    })();
  }, address);
  const outcome = await page.evaluate(async (t) => {
    const sends = [];
    let poisons = 0;
    for (let i = 1; i <= 500; i++) {
      sends.push(me.send(t, i).then((s) => s.outcome, (e) => `${e.code} ${e.message}`));
      if (i % 100 === 50) {
        const error = globalThis.told(me.send("hyperty://trap.example/poison", i));
        if (i % 200 === 50) await new Promise((resolve) => setTimeout(resolve));
        if ((await error).code === "module") poisons++;
      }
    }
    return { outcomes: [...new Set(await Promise.all(sends))], poisons, traps: warnings.filter((w) => w === "trap").length };
  }, to);
  assert.deepEqual(outcome, { outcomes: ["delivered"], poisons: 5, traps: 5 });
  await other.evaluate(() => (stop = true));
  await other.evaluate(() => run);
  const count = await other.evaluate(() => sent);
  await page.waitForFunction((n) => got.length >= n, count);
  assert.deepEqual(await page.evaluate(() => got), Array.from({ length: count }, (_, i) => i + 1));
  assert.deepEqual(await other.evaluate(() => got), Array.from({ length: 500 }, (_, i) => i + 1));
  assert.deepEqual(page.faults, []);
  server.close();
});

test("a page that goes away tells its peer, which does not wait to find out", async () => {
  const [a, b] = [await set.open(), await set.open()];
  const [address] = [await connect(a, undefined, { direct: true }), await connect(b, undefined, { direct: true })];
  await a.evaluate(() => {
    globalThis.peers = [];
    me.on("status", (s) => s.kind === "peer" && peers.push([s.status, s.reason]));
  });
  await b.evaluate((to) => me.send(to, 1), address);
  await a.waitForFunction(() => peers.some(([status]) => status === "live"));
  const start = performance.now();
  await b.goto("about:blank");
  await a.waitForFunction(() => trace.length > 0);
  assert.ok(performance.now() - start < 3000, "a browser alone takes 5 s to guess it and 15 s to be sure");
});

test("without a node, send rejects at its deadline; with one in time, it is delivered", async () => {
  const port = await freePort();
  const [a, b] = [await set.open(), await set.open()];
  const url = `ws://localhost:${port}/ws`;
  const [, to] = [await connect(a, url), await connect(b, url)];
  const early = await a.evaluate((t) => globalThis.told(me.send(t, "too early", { deadline: 300 })), to);
  assert.deepEqual([early.code, early.maybe], ["no-message-node", false]);
  await a.evaluate((t) => void (globalThis.late = globalThis.told(me.send(t, "in time", { deadline: 25_000 }))), to);
  const node = await startNode(port);
  assert.deepEqual(await a.evaluate(() => late), { value: { outcome: "delivered", path: "relay" } });
  assert.deepEqual(await b.evaluate(() => got), ["in time"]);
  await a.evaluate((t) => {
    globalThis.statuses = [];
    me.on("status", (s) => s.kind === "node" && statuses.push(s.status));
  }, to);
  await node.stop();
  await a.waitForFunction(() => statuses.includes("disconnected"));
  await a.evaluate((t) => void (globalThis.later = globalThis.told(me.send(t, "after the restart", { deadline: 25_000 }))), to);
  const second = await startNode(port);
  assert.deepEqual(await a.evaluate(() => later), { value: { outcome: "delivered", path: "relay" } });
  assert.deepEqual(await b.evaluate(() => got), ["in time", "after the restart"]);
  await second.stop();
});

test("a node that claims another domain than its host gets no proof", async () => {
  const port = await freePort();
  const node = await startNode(port, "bank.example");
  const chromium = await browser(["--host-resolver-rules=MAP *.test 127.0.0.1", "--unsafely-treat-insecure-origin-as-secure=http://plain.test"]);
  try {
    const page = await set.open(await chromium.newContext());
    const told = (url, options) => page.evaluate(([u, o]) => globalThis.told(hyroute.connect(u, o).then((me) => me.address)), [url, options]);
    const refused = await told(`ws://plain.test:${port}/ws`, {});
    assert.equal(refused.code, "other-domain");
    assert.match(refused.message, /pass \{ domain: "bank\.example" \}/);
    assert.match((await told(`ws://plain.test:${port}/ws`, { domain: "bank.example" })).value, /^hyperty:\/\/bank\.example\//);
    assert.equal((await told(`ws://plain.test:${port}/ws`, { domain: "other.example" })).code, "other-domain");
  } finally {
    await chromium.close();
    await node.stop();
  }
});
