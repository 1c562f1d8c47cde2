// A page that keeps its session: what was under way when it went goes on in the page that comes after it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser } from "./chromium.mjs";
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
      globalThis.trace = [];
      globalThis.me = await hyroute.connect(url, { direct: false, keep: true, warning: (w) => warnings.push(w.code), trace: (line) => trace.push(line), ...more });
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

/** Of the states that are stored, so many are marked final. */
const finals = (page) =>
  page.evaluate(
    () => new Promise((resolve) => {
      indexedDB.open("hyroute states").onsuccess = ({ target }) => {
        target.result.transaction("states").objectStore("states").getAll().onsuccess = (e) => resolve(e.target.result.filter((x) => x.final).length);
      };
    }),
  );

const outcomes = (page) => page.evaluate(() => Promise.all(sent));
const restored = (page) => page.evaluate(() => Promise.all(me.restored.map(async ({ from, to, value, outcome }) => ({ from, to, value, ...(await told(outcome)) }))));
const delivered = (list) => assert.deepEqual(list.filter((x) => x.value?.outcome !== "delivered"), []);

for (const direct of [false, true]) {
  test(`50 unacknowledged both ways survive a reload, ${direct ? "on a data channel" : "by the node"}`, async () => {
    const { a, b, addressA, addressB } = await pair({ direct });
    if (!direct) {
      await b.reload();
      await connect(b, { direct: true });
    }
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
    // The options are those of the new page.
    await a.reload();
    await connect(a, { direct: !direct });
    await post(a, addressB, 61, 61);
    delivered(await outcomes(a));
    await goes(a, addressB, direct ? "relay" : "direct");
    assert.deepEqual([await events(a), await events(b)], [[], []], "nobody was told of a loss, for there was none");
    assert.deepEqual([...a.faults, ...b.faults], []);
  });
}

test("reload after reload, some before the module is there, loses nothing either way (socket.io#5363, centrifuge-go#150)", async () => {
  const { a, b, addressA, addressB } = await pair();
  await listen(b);
  let last = 0;
  for (let round = 1; round <= 6; round++) {
    await post(a, addressB, last + 1, last + 10);
    await post(b, addressA, last + 1, last + 10);
    last += 10;
    await a.reload();
    if (round % 2 === 0) {
      // This page connects, and is gone before its machine took a step.
      const slow = { module: undefined };
      await a.evaluate(
        async ([url]) => {
          const { connect } = await import("/hyroute.js");
          globalThis.me = await connect(url, { direct: false, keep: true, module: new Promise(() => {}) });
        },
        [set.node.url, slow],
      );
      await a.reload();
    }
    assert.equal(await connect(a), addressA);
  }
  await listen(a);
  delivered([...(await restored(a)), ...(await outcomes(a)), ...(await outcomes(b))]);
  assert.deepEqual(await got(b), numbers(1, last));
  assert.deepEqual(await got(a), numbers(1, last));
  assert.deepEqual([await events(a), await events(b)], [[], []]);
});

test("what was sent before the module was there comes with the state", async () => {
  const { a, b, addressB } = await pair();
  await listen(b);
  const early = (page, first, last) =>
    page.evaluate(
      async ([url, to, from, end]) => {
        const { connect } = await import("/hyroute.js");
        globalThis.me = await connect(url, { direct: false, keep: true, module: new Promise(() => {}) });
        for (let i = from; i <= end; i++) void me.send(to, i).catch(() => undefined);
        return me.address;
      },
      [set.node.url, addressB, first, last],
    );
  // A life that goes on, and one that is the first.
  for (const [page, from] of [[a, 1], [await set.open(), 11]]) {
    const address = await early(page, from, from + 4);
    await page.reload();
    assert.equal(await early(page, from + 5, from + 9), address);
    await page.reload();
    assert.equal(await connect(page), address);
    assert.deepEqual(await page.evaluate(() => me.restored.map((r) => r.value)), numbers(from, from + 9));
    delivered(await restored(page));
  }
  assert.deepEqual(await got(b), numbers(1, 20));
  assert.deepEqual(await events(b), []);
});

