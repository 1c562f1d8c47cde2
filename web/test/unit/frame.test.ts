import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, utf8 } from "../../src/bytes.ts";
import { cutFrame, forwardPrefix, nameEnvelope, readEnvelope, readVarint, varint } from "../../src/frame.ts";

test("varints are those of RFC 9000", () => {
  const known: [number, number[]][] = [
    [0, [0]], [37, [0x25]], [63, [63]], [64, [0x40, 64]], [15293, [0x7b, 0xbd]], [16383, [0x7f, 0xff]], [16384, [0x80, 0, 0x40, 0]],
    [494878333, [0x9d, 0x7f, 0x3e, 0x7d]], [2 ** 30 - 1, [0xbf, 0xff, 0xff, 0xff]], [2 ** 30, [0xc0, 0, 0, 0, 0x40, 0, 0, 0]],
    [Number.MAX_SAFE_INTEGER, [0xc0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ];
  for (const [value, bytes] of known) {
    assert.deepEqual(varint(value), bytes);
    assert.deepEqual(readVarint(Uint8Array.from(bytes), 0), [value, bytes.length]);
    for (let cut = 0; cut < bytes.length; cut++) assert.equal(readVarint(Uint8Array.from(bytes.slice(0, cut)), 0), undefined);
  }
  assert.equal(readVarint(Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), 0), undefined);
});

test("envelopes are read as they are written", () => {
  const url = "runtime://b.example/grüße";
  assert.deepEqual(readEnvelope(nameEnvelope(4095, url)), { kind: "name", handle: 4095, runtime: url });
  const head = Uint8Array.from([3, 0x40, 1, 2]);
  const sent = concat([Uint8Array.from(forwardPrefix(70)), head, new Uint8Array(2), utf8("abc")]);
  const forward = readEnvelope(sent);
  assert.ok(forward?.kind === "forward" && forward.handle === 70);
  const [back, payload] = cutFrame(forward.frame)!;
  assert.deepEqual([...back], [...head]);
  assert.deepEqual([...payload], [0, 0, 97, 98, 99]);
  const notice = readEnvelope(Uint8Array.from([3, 5, 4, 9, 8]));
  assert.deepEqual(notice, { kind: "notice", handle: 5, reason: 4, head: Uint8Array.from([9, 8]) });
});

test("what is no envelope is not read", () => {
  const name = nameEnvelope(1, "runtime://b.example/r");
  for (const bytes of [[], [1], [9, 1, 2], [3, 1], [3, 1, ...Array(26).fill(0)], [2, 0x40], [...name.slice(0, -1)], [...name, 0], [1, 0, 0], [1, 0x50, 0, 0], [1, 1, 1, 0xff]]) {
    assert.equal(readEnvelope(Uint8Array.from(bytes)), undefined, String(bytes));
  }
});

test("a frame that lies about its header is not cut", () => {
  for (const bytes of [[], [0], [2, 0x40], [0x40], [...varint(4097), ...Array(4097).fill(0x40)]]) {
    assert.equal(cutFrame(Uint8Array.from(bytes)), undefined);
  }
  assert.ok(cutFrame(concat([Uint8Array.from(varint(4096)), new Uint8Array(4096)])));
});
