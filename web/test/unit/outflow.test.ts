import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { Bytes } from "../../src/bytes.ts";
import { Outflow } from "../../src/outflow.ts";

const kib = 1024;

/** A channel that moves what it is told to, when it is told to. */
class Pipe {
  bufferedAmount = 0;
  send(data: Bytes | string): void {
    this.bufferedAmount += data.length;
  }
  move(bytes: number): void {
    this.bufferedAmount = Math.max(0, this.bufferedAmount - bytes);
  }
}

test("what waits is bounded by what the channel moves", (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let now = 10_000;
  t.mock.method(performance, "now", () => now);
  t.after(() => mock.timers.reset());
  const pipe = new Pipe();
  const told: boolean[] = [];
  const flow = new Outflow(pipe, (blocked) => told.push(blocked));
  const fill = () => {
    let sent = 0;
    for (const before = told.length; told.length === before; sent += 16 * kib) flow.send(new Uint8Array(16 * kib));
    return sent;
  };
  assert.equal(fill(), 80 * kib, "64 KiB as long as nothing moved");
  pipe.move(32 * kib);
  flow.look();
  assert.deepEqual(told, [true], "not yet down to a quarter");
  pipe.move(40 * kib);
  mock.timers.tick(8);
  assert.deepEqual(told, [true, false], "the timer looks, too");
  now += 10;
  pipe.move(1 << 20);
  const first = fill();
  assert.ok(first > 80 * kib && first <= 112 * kib, `it moved 80 KiB lately, so more may wait: ${first}`);
  for (let i = 0; i < 40; i++) {
    now += 10;
    pipe.move(1 << 20);
    flow.look();
    fill();
  }
  now += 10;
  pipe.move(1 << 24);
  flow.look();
  const most = fill();
  assert.ok(most > 900 * kib && most <= 1040 * kib, `a fast channel gets 1 MiB and not more: ${most}`);
  pipe.move(1 << 24);
  flow.look();
  now += 60_000;
  assert.equal(fill(), 80 * kib, "after a pause it starts small again");
  flow.stop();
});

test("a channel that throws is the caller's to catch", () => {
  const flow = new Outflow({ bufferedAmount: 0, send() { throw new Error("send queue is full"); } }, () => assert.fail());
  assert.throws(() => flow.send("x"), /full/);
});
