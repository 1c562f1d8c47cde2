import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readAddress } from "../../src/address.ts";
import { decode, decodeEffects, encode, encodeEvent, encodeOpen } from "../../src/wire.ts";

const vectors = readFileSync(new URL("../../../runtime/wire/testdata/vectors.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [kind, expected] = line.split(" ", 2) as [string, string];
    return { kind, expected, line: line.slice(kind.length + expected.length + 2) };
  });

test("every line that the machine may write or must read comes back as the same bytes", () => {
  const lines = vectors.filter(({ kind, expected }) => expected === "ok" && kind !== "at" && kind !== "open");
  assert.ok(lines.length > 70);
  for (const { line } of lines) assert.equal(encode(decode(line)), line);
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

test("what is left out of an effect is zero, empty or false", () => {
  const [signal, settle, wake, deliver] = decodeEffects("signal peer=runtime://a.example/b kind=list addresses=a://b/c,a://b/%2C\nsettle msg=1 outcome=rejected reason=closed\nwake\ndeliver delivery=1 msg=4 from=hyperty://a.example/a to=hyperty://a.example/b path=local\n");
  assert.ok(signal?.verb === "signal" && settle?.verb === "settle" && wake?.verb === "wake" && deliver?.verb === "deliver");
  assert.deepEqual([signal.attempt, signal.addresses], [0, ["a://b/c", "a://b/,"]]);
  assert.deepEqual([settle.maybe, wake.at, deliver.json, deliver.session], [false, 0, 0, 0]);
  assert.deepEqual(decodeEffects(""), []);
});

test("what is zero, empty or absent does not travel", () => {
  assert.equal(
    encodeEvent({ verb: "message-posted", msg: 3, from: "hyperty://a.example/a", to: "hyperty://b.example/b", size: 0, wish: undefined, deadline: 0, plain: false }),
    "message-posted msg=3 from=hyperty://a.example/a to=hyperty://b.example/b",
  );
  assert.equal(
    encodeEvent({ verb: "message-posted", msg: 4, from: "hyperty://a.example/a", to: "hyperty://b.example/b", size: 9, plain: undefined, lane: "my files" }),
    "message-posted msg=4 from=hyperty://a.example/a to=hyperty://b.example/b size=9 lane=my%20files",
  );
  assert.equal(encodeEvent({ verb: "stub-changed", stub: 1, status: "created", resumed: false, reason: "" }), "stub-changed stub=1 status=created");
  assert.equal(encodeOpen({ runtime: "runtime://a.example/r", wall: 5, seed: "0".repeat(15) + "1", domains: [], direct: true }), "open runtime=runtime://a.example/r wall=5 seed=0000000000000001 direct=1\n");
});

test("a key is data, whatever it is called", () => {
  const item = decode("x __proto__=1 constructor=2");
  assert.equal(encode(item), "x __proto__=1 constructor=2");
  assert.equal(Object.getPrototypeOf({}), Object.prototype);
});

test("what the Go codec refuses as an address is refused here, before the machine sees it", () => {
  const refused = vectors.filter((v) => v.expected.startsWith("bad-address"));
  assert.ok(refused.length > 3);
  for (const { line, expected } of refused) {
    const value = decode(line)[expected.split(":")[1]!];
    assert.ok([value].flat().some((text) => readAddress(text) === undefined), line);
  }
});