test("what was sent before a reload is answered after it", async () => {
  const { a, b, addressB } = await pair();
  await a.evaluate((to) => void me.request(to, "what?", { timeout: 60_000 }).catch(() => undefined), addressB);
  await b.evaluate(() => {
    globalThis.asked = new Promise((resolve) => me.on("message", (m) => resolve(m)));
    return asked.then(() => undefined);
  });
  await a.reload();
  await connect(a);
  await b.evaluate(() => asked.then((m) => m.reply("that")));
  assert.deepEqual(
    await a.evaluate(() => Promise.all(me.restored.map(async (r) => (await r.outcome).value))),
    ["that"],
  );
});

test("large contents come with the state", async () => {
  const { a, b, addressB } = await pair();
  const fill = ([t, n]) => {
    for (let i = 0; i < n; i++) void me.send(t, Uint8Array.from({ length: 1_000_000 }, (_, k) => (k * 31 + i) & 255)).catch(() => undefined);
  };
  await a.evaluate(fill, [addressB, 3]);
  await a.reload();
  await connect(a);
  assert.deepEqual(await a.evaluate(() => me.restored.map((r) => r.value.length)), [1_000_000, 1_000_000, 1_000_000]);
  await b.evaluate(() => {
    globalThis.right = [];
    me.on("message", (m) => void right.push(m.value.length === 1_000_000 && m.value.every((x, k) => x === ((k * 31 + right.length) & 255))));
  });
  delivered(await a.evaluate(() => Promise.all(me.restored.map((r) => told(r.outcome)))));
  assert.deepEqual(await b.evaluate(() => right), [true, true, true]);
});

test("a page that comes without the state says so: session-reset at the sender, gap at the receiver (centrifugo#165)", async () => {
  const { a, b, addressA, addressB } = await pair();
  await listen(a);
  await listen(b);
  await Promise.all([post(a, addressB, 1, 5), post(b, addressA, 1, 5)]);
  delivered([...(await outcomes(a)), ...(await outcomes(b))]);
  await a.reload();
  await connect(a, { keep: false });
  await listen(a);
  await post(a, addressB, 6, 6);
  delivered(await outcomes(a));
  await post(b, addressA, 6, 6);
  delivered(await outcomes(b));
  assert.deepEqual((await events(b)).map((e) => e.name).sort(), ["gap", "reset"]);
  assert.deepEqual(await got(b), numbers(1, 6));
  // The state that was left behind is older than what the peer saw meanwhile. The peer knows, and says so: nothing comes twice, and what
  // was sent before this page heard of it is in doubt.
  await a.reload();
  await connect(a);
  await post(a, addressB, 7, 7);
  const [early] = await outcomes(a);
  if (early.code) assert.deepEqual([early.code, early.maybe], ["session-reset", true]);
  await post(a, addressB, 8, 8);
  assert.equal((await outcomes(a))[1].value?.outcome, "delivered");
  assert.deepEqual(await got(b), early.code ? [...numbers(1, 6), 8] : numbers(1, 8));
  assert.ok((await events(b)).filter((e) => e.name === "gap").length > 1);
});

test("a page that died without a last act starts anew, with a clock above", async () => {
  const { a, b, addressA, addressB } = await pair();
  await listen(b);
  await post(a, addressB, 1, 5);
  delivered(await outcomes(a));
  const wall = await a.evaluate(() => Date.now());
  await a.addInitScript((t) => (Date.now = () => t - 3_600_000), wall); // and the clock went back
  await a.reload();
  const head = await a.evaluate(
    () => new Promise((resolve) => {
      indexedDB.open("hyroute states").onsuccess = ({ target }) => {
        const store = target.result.transaction("states", "readwrite").objectStore("states");
        store.openCursor().onsuccess = ({ target: { result: cursor } }) => {
          const { final, ...head } = cursor.value;
          cursor.update(head).onsuccess = () => resolve({ final, ...head });
        };
      };
    }),
  );
  assert.ok(head.final > 0 && head.wall >= wall, "the state was there until now");
  assert.equal(await connect(a), addressA);
  assert.deepEqual(await a.evaluate(() => me.restored), []);
  await post(a, addressB, 6, 7);
  delivered(await outcomes(a));
  assert.deepEqual(await got(b), numbers(1, 7));
  assert.deepEqual((await events(b)).filter((e) => e.name === "gap").length, 1);
  const begun = await a.evaluate(() => trace.find((line) => line.startsWith("open")));
  assert.ok(Number(/ wall=(\d+)/.exec(begun)[1]) > head.wall, begun);
});

