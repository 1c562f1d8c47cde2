// A node, or a peer, that sends what it should not.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stage } from "./stage.mjs";

let set;
before(async () => (set = await stage()));
after(() => set.close());

/** A page whose socket to the node we can put messages into. */
async function tapped(direct = true) {
  const page = await (await set.chromium.newContext()).newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer();
    page.inject = (message) => socket.send(message);
    page.heard = [];
    socket.onMessage((message) => {
      page.heard.push(message);
      server.send(message);
    });
  });
  await page.goto(set.server.url);
  const [address, url] = await page.evaluate(async ([node, peers]) => {
    const { connect } = await import("/hyroute.js");
    globalThis.warnings = [];
    globalThis.trace = [];
    globalThis.got = [];
    globalThis.me = await connect(node, { direct: peers, warning: (w) => warnings.push(w), trace: (line) => trace.push(line) });
    me.on("message", (m) => void got.push(m.value));
    await me.send(me.address, 0);
    return [me.address, me.url];
  }, [set.node.url, direct]);
  return { page, address, url };
}

const settled = (page, count) => page.waitForFunction((n) => warnings.length >= n, count);

async function stillWorks(page, address) {
  const other = await set.open();
  const sent = await other.evaluate(
    async ([node, to]) => {
      const me = await hyroute.connect(node, { direct: false });
      const result = await me.send(to, "still there?");
      await me.close();
      return result.outcome;
    },
    [set.node.url, address],
  );
  assert.equal(sent, "delivered");
  assert.deepEqual(page.faults, []);
}

test("text that is no message is dropped and told, and nothing else happens", async () => {
  const { page, address, url } = await tapped();
  const before = await page.evaluate(() => trace.length);
  const bad = [
    "", "not json", "[]", "null", "5", '"x"', "{", "{}", '{"id":1}', '{"id":-1,"type":"read","from":"a://b","to":"c://d"}', '{"id":1.5,"type":"read","from":"a://b","to":"c://d"}',
    '{"id":1,"type":5,"from":"a://b","to":"c://d"}', '{"id":1,"type":"read","from":"a://b","to":["c://d"]}', '{"id":1,"type":"read","from":"a://b","to":"c://d","body":[]}',
    JSON.stringify({ id: 1, type: "read", from: "no address", to: address }), JSON.stringify({ id: 1, type: "read", from: address, to: "__proto__" }),
    JSON.stringify({ id: 1, type: "update", from: "domain://registry.x", to: "nonsense/registration", body: { value: "live" } }),
    JSON.stringify({ id: 1, type: "update", from: "domain://registry.x", to: `${address}/registration`, body: { value: "burning" } }),
    JSON.stringify({ id: 1, type: "response", from: "mn:/validator", to: url, body: { code: 400, desc: "to: not one URL" } }),
    "[".repeat(100_000),
  ];
  for (const text of bad) page.inject(text);
  await settled(page, bad.length);
  page.inject(JSON.stringify({ id: 77, type: "response", from: "domain://registry.x", to: `${url}/sm`, body: { code: 200 } })); // nobody asked
  page.inject(JSON.stringify({ id: 0, type: "handshake", from: "mn:/session", to: "mn:/client", body: { nonce: "x".repeat(22), domain: "evil.example" } }));
  await stillWorks(page, address);
  const codes = await page.evaluate(() => warnings.map((w) => w.code));
  assert.deepEqual(codes.slice(0, bad.length).filter((code) => code !== "bad-input"), ["node-complaint"]);
  const trace = await page.evaluate((n) => globalThis.trace.slice(n), before);
  assert.deepEqual(trace.filter((line) => /^(?:json-received|registration-notified)/.test(line)), [], "the machine hears of none of it");
  const jobs = await page.evaluate((pattern) => globalThis.trace.filter((line) => new RegExp(pattern).test(line)).map((line) => / job=(\d+)/.exec(line)[1]), "^registry-answered");
  assert.equal(new Set(jobs).size, jobs.length, "each question is answered once");
});

