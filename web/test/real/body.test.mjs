// The body in real pages, against the real Message Node.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFileSync } from "node:fs";
import { root } from "../corpus.mjs";
import { playAll } from "../scenario.ts";
import { stage } from "./stage.mjs";

let set;
before(async () => (set = await stage()));
after(() => set.close());

const connect = (page, options = {}) =>
  page.evaluate(
    async ([url, more]) => {
      globalThis.warnings = [];
      globalThis.got = [];
      globalThis.me = await hyroute.connect(url, { warning: (w) => warnings.push(w.code), ...more });
      me.on("message", (m) => void got.push({ from: m.from, to: m.to, value: m.value instanceof Uint8Array ? [...m.value.slice(0, 4), m.value.length] : m.value, path: m.path }));
      return me.address;
    },
    [set.node.url, options],
  );

const gets = (page, count) => page.waitForFunction((n) => got.length >= n, count).then(() => page.evaluate(() => got));

async function pair(options) {
  const a = await set.open();
  const b = await set.open();
  const addresses = await Promise.all([connect(a, options), connect(b, options)]);
  return { a, b, addressA: addresses[0], addressB: addresses[1] };
}

test("values arrive as they were sent, and send says so", async () => {
  const { a, b, addressA, addressB } = await pair({ direct: false });
  assert.match(addressA, new RegExp(`^hyperty://localhost/[a-z2-7]{32}$`));
  const results = await a.evaluate(async (to) => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31) & 255);
    const values = ["grüße 🙂", "", { a: [1, null, true], "": 0.5 }, [], 42, null, false, bytes, new Uint8Array(0), "\ud800"];
    return Promise.all(values.map((value) => me.send(to, value)));
  }, addressB);
  assert.deepEqual(results, results.map(() => ({ outcome: "delivered", path: "relay" })));
  const got = await gets(b, 10);
  assert.deepEqual(got.map((m) => m.value), ["grüße 🙂", "", { a: [1, null, true], "": 0.5 }, [], 42, null, false, [0, 31, 62, 93, 300_000], [0], "\ud800"]);
  assert.ok(got.every((m) => m.from === addressA && m.to === addressB && m.path === "relay"));
  const intact = await b.evaluate(async (to) => {
    const seen = new Promise((resolve) => me.register("bytes", (m) => resolve(m.value.every((b, i) => b === ((i * 31) & 255)) && m.value.buffer.byteLength === m.value.length)));
    await me.send(to.replace(/[^/]+$/, "bytes"), Uint8Array.from({ length: 70_000 }, (_, i) => (i * 31) & 255));
    return seen;
  }, addressB);
  assert.ok(intact, "bytes come back whole, in memory of their own");
  assert.deepEqual([...a.faults, ...b.faults], []);
});

test("megabytes arrive as they left", async () => {
  const { a, b, addressB } = await pair();
  await b.evaluate(() => {
    me.register("big", (m) => void got.push(m.value.length === 3_000_000 && m.value.every((x, i) => x === ((i * 31) & 255))));
    me.register("small", () => {});
  });
  const big = addressB.replace(/[^/]+$/, "big");
  const small = addressB.replace(/[^/]+$/, "small");
  const order = await a.evaluate(
    async ([first, second]) => {
      const order = [];
      await Promise.all([
        me.send(first, Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31) & 255)).then(() => order.push("big")),
        me.send(second, "word").then(() => order.push("word")),
      ]);
      return order;
    },
    [big, small],
  );
  assert.equal(order.length, 2);
  assert.deepEqual(await b.evaluate(() => got), [true]);
});

test("requests are answered, refused, and given up", async () => {
  const { a, b, addressB } = await pair({ direct: false });
  await b.evaluate(() => {
    me.register("calculator", async (m) => {
      if (m.value === "never") return;
      if (m.value === "no") await m.reply("not today", { code: 403 });
      else await m.reply({ sum: m.value[0] + m.value[1] });
    });
  });
  const to = addressB.replace(/[^/]+$/, "calculator");
  const told = (value, options) => a.evaluate(([t, v, o]) => globalThis.told(me.request(t, v, o).then((m) => ({ value: m.value, code: m.code, path: m.path, from: m.from }))), [to, value, options]);
  assert.deepEqual(await told([2, 3]), { value: { value: { sum: 5 }, code: 200, path: "relay", from: to } });
  const no = await told("no");
  assert.deepEqual([no.code, no.maybe, no.name], ["refused", false, "HyrouteError"]);
  const never = await told("never", { timeout: 50 });
  assert.deepEqual([never.code, never.maybe], ["no-answer", true]);
});

test("a message within one runtime goes nowhere else", async () => {
  const page = await set.open();
  const address = await connect(page);
  const sent = await page.evaluate((to) => me.send(to, "to myself"), address);
  assert.deepEqual(sent, { outcome: "delivered", path: "local" });
  assert.equal((await gets(page, 1))[0].path, "local");
});

