// Peer connections in Chromium: when one is made, moved to other paths, and gone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stage } from "./stage.mjs";

let here;
before(async () => (here = await stage()));
after(() => here.close());

/** A page with a runtime, which counts the peer connections that it makes. */
async function runtime(options = {}) {
  const page = await here.open();
  await page.evaluate(async ([url, more]) => {
    globalThis.made = [];
    globalThis.changes = [];
    globalThis.trace = [];
    const counted = class extends RTCPeerConnection {
      constructor(...all) {
        super(...all);
        made.push(this);
      }
    };
    globalThis.me = await hyroute.connect(url, { RTCPeerConnection: counted, trace: (line) => trace.push(line), ...more });
    globalThis.got = [];
    me.on("message", (message) => got.push([message.value, message.path]));
    me.on("status", (status) => status.kind === "peer" && changes.push(status.status));
  }, [here.node.url, options]);
  page.address = await page.evaluate(() => me.address);
  return page;
}

/** Sends numbered messages, ten a second and more, until the page says stop. */
const stream = (page, to) => page.evaluate((address) => {
  globalThis.sent = 0;
  globalThis.sending = setInterval(() => void me.send(address, sent++).catch((error) => (globalThis.failure = String(error))), 20);
}, to);

/** Ends the stream; all that was sent must have come, once and in order. */
async function settle(from, to) {
  const sent = await from.evaluate(() => (clearInterval(sending), sent));
  await to.waitForFunction((count) => got.length >= count, sent);
  assert.deepEqual(await to.evaluate(() => got.map(([value]) => value)), Array.from({ length: sent }, (_, i) => i));
  assert.equal(await from.evaluate(() => globalThis.failure), undefined);
}

const goesDirect = (page, after = 0) => page.waitForFunction((n) => got.slice(n).some(([, path]) => path === "direct"), after);
const ufrag = (page) => page.evaluate(() => /a=ice-ufrag:(\S+)/.exec(made[0].localDescription.sdp)[1]);

for (const side of ["makes the offers", "answers them"]) {
  test(`known fault 38: a network that changes under the side that ${side} restarts ICE on the open channel, and no message is lost`, async () => {
    const pages = await Promise.all([runtime(), runtime()]);
    const [lower, higher] = pages.sort((a, b) => (a.address < b.address ? -1 : 1));
    const [mover, other] = side === "answers them" ? [higher, lower] : [lower, higher];
    await stream(mover, other.address);
    await goesDirect(other);
    const before = await Promise.all([ufrag(mover), ufrag(other)]);
    // Again each six seconds: who asked for a restart only just now, as a channel does that a busy machine starves, is not heard.
    await mover.evaluate(() => {
      me.networkChanged();
      setInterval(() => me.networkChanged(), 6000);
    });
    for (const [i, page] of [mover, other].entries()) {
      const moved = (old) => !made[0].localDescription.sdp.includes(`a=ice-ufrag:${old}`) && made[0].connectionState === "connected" && made[0].signalingState === "stable";
      await page.waitForFunction(moved, before[i], { timeout: 20_000 }).catch(async (cause) => {
        const state = (p) => p.evaluate(() => JSON.stringify([changes, made.map((c) => [c.connectionState, c.iceConnectionState, c.signalingState]), trace.filter((line) => /restart|network-c|signal |peer-stub/.test(line))]));
        throw new Error(`${page === mover ? "the mover" : "the other"} (${before[i]}): ${await state(mover)} and ${await state(other)}`, { cause });
      });
    }
    await goesDirect(other, await other.evaluate(() => got.length));
    await settle(mover, other);
    for (const page of pages) assert.equal(await page.evaluate(() => made.length), 1, "the connection is the first one");
    const stats = await mover.evaluate(() => me.stats());
    assert.equal(stats.sessions.length, 1);
    const [session] = stats.sessions;
    assert.equal(session.path, "direct");
    assert.ok(session.acknowledged > 10 && session.peer.startsWith("runtime://"), JSON.stringify(session));
    assert.equal(stats.peers.length, 1);
    assert.ok(["host", "prflx"].includes(stats.peers[0].local) && stats.peers[0].bytesSent > 0 && stats.peers[0].rtt >= 0, JSON.stringify(stats.peers));
    assert.ok(stats.paths.length >= 1 && stats.paths.at(-1).to === "direct" && stats.paths.every(({ at, reason }) => at > 0 && reason), JSON.stringify(stats.paths));
    await Promise.all(pages.map((page) => page.context().close()));
  });
}