test("binary messages that are no envelope or hold no frame are dropped", async () => {
  const { page, address } = await tapped();
  const bad = [[], [0], [9, 1, 2, 3], [1], [1, 0, 0], [1, 1, 200], [1, 1, 3, 97, 98, 99], [2], [2, 0x40], [2, 1], [2, 1, 0], [2, 1, 60, 0x40], [3, 1], [3, 1, 2, ...Array(30).fill(0)], Array(100_000).fill(255)];
  for (const bytes of bad) page.inject(Buffer.from(bytes));
  await settled(page, bad.length);
  // These can be cut, but the machine makes nothing of them.
  for (const frame of [[2, 0xff], [1, 0], [1, 0x41], [5, 0x40, 1, 2, 3, 4], [5, 0x60, 255, 255, 255, 255, 1, 2, 3]]) page.inject(Buffer.from([2, 7, ...frame]));
  await stillWorks(page, address);
  assert.ok((await page.evaluate(() => warnings)).slice(0, bad.length).every((w) => w.code === "bad-input"));
});

test("signals that do not verify have no effect", async () => {
  const { page, address, url } = await tapped(false); // it declines the invitation, and no further real signal comes
  const other = await tapped();
  // A real signal of the other runtime, to this one: invite, as the machine sends it when there is traffic.
  await other.page.evaluate((to) => me.send(to, "hello"), address);
  await other.page.waitForFunction(() => trace.some((line) => /^signal /.test(line)));
  const signal = () => other.page.heard.filter((m) => typeof m === "string").map((m) => JSON.parse(m)).find((m) => m.body?.method === "signal");
  while (!signal()) await new Promise((resolve) => setImmediate(resolve));
  const real = signal();
  assert.equal(real.to, `${url}/p2p`);
  const heard = () => page.evaluate(() => trace.filter((line) => /^(?:signal-received|peer-listed)/.test(line)).length);
  await page.waitForFunction(() => trace.some((line) => /^signal-received/.test(line)));
  await page.evaluate(() => me.send(me.address, 1));
  const before = await heard();
  const change = (body, message = {}) => JSON.stringify({ ...real, ...message, body: { ...real.body, ...body } });
  const forged = [
    change({ kind: "bye" }), change({ kind: "offer", value: "v=0\r\n" }), change({ attempt: real.body.attempt + 1 }), change({ signature: "" }), change({ signature: real.body.signature.slice(2) + "AA" }),
    change({ key: "A".repeat(43) }), change({}, { from: `${url}/p2p` }), change({}, { from: real.from.replace(/\/[^/]+\/p2p$/, `/${"a".repeat(32)}/p2p`) }), change({}, { from: real.from.replace("/p2p", "") }),
    change({ method: "burn" }), change({ attempt: -1 }), change({ attempt: 2 ** 32 }), change({ kind: "__proto__" }), change({ value: "x".repeat(70_000) }),
    JSON.stringify({ ...real, body: undefined }), JSON.stringify({ ...real, type: "update", body: {} }),
  ];
  const known = await page.evaluate(() => warnings.length);
  for (const text of forged) page.inject(text);
  await settled(page, known + forged.length);
  assert.equal(await heard(), before);
  await stillWorks(page, address);
});

test("the node forges no answer to a request: it is matched by its sender", async () => {
  const { page, address } = await tapped();
  const asked = page.evaluate((to) => me.request(to.replace(/[^/]+$/, "nobody"), "?", { deadline: 400 }).then((m) => m.value, (e) => e.code), address);
  for (let id = 1; id < 10; id++) {
    page.inject(JSON.stringify({ id, type: "response", from: `${address}x`, to: address, body: { code: 200, value: "forged" } }));
  }
  assert.equal(await asked, "not-found");
});