test("an async iterator takes messages one at a time and holds the rest back", async () => {
  const { a, b, addressB } = await pair({ direct: false });
  const to = addressB.replace(/[^/]+$/, "slow");
  await b.evaluate(() => void (globalThis.slow = me.register("slow")));
  await a.evaluate((t) => {
    globalThis.settled = 0;
    globalThis.all = Promise.all(Array.from({ length: 200 }, (_, i) => me.send(t, { i, fill: "x".repeat(20_000) }).then(() => settled++)));
  }, to);
  await b.evaluate(async () => {
    globalThis.taken = [];
    for await (const m of slow) {
      taken.push(m.value.i);
      if (taken.length === 10) break;
    }
  });
  await a.waitForFunction(() => settled >= 10);
  assert.ok((await a.evaluate(() => settled)) < 40, "what nobody took is not confirmed");
  await b.evaluate(async () => {
    for await (const m of slow) {
      taken.push(m.value.i);
      if (taken.length === 200) break;
    }
  });
  await a.evaluate(() => all);
  assert.deepEqual(await b.evaluate(() => taken), Array.from({ length: 200 }, (_, i) => i));
});

test("a long message in a lane of its own holds up nothing, and its bytes arrive as they left", async () => {
  const { a, b, addressB } = await pair({ direct: false });
  await b.evaluate(() => {
    globalThis.came = [];
    me.on("message", async ({ value }) => {
      const bytes = value instanceof Uint8Array;
      const hash = bytes && [...new Uint8Array(await crypto.subtle.digest("SHA-256", value))].join();
      came.push(bytes ? [value.length, value.byteOffset, value.buffer.byteLength, hash] : value);
    });
  });
  const sent = await a.evaluate(async (to) => {
    const file = new Uint8Array(16 * 2 ** 20);
    for (let i = 0; i < file.length; i += 65_536) crypto.getRandomValues(file.subarray(i, i + 65_536));
    const hash = [...new Uint8Array(await crypto.subtle.digest("SHA-256", file))].join();
    const long = me.send(to, file, { lane: "files" });
    await me.send(to, "a word");
    await long;
    await me.send(to, new Uint8Array(0), { lane: "files" });
    return hash;
  }, addressB);
  await b.waitForFunction(() => came.length === 3);
  const [word, file, nothing] = await b.evaluate(() => came);
  const size = 16 * 2 ** 20;
  assert.deepEqual([word, file, nothing.slice(0, 3)], ["a word", [size, 0, size, sent], [0, 0, 0]]);
});

test("send says what is wrong", async () => {
  const page = await set.open();
  const address = await connect(page, { direct: false });
  const told = (to, value, options) => page.evaluate(([t, v, o]) => globalThis.told(me.send(t, v === "a function" ? () => 1 : v, o)), [to, value, options]);
  assert.equal((await told("no address", 1)).code, "bad-address");
  assert.equal((await told(address, "a function")).code, "unsupported-payload");
  assert.equal((await told(address, 1, { deadline: -5 })).code, "bad-option");
  assert.equal((await told(address, 1, { lane: "x".repeat(65) })).code, "bad-option");
  const nobody = await told(address.replace(/[^/]+$/, "nobody"), 1, { deadline: 300 });
  assert.deepEqual([nobody.code, nobody.maybe], ["not-found", false]);
  const aborted = await page.evaluate((to) => {
    const controller = new AbortController();
    const sent = globalThis.told(me.send(to, 1, { signal: controller.signal }));
    controller.abort();
    return sent;
  }, address.replace(/[^/]+$/, "nobody"));
  assert.deepEqual([aborted.code, aborted.maybe], ["aborted", true]);
  assert.equal((await page.evaluate(() => globalThis.told(hyroute.connect("ftp://x/")))).code, "bad-option");
  assert.equal((await page.evaluate(() => { try { me.register("a b") } catch (e) { return e.code } })), "bad-address");
});

test("an address of another runtime is not taken over", async () => {
  const { a, b, addressA } = await pair({ direct: false });
  await b.evaluate((to) => me.send(to, "so it is registered"), addressA);
  await b.evaluate((to) => void me.register(to, () => {}), addressA);
  await b.waitForFunction(() => warnings.includes("name-taken"));
  const sent = await b.evaluate(() => me.address);
  assert.equal(await a.evaluate((to) => me.send(to, "still here").then((s) => s.outcome), sent), "delivered");
});

test("__proto__ as part of an address, as key and as body is data", async () => {
  const { a, b, addressB } = await pair({ direct: false });
  const to = addressB.replace(/[^/]+$/, "__proto__");
  await b.evaluate(() => me.register("__proto__", (m) => got.push({ to: m.to, own: Object.hasOwn(m.value, "__proto__"), text: JSON.stringify(m.value) })));
  await a.evaluate(async (t) => {
    await me.send(t, JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}'));
    await me.send(t, Object.fromEntries([["x", "__proto__"]]));
    me.register("constructor");
  }, to);
  const got = await gets(b, 2);
  assert.deepEqual(got, [
    { to, own: true, text: '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}' },
    { to, own: false, text: '{"x":"__proto__"}' },
  ]);
  for (const page of [a, b]) assert.equal(await page.evaluate(() => ({}).isAdmin), undefined);
});