test("known fault 52: 600 dials that nobody answers, or that are refused, make no peer connection", async () => {
  const [page, loner] = await Promise.all([runtime(), runtime({ direct: false })]);
  const domain = new URL(page.address.replace(/^\w+:/, "http:")).host;
  const made = await page.evaluate(async ([of, refuser]) => {
    const nobody = () => Array.from(crypto.getRandomValues(new Uint8Array(32)), (b) => "abcdefghijklmnopqrstuvwxyz234567"[b % 32]).join("");
    const all = Array.from({ length: 600 }, () => told(me.send(`hyperty://${of}/${nobody()}`, "hello", { deadline: 2000 })));
    all.push(told(me.send(refuser, "hello")));
    const outcomes = await Promise.all(all);
    return [globalThis.made.length, outcomes.slice(0, -1).filter(({ code }) => code === undefined).length, outcomes.at(-1).code];
  }, [domain, loner.address]);
  assert.deepEqual(made, [0, 0, undefined]);
  await Promise.all([page, loner].map((p) => p.context().close()));
});

test("known faults 24, 26, 53: a connection that ends is closed on both sides, with nobody listening to it; a page that goes says so", async () => {
  const [a, b, c] = await Promise.all([runtime(), runtime(), runtime()]);
  for (const other of [b, c]) {
    await stream(a, other.address);
    await goesDirect(other);
    await settle(a, other);
  }
  const ended = (page, index) => page.waitForFunction((i) => {
    const connection = made[i];
    return connection.connectionState === "closed" && connection.onicecandidate === null && connection.onconnectionstatechange === null;
  }, index);
  const took = await b.evaluate(async () => {
    const start = performance.now();
    await me.close();
    return performance.now() - start;
  });
  assert.ok(took < 2000, `closing took ${took} ms`);
  await Promise.all([ended(a, 0), ended(b, 0)]);
  const start = Date.now();
  await c.goto("about:blank");
  await ended(a, 1);
  assert.ok(Date.now() - start < 2000, `a page that went away was missed after ${Date.now() - start} ms`);
  assert.equal(await a.evaluate(() => made.length), 2);
  await Promise.all([a, b, c].map((page) => page.context().close()));
});

test("known faults 28, 30: a channel that is closed or throws under an ICE connection that is up is gone, and set up anew", async () => {
  const [a, b] = await Promise.all([runtime(), runtime()]);
  await a.evaluate(() => {
    const make = RTCPeerConnection.prototype.createDataChannel;
    globalThis.channels = [];
    RTCPeerConnection.prototype.createDataChannel = function (...all) {
      const channel = make.apply(this, all);
      channels.push(channel);
      return channel;
    };
  });
  await stream(a, b.address);
  await goesDirect(b);
  await a.evaluate(() => (channels[0].send = () => { throw new DOMException("as a stale readyState makes it", "InvalidStateError"); }));
  await a.waitForFunction(() => channels.length > 1 && channels[1].readyState === "open");
  await goesDirect(b, await b.evaluate(() => got.length));
  await a.evaluate(() => channels[1].close());
  await a.waitForFunction(() => channels.length > 2 && channels[2].readyState === "open");
  await goesDirect(b, await b.evaluate(() => got.length));
  await settle(a, b);
  assert.deepEqual(await a.evaluate(() => made.slice(0, -1).map((connection) => connection.connectionState)), ["closed", "closed"]);
  await Promise.all([a, b].map((page) => page.context().close()));
});

for (const direct of [false, true]) {
  test(`who sends nothing is told that a page is gone, ${direct ? "on a data channel" : "by the node"}, and that it is back`, async () => {
    const [a, b] = await Promise.all([runtime({ direct }), runtime({ direct })]);
    await a.evaluate(() => {
      globalThis.presence = [];
      me.on("presence", ({ peer, status, reason }) => presence.push([peer, status, reason]));
    });
    await stream(a, b.address);
    await b.waitForFunction((path) => got.some((message) => message[1] === path), direct ? "direct" : "relay");
    await settle(a, b);
    assert.deepEqual(await a.evaluate(() => presence), []);
    const url = await b.evaluate(() => me.url);
    await b.goto("about:blank");
    await a.waitForFunction(() => presence.length > 0);
    await b.goto(here.server.url);
    await b.evaluate(async ([node, to]) => {
      const { connect } = await import("/hyroute.js");
      globalThis.me = await connect(node);
      await me.send(to, 0);
    }, [here.node.url, a.address]);
    await a.waitForFunction(() => presence.length > 1);
    assert.deepEqual(await a.evaluate(() => presence), [[url, "disconnected", "no-such-runtime"], [url, "live", "heard"]]);
    await Promise.all([a, b].map((page) => page.context().close()));
  });
}
