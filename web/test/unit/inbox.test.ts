import assert from "node:assert/strict";
import { test } from "node:test";
import { Inbox } from "../../src/inbox.ts";
import { Message } from "../../src/message.ts";

function message(value: unknown): Message {
  return new Message("hyperty://a.example/a", "hyperty://a.example/b", "local", { value, type: "" }, false, () => assert.fail("nobody answers"));
}

function inbox() {
  const failed: unknown[] = [];
  const taken: unknown[] = [];
  const rest = { now: false };
  const box = new Inbox((cause) => failed.push(cause), () => rest.now, (delivery) => taken.push(delivery));
  const push = (value: number) => box.push({ message: message(value), delivery: value });
  return { box, push, taken, failed, rest };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a message counts as taken when the listener is through with it", async () => {
  const { box, push, taken } = inbox();
  const seen: unknown[] = [];
  let release!: () => void;
  push(1);
  push(2);
  assert.deepEqual(taken, [], "nobody listens");
  const off = box.listen((m) => {
    seen.push(m.value);
    return m.value === 2 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
  });
  push(3);
  assert.deepEqual([seen, taken], [[1, 2], [1]]);
  release();
  await turn();
  assert.deepEqual([seen, taken], [[1, 2, 3], [1, 2, 3]]);
  off();
  push(4);
  await turn();
  assert.deepEqual(taken, [1, 2, 3]);
});

test("at rest nothing is handed over, not even behind a listener that is slow", async () => {
  const { box, push, taken, rest } = inbox();
  const seen: unknown[] = [];
  box.listen(async (m) => void seen.push(m.value));
  push(1);
  push(2);
  rest.now = true;
  await turn();
  push(3);
  await turn();
  assert.deepEqual([seen, taken], [[1], [1]]);
  rest.now = false;
  box.drain();
  await turn();
  assert.deepEqual([seen, taken], [[1, 2, 3], [1, 2, 3]]);
});

test("a listener that throws or rejects has the message all the same, and is told of", async () => {
  const { box, push, taken, failed } = inbox();
  box.listen(() => {
    throw "thrown";
  });
  box.listen(() => Promise.reject("rejected"));
  push(1);
  push(2);
  await turn();
  assert.deepEqual(taken, [1, 2]);
  assert.deepEqual(failed.sort(), ["rejected", "rejected", "thrown", "thrown"]);
});

test("an iterator takes one at a time, and ends when the inbox is closed", async () => {
  const { box, push, taken } = inbox();
  const first = box.next();
  const second = box.next();
  push(1);
  assert.deepEqual((await first).value?.value, 1);
  push(2);
  push(3);
  assert.deepEqual((await second).value?.value, 2);
  assert.deepEqual(taken, [1, 2], "the third waits for a taker");
  const third = await box.next();
  assert.equal(third.value?.value, 3);
  const last = box.next();
  box.close();
  assert.deepEqual(await last, { done: true, value: undefined });
  assert.deepEqual(await box.next(), { done: true, value: undefined });
  push(4);
  assert.deepEqual(taken, [1, 2, 3]);
});