test("a duplicated tab is another runtime (MQTT.js#684)", async () => {
  const { a, b, addressA, addressB } = await pair();
  await listen(a);
  await listen(b);
  const [twin] = await Promise.all([a.context().waitForEvent("page"), a.evaluate(() => void window.open(location.href))]);
  await twin.waitForLoadState();
  const addressTwin = await connect(twin);
  assert.notEqual(addressTwin, addressA, "session storage was copied, and the lock was taken");
  assert.deepEqual(await twin.evaluate(() => me.restored), []);
  await listen(twin);
  await Promise.all([post(a, addressB, 1, 20), post(twin, addressA, 1, 20), post(b, addressTwin, 1, 20)]);
  for (const page of [a, b, twin]) delivered(await outcomes(page));
  await a.reload();
  assert.equal(await connect(a), addressA, "and each keeps its own");
  await twin.reload();
  assert.equal(await connect(twin), addressTwin);
  assert.deepEqual([await events(a), await events(twin), await events(b)], [[], [], []]);
});

test("a runtime whose lock is stolen is over", async () => {
  for (const [name, options] of [["hyroute key ", { keep: false }], ["hyroute runtime ", {}]]) {
    const page = await set.open();
    const address = await connect(page, options);
    await page.evaluate(async (start) => {
      const { held } = await navigator.locks.query();
      void navigator.locks.request(held.find((lock) => lock.name.startsWith(start)).name, { steal: true }, () => new Promise(() => {})).catch(() => undefined);
    }, name);
    const sent = await page.waitForFunction(async (to) => {
      const result = await told(me.send(to, 1, { deadline: 100 }));
      return result.code === "superseded" && result;
    }, address.replace(/[^/]+$/, "nobody"));
    assert.equal((await sent.jsonValue()).code, "superseded");
  }
});

test("two pages of one seed never share a runtime, and the next one has it at once (peerjs#224)", async () => {
  const context = await set.chromium.newContext();
  const seed = Array.from({ length: 32 }, (_, i) => i);
  const with_ = (page) => page.evaluate(async ([url, s]) => {
    globalThis.hyroute = await import("/hyroute.js");
    return told(hyroute.connect(url, { keep: true, direct: false, seed: Uint8Array.from(s) }).then((me) => me.url));
  }, [set.node.url, seed]);
  const [a, b] = [await set.open(context), await set.open(context)];
  const first = await with_(a);
  assert.match(first.value ?? JSON.stringify(first), /^runtime:/);
  assert.equal((await with_(b)).code, "superseded");
  await a.close();
  assert.deepEqual(await with_(b), first);
});

for (const cache of [true, false]) {
  test(`away and back, ${cache ? "with" : "without"} the cache of whole pages`, async () => {
    const chromium = await browser([], cache ? ["--disable-back-forward-cache"] : []);
    try {
      const [a, b] = [await set.open(await chromium.newContext()), await set.open()];
      const [addressA, addressB] = await Promise.all([connect(a), connect(b)]);
      await listen(b);
      await post(a, addressB, 1, 20);
      await post(b, addressA, 1, 20);
      for (const elsewhere of [`${set.server.url}hyroute.js`, "about:blank"]) {
        await a.goto(elsewhere);
        await a.goBack({ waitUntil: "commit" });
        const alive = await a.evaluate(() => globalThis.me !== undefined);
        assert.equal(alive, cache, "the page lived on in the cache, or was loaded anew");
        if (!alive) assert.equal(await connect(a), addressA);
      }
      await listen(a);
      await post(a, addressB, 21, 25);
      await post(b, addressA, 21, 25);
      delivered([...(await outcomes(a)), ...(await outcomes(b))]);
      assert.deepEqual([await got(a), await got(b)], [numbers(1, 25), numbers(1, 25)]);
      assert.deepEqual([await events(a), await events(b)], [[], []]);
    } finally {
      await chromium.close();
    }
  });
}

