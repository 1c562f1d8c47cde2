// A page that keeps its session: what was under way when it went goes on in the page that comes after it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stage } from "./stage.mjs";

let set;
before(async () => (set = await stage()));
after(() => set.close());

/** Makes the package available in a page that was just loaded, and connects. */
async function connect(page, options = {}) {
  return page.evaluate(
    async ([url, more]) => {
      globalThis.hyroute = await import("/hyroute.js");
      globalThis.told = (promise) => promise.then((value) => ({ value }), (error) => ({ code: error.code, maybe: error.maybe, name: error.name, message: error.message }));
      globalThis.warnings = [];
      globalThis.events = [];
      globalThis.sent = [];
      globalThis.me = await hyroute.connect(url, { direct: false, keep: true, warning: (w) => warnings.push(w.code), ...more });
      for (const name of ["reset", "gap"]) me.on(name, (event) => events.push({ name, ...event }));
      return me.address;
    },
    [set.node.url, options],
  );
}

/** Takes what comes from now on. What a page saw is kept where a reload does not reach it. */
const listen = (page) =>
  page.evaluate(() => void me.on("message", (m) => sessionStorage.setItem("got", JSON.stringify([...JSON.parse(sessionStorage.getItem("got") ?? "[]"), m.value]))));

const got = (page) => page.evaluate(() => JSON.parse(sessionStorage.getItem("got") ?? "[]"));
const events = (page) => page.evaluate(() => events);
const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

async function pair(options) {
  const a = await set.open();
  const b = await set.open();
  const addresses = await Promise.all([connect(a, options), connect(b, options)]);
  return { a, b, addressA: addresses[0], addressB: addresses[1] };
}

/** Sends numbers and keeps what becomes of them. */
const post = (page, to, from, last) =>
  page.evaluate(
    ([t, first, end]) => {
      for (let i = first; i <= end; i++) sent.push(told(me.send(t, i)));
    },
    [to, from, last],
  );

/** Says by what path the messages to an address go now. */
const goes = (page, to, path) => page.waitForFunction(async ([t, p]) => (await me.explain(t)).path === p, [to, path]);

const outcomes = (page) => page.evaluate(() => Promise.all(sent));
const restored = (page) => page.evaluate(() => Promise.all(me.restored.map(async ({ from, to, value, outcome }) => ({ from, to, value, ...(await told(outcome)) }))));
const delivered = (list) => assert.deepEqual(list.filter((x) => x.value?.outcome !== "delivered"), []);

for (const direct of [false, true]) {
  test(`50 unacknowledged both ways survive a reload, ${direct ? "on a data channel" : "by the node"}`, async () => {
    const { a, b, addressA, addressB } = await pair({ direct });
    await post(a, addressB, 1, 50);
    await post(b, addressA, 1, 50);
    await Promise.all([goes(a, addressB, direct ? "direct" : "relay"), goes(b, addressA, direct ? "direct" : "relay")]);
    await a.reload();
    assert.equal(await connect(a, { direct }), addressA, "the page has the address that it had");
    assert.deepEqual(await a.evaluate(() => me.restored.map((r) => [r.to, r.value])), numbers(1, 50).map((n) => [addressB, n]));
    await post(a, addressB, 51, 60);
    await post(b, addressA, 51, 60);
    await Promise.all([listen(a), listen(b)]);
    const back = await a.evaluate(() => Promise.all(me.restored.map((r) => told(r.outcome))));
    delivered([...back, ...(await outcomes(a)), ...(await outcomes(b))]);
    assert.deepEqual(await got(b), numbers(1, 60), "once and in order at the other end");
    assert.deepEqual(await got(a), numbers(1, 60), "once and in order at the page that was loaded again");
    assert.deepEqual([await events(a), await events(b)], [[], []], "nobody was told of a loss, for there was none");
    assert.deepEqual([...a.faults, ...b.faults], []);
  });
}
