import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { concat, fromHex, hex } from "../../src/bytes.ts";
import { decodeContent, encodeContent as encodeParts, type Content } from "../../src/content.ts";
import { HyrouteError } from "../../src/errors.ts";

const encodeContent = (content: Content) => concat(encodeParts(content).map((part) => Uint8Array.from(part)));

interface Vector {
  name: string; hex: string; bad?: boolean; form?: string; request?: boolean; response?: boolean; id?: number; code?: number; type?: string; body?: string;
}

const vectors = JSON.parse(readFileSync(new URL("../../../runtime/message/testdata/contents.json", import.meta.url), "utf8")) as Vector[];

test("contents agree with the shared vectors", () => {
  assert.ok(vectors.length > 20);
  for (const v of vectors) {
    const content = decodeContent(fromHex(v.hex)!);
    if (v.bad) {
      assert.equal(content, undefined, v.name);
      continue;
    }
    assert.ok(content, v.name);
    assert.equal(content.type, v.type ?? "", v.name);
    assert.equal(content.id, v.request || v.response ? (v.id ?? 0) : undefined, v.name);
    assert.equal(content.code, v.response ? (v.code ?? 0) : undefined, v.name);
    const body = Buffer.from(v.body ?? "", "hex");
    if (v.form === "bytes") assert.deepEqual(content.value, new Uint8Array(body), v.name);
    if (v.form === "text") assert.equal(content.value, body.toString(), v.name);
    if (v.form === "json") assert.deepEqual(content.value, JSON.parse(body.toString()), v.name);
    // A string that came as JSON goes as text: it is the same value.
    if (v.form !== "json" || typeof content.value !== "string") assert.equal(hex(encodeContent(content)), v.hex, v.name);
  }
});

test("values come back as they were sent", () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) & 255);
  const proto = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}');
  for (const value of ["", "grüße 🙂", "\ud800 alone", 0, -1.5, true, null, [], [1, [2]], { a: { b: [null] } }, proto, bytes, new Uint8Array(0)]) {
    const content = decodeContent(encodeContent({ value, type: "" }));
    assert.deepEqual(content?.value, value);
  }
  const back = decodeContent(encodeContent({ value: proto, type: "" }))!.value as Record<string, unknown>;
  assert.ok(Object.hasOwn(back, "__proto__"));
  assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined);
});

test("bytes are a copy that shares no memory", () => {
  const source = new Uint8Array([0, 0, 1, 2, 3]);
  const value = decodeContent(source)!.value as Uint8Array;
  source.fill(9);
  assert.deepEqual([...value], [1, 2, 3]);
  assert.equal(value.buffer.byteLength, 3);
});

test("a content is the same however it was cut", () => {
  const bytes = Uint8Array.from({ length: 40 }, (_, i) => i * 5);
  for (const content of [{ value: bytes, type: "read", id: 2 ** 40 }, { value: "grüße 🙂", type: "response", id: 70, code: 200 }] as Content[]) {
    const whole = encodeContent(content);
    for (let a = 0; a <= whole.length; a++) {
      for (let b = a; b <= whole.length; b++) {
        const back = decodeContent(whole.slice(0, a), [whole.slice(a, b), whole.slice(b)])!;
        assert.deepEqual(back, content);
        if (back.value instanceof Uint8Array) assert.equal(back.value.buffer.byteLength, bytes.length);
      }
    }
  }
});

test("what JSON can not hold is refused", () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  for (const value of [undefined, () => 1, Symbol("x"), 1n, loop, new Float32Array(2), new ArrayBuffer(2)]) {
    assert.throws(() => encodeContent({ value, type: "" }), (error) => error instanceof HyrouteError && error.code === "unsupported-payload");
  }
});