test("a page that lives on after its last act hands nothing over any more, and its state is good", async () => {
  const { a, b, addressA, addressB } = await pair();
  await post(a, addressB, 1, 5);
  await post(b, addressA, 1, 20);
  await a.waitForFunction(() => trace.filter((line) => line.startsWith("deliver ")).length === 20);
  // Firefox tells a page that it goes long before it is gone, and in the middle of a listener that waits for a synchronous request.
  await a.evaluate(() => {
    const note = (value) => sessionStorage.setItem("got", JSON.stringify([...JSON.parse(sessionStorage.getItem("got") ?? "[]"), value]));
    me.on("message", (m) => {
      note(m.value);
      if (m.value === 5) dispatchEvent(new PageTransitionEvent("pagehide"));
    });
  });
  await post(b, addressA, 21, 25);
  await listen(b);
  await a.reload();
  assert.equal(await connect(a), addressA);
  await listen(a);
  delivered([...(await restored(a)), ...(await outcomes(b))]);
  const all = await got(a);
  assert.deepEqual(all, [...numbers(1, 5), ...numbers(5, 25)], "only what was being handled then comes again");
  assert.deepEqual(await got(b), numbers(1, 5));
  assert.deepEqual([await events(a), await events(b)], [[], []]);
});

test("a page that goes again while it comes back keeps its state", async () => {
  const { a, b, addressA, addressB } = await pair();
  await Promise.all([listen(a), listen(b)]);
  await post(a, addressB, 1, 5);
  await post(b, addressA, 1, 5);
  delivered([...(await outcomes(a)), ...(await outcomes(b))]);
  await a.evaluate(() => {
    for (const name of ["pagehide", "pageshow", "pagehide"]) dispatchEvent(new PageTransitionEvent(name));
  });
  await a.reload();
  assert.equal(await connect(a), addressA);
  await listen(a);
  await post(a, addressB, 6, 9);
  await post(b, addressA, 6, 9);
  delivered([...(await outcomes(a)), ...(await outcomes(b))]);
  assert.deepEqual([await got(a), await got(b)], [numbers(1, 9), numbers(1, 9)]);
  assert.deepEqual([await events(a), await events(b)], [[], []]);
});

test("a page that was frozen takes its mark away before it goes on", async () => {
  const { a, b, addressA, addressB } = await pair();
  await Promise.all([listen(a), listen(b)]);
  await post(a, addressB, 1, 10);
  const session = await a.context().newCDPSession(a);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  await post(b, addressA, 1, 10);
  await session.send("Page.setWebLifecycleState", { state: "active" });
  await post(a, addressB, 11, 20);
  delivered([...(await outcomes(a)), ...(await outcomes(b))]);
  assert.equal(await finals(a), 0);
  assert.deepEqual([await got(a), await got(b)], [numbers(1, 10), numbers(1, 20)]);
  assert.deepEqual([await events(a), await events(b)], [[], []]);
});

test("half a step is not stored", async () => {
  const { a, b, addressA, addressB } = await pair();
  await Promise.all([listen(a), listen(b)]);
  // Firefox may end a script in the middle, and say that the page goes all the same.
  await a.evaluate(() => {
    trace.push = (line) => {
      if (!globalThis.went && line.startsWith("deliver ")) {
        globalThis.went = true;
        dispatchEvent(new PageTransitionEvent("pagehide"));
      }
    };
  });
  await post(b, addressA, 1, 5);
  delivered(await outcomes(b));
  await post(a, addressB, 1, 5);
  delivered(await outcomes(a));
  assert.equal(await a.evaluate(() => went), true);
  assert.equal(await finals(a), 0);
  assert.deepEqual([await got(a), await got(b)], [numbers(1, 5), numbers(1, 5)]);
  assert.deepEqual([await events(a), await events(b)], [[], []]);
});
