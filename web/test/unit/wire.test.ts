import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decodeAt, decodeEffect, decodeEffects, decodeEvent, decodeOpen, encodeEffect, encodeEvent, encodeOpen, frameOf, WireError } from "../../src/wire.ts";

const vectors = readFileSync(new URL("../../../runtime/wire/testdata/vectors.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [kind, expected] = line.split(" ", 2) as [string, string];
    return { kind, expected, line: line.slice(kind.length + expected.length + 2) };
  });

const codecs = new Map<string, (line: string) => string>([
  ["event", (line) => encodeEvent(decodeEvent(line))],
  ["effect", (line) => encodeEffect(decodeEffect(line))],
  ["open", (line) => encodeOpen(decodeOpen(line)).replace(/\n$/, "")],
  ["at", (line) => frameOf(decodeAt(line), []).replace(/\n$/, "")],
]);

test("the codec agrees with the shared vectors", () => {
  assert.ok(vectors.length > 100);
  for (const { kind, expected, line } of vectors) {
    const roundTrip = codecs.get(kind)!;
    if (expected === "ok") {
      assert.equal(roundTrip(line), line);
      continue;
    }
    assert.throws(
      () => roundTrip(line),
      (error) => {
        assert.ok(error instanceof WireError, `${line}: ${error}`);
        assert.equal(error.key === "" ? error.code : `${error.code}:${error.key}`, expected, line);
        return true;
      },
    );
  }
});

test("every verb of the contract has a vector that is read", () => {
  const abi = readFileSync(new URL("../../../wasm/ABI.md", import.meta.url), "utf8");
  const tables = abi.slice(abi.indexOf("\n## Events"));
  const verbs = new Set<string>();
  for (const row of tables.matchAll(/^\| (`[^|]*`) \|/gm)) for (const verb of row[1]!.matchAll(/`([a-z-]+)`/g)) verbs.add(verb[1]!);
  const read = new Set(vectors.filter((v) => v.expected === "ok").map((v) => v.line.split(" ")[0]!));
  assert.ok(verbs.size > 40);
  assert.deepEqual([...verbs].filter((verb) => !read.has(verb)), []);
});

test("what is zero, empty or absent is left out", () => {
  assert.equal(
    encodeEvent({ verb: "message-posted", msg: 3, from: "hyperty://a.example/a", to: "hyperty://b.example/b", size: 0, wish: undefined, deadline: 0 }),
    "message-posted msg=3 from=hyperty://a.example/a to=hyperty://b.example/b",
  );
  assert.equal(encodeEvent({ verb: "stub-changed", stub: 1, status: "created", resumed: false, reason: "" }), "stub-changed stub=1 status=created");
});

test("the output of a step is read line by line", () => {
  assert.deepEqual(decodeEffects("").length, 0);
  assert.deepEqual(
    decodeEffects("release msg=1\nwake\n").map((effect) => effect.verb),
    ["release", "wake"],
  );
  assert.throws(() => decodeEffects("release msg=1\nwake"), WireError);
});
