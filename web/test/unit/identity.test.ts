import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { base32, base64url, fromBase64url, fromHex, utf8 } from "../../src/bytes.ts";
import { scheme as plain } from "../../src/ed25519.ts";
import { HyrouteError } from "../../src/errors.ts";
import { Identity } from "../../src/identity.ts";
import { webCrypto } from "../../src/scheme.ts";
import { sha256, sha512 } from "../../src/sha2.ts";

interface Vectors {
  keys: { seed: string; public: string; id: string }[];
  opens: { seed: string; nonce: string; runtime: string; domain: string; text: string; signature: string }[];
  signals: { seed: string; from: string; to: string; kind: string; attempt: number; value: string; signature: string }[];
}

const vectors = JSON.parse(readFileSync(new URL("../../../identity/testdata/vectors.json", import.meta.url), "utf8")) as Vectors;
const none = () => assert.fail("no warning is due");
const load = (seed: string) => Identity.load(fromHex(seed)!, none);

test("keys, opens and signals agree with the shared vectors", async () => {
  assert.ok(vectors.keys.length > 2 && vectors.opens.length > 1 && vectors.signals.length > 1);
  for (const v of vectors.keys) {
    const identity = await load(v.seed);
    assert.equal(identity.key, v.public);
    assert.equal(identity.id, v.id);
  }
  for (const v of vectors.opens) assert.equal(await (await load(v.seed)).signOpen(v.nonce, v.runtime, v.domain), v.signature);
  for (const v of vectors.signals) {
    const identity = await load(v.seed);
    assert.equal(await identity.signSignal(v), v.signature);
    assert.ok(await identity.verifySignal(v, identity.key, v.signature));
  }
});

test("both schemes make the same keys and signatures", async () => {
  for (const v of vectors.opens) {
    const seed = fromHex(v.seed)!;
    for (const scheme of [webCrypto, plain]) {
      const pair = await scheme.fromSeed(seed);
      const signature = await scheme.sign(pair.secret, utf8(v.text));
      assert.equal(base64url(signature), v.signature);
      assert.ok(await scheme.verify(pair.public, signature, utf8(v.text)));
      assert.equal(await scheme.verify(pair.public, signature, utf8(v.text + " ")), false);
      assert.equal(await scheme.verify(new Uint8Array(32).fill(255), signature, utf8(v.text)), false);
      const drawn = await scheme.generate();
      assert.ok(await scheme.verify(drawn.public, await scheme.sign(drawn.secret, seed), seed));
    }
  }
});

test("a signal that was changed in any field does not verify", async () => {
  const v = vectors.signals[0]!;
  const identity = await load(v.seed);
  const other = await load(vectors.keys[1]!.seed);
  const changed = [
    { ...v, to: v.from }, { ...v, kind: "bye" }, { ...v, kind: v.kind + "\n" }, { ...v, attempt: v.attempt + 1 }, { ...v, value: v.value + "x" }, { ...v, from: v.from + "/p2p" },
    { ...v, from: v.to },
  ];
  for (const signal of changed) assert.equal(await identity.verifySignal(signal, identity.key, v.signature), false);
  assert.equal(await identity.verifySignal(v, other.key, v.signature), false);
  assert.equal(await identity.verifySignal(v, other.key, await other.signSignal(v)), false, "the key is not the one that the sender's URL names");
  for (const bad of [undefined, 5, "", "x", v.signature + "A", v.signature.slice(0, -1)]) {
    assert.equal(await identity.verifySignal(v, identity.key, bad), false);
    assert.equal(await identity.verifySignal(v, bad, v.signature), false);
  }
});

test("a seed has 32 bytes", async () => {
  await assert.rejects(Identity.load(new Uint8Array(31), none), (error) => error instanceof HyrouteError && error.code === "bad-option");
});

test("SHA-2 in plain code is that of the system", () => {
  for (const size of [0, 1, 55, 56, 63, 64, 111, 112, 119, 120, 127, 128, 129, 1000]) {
    const bytes = randomBytes(size);
    assert.equal(Buffer.from(sha256(bytes)).toString("hex"), createHash("sha256").update(bytes).digest("hex"));
    assert.equal(Buffer.from(sha512(bytes)).toString("hex"), createHash("sha512").update(bytes).digest("hex"));
  }
});

test("base64url has one form for each value, and base32 that of RFC 4648", () => {
  for (const size of [0, 1, 2, 3, 20, 32, 64]) {
    const bytes = Uint8Array.from(randomBytes(size));
    assert.equal(base64url(bytes), Buffer.from(bytes).toString("base64url"));
    assert.deepEqual(fromBase64url(base64url(bytes), size), bytes);
  }
  for (const [text, size] of [["AB", 1], ["AA==", 1], ["A", 1], ["+/", 1], ["AAA", 1]] as const) assert.equal(fromBase64url(text, size), undefined, text);
  const known: [string, string][] = [["", ""], ["f", "my"], ["fo", "mzxq"], ["foo", "mzxw6"], ["foob", "mzxw6yq"], ["fooba", "mzxw6ytb"], ["foobar", "mzxw6ytboi"]];
  for (const [plainText, text] of known) assert.equal(base32(utf8(plainText)), text);
});