test("explain says how a message would go, and why", async () => {
  const { a, addressB } = await pair({ direct: false });
  await a.evaluate((to) => me.send(to, 1), addressB);
  const why = await a.evaluate((to) => me.explain(to), addressB);
  assert.equal(why.by, "session");
  assert.equal(why.path, "relay");
  assert.match(why.peer, /^runtime:\/\/localhost\/[a-z2-7]{32}$/);
  assert.ok(why.steps.length > 0 && why.steps.every((n) => n >= 1 && n <= 25));
});

test("traffic moves to a peer connection while it flows, in order and once", async () => {
  const { a, b, addressB } = await pair();
  await a.evaluate((to) => {
    globalThis.stop = false;
    globalThis.sent = 0;
    globalThis.run = (async () => {
      while (!stop) await me.send(to, ++sent);
    })();
  }, addressB);
  await b.waitForFunction(() => got.some((m) => m.path === "direct"));
  await a.evaluate(() => (stop = true));
  await a.evaluate(() => run);
  const count = await a.evaluate(() => sent);
  const got = await gets(b, count);
  assert.equal(got[0].path, "relay", "the first message does not wait for a peer connection");
  assert.deepEqual(got.map((m) => m.value), Array.from({ length: count }, (_, i) => i + 1));
});

test("when a peer connection is closed, traffic goes on through the node", async () => {
  const { a, b, addressB } = await pair();
  await a.evaluate(
    async ([url, to]) => {
      await me.close();
      globalThis.made = [];
      const Recorded = class extends RTCPeerConnection {
        constructor(...args) {
          if (made.closed) throw new Error("switched off");
          super(...args);
          made.push(this);
        }
      };
      globalThis.me = await hyroute.connect(url, { RTCPeerConnection: Recorded });
      globalThis.paths = [];
      me.on("path", (p) => paths.push(p.path));
      globalThis.stop = false;
      globalThis.sent = 0;
      globalThis.run = (async () => {
        while (!stop) await me.send(to, ++sent);
      })();
    },
    [set.node.url, addressB],
  );
  await b.waitForFunction(() => got.some((m) => m.path === "direct"));
  await a.evaluate(() => {
    made.closed = true;
    for (const connection of made) {
      connection.close();
      connection.dispatchEvent(new Event("connectionstatechange"));
    }
  });
  const before = await b.evaluate(() => got.length);
  await b.waitForFunction((n) => got.slice(n).filter((m) => m.path === "relay").length > 20, before);
  await a.evaluate(() => (stop = true));
  await a.evaluate(() => run);
  const count = await a.evaluate(() => sent);
  assert.deepEqual((await gets(b, count)).map((m) => m.value), Array.from({ length: count }, (_, i) => i + 1));
  assert.deepEqual((await a.evaluate(() => paths)).slice(-1), ["relay"]);
});

test("close rejects what waits, ends loops, and leaves the socket", async () => {
  const page = await set.open();
  const address = await connect(page);
  const result = await page.evaluate(async (to) => {
    const waits = globalThis.told(me.send(to, 1, { deadline: 60_000 }));
    const loop = (async () => {
      for await (const m of me.register("loop")) void m;
      return "ended";
    })();
    await me.close();
    await me.close();
    return { waits: await waits, loop: await loop, later: await globalThis.told(me.send(to, 2)), explain: await globalThis.told(me.explain(to)) };
  }, address.replace(/[^/]+$/, "nobody"));
  assert.equal(result.waits.code, "closed");
  assert.equal(result.loop, "ended");
  assert.equal(result.later.code, "closed");
  assert.equal(result.explain.code, "closed");
  const again = await set.open();
  await connect(again);
  const sent = await again.evaluate((to) => globalThis.told(me.send(to, 3, { deadline: 500 })), address);
  assert.equal(sent.code, "no-such-runtime", "the node forgot the runtime at once");
});

test("what the machine was told in a page, it answers alike in Node", async () => {
  const [a, b] = [await set.open(), await set.open()];
  const addressB = await connect(b);
  const trace = await a.evaluate(
    async ([url, to]) => {
      const lines = [];
      const me = await hyroute.connect(url, { trace: (line) => lines.push(line) });
      const moved = new Promise((resolve) => me.on("path", ({ path }) => path === "direct" && resolve()));
      await me.send(to, new Uint8Array(100_000));
      await moved;
      await Promise.all(Array.from({ length: 50 }, (_, i) => me.send(to, i)));
      await me.send(to.replace(/[^/]+$/, "nobody"), 1, { deadline: 100 }).catch(() => undefined);
      await me.close();
      return lines;
    },
    [set.node.url, addressB],
  );
  assert.ok(trace.some((line) => line.startsWith("transmit")) && trace.some((line) => line.startsWith("frame-received")));
  const module = await WebAssembly.compile(readFileSync(`${root}web/dist/hyroute.wasm`));
  assert.deepEqual(await playAll(module, [{ name: "from a page", text: trace.join("\n") + "\n" }]), []);
});
