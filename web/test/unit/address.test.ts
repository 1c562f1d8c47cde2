import assert from "node:assert/strict";
import { test } from "node:test";
import { canonical, domainOf, readRuntime } from "../../src/address.ts";
import { HyrouteError } from "../../src/errors.ts";

test("addresses are put in the form in which they are compared", () => {
  const known: [string, string][] = [
    ["hyperty://a.example/alice", "hyperty://a.example/alice"],
    ["HYPERTY://A.Example/Alice/", "hyperty://a.example/Alice"],
    ["hyperty-runtime://a.example/r1", "runtime://a.example/r1"],
    ["domain://registry.a.example", "domain://registry.a.example"],
    ["domain://registry.a.example/", "domain://registry.a.example"],
    ["hyperty://__proto__/__proto__", "hyperty://__proto__/__proto__"],
    ["comm://localhost:8080/chat#1", "comm://localhost:8080/chat#1"],
    ["hyperty://GRÜN.example/ä", "hyperty://grün.example/ä"],
    ["hyperty://ΟΔΟΣ/x", "hyperty://οδοσ/x"],
  ];
  for (const [text, url] of known) {
    assert.equal(canonical(text), url);
    assert.equal(canonical(url), url);
  }
});

test("what is no address is refused and the reason named", () => {
  const known: [string, RegExp][] = [
    ["", /empty/], ["alice", /no ":\/\/" after the scheme/], ["hyperty://", /no host/], ["hy perty://a/b", /scheme/], ["-a://b/c", /scheme/], ["hyperty://a b/c", /the host holds " "/],
    ["hyperty://a/b c", /the path holds " "/], ["hyperty://a/b?c", /the path holds "\?"/], ["hyperty://a//b", /empty segment/], ["runtime://a", /needs an id/], ["runtime://a/", /needs an id/],
    ["hyperty://a/" + "x".repeat(501), /longer than 512/], ["hyperty://a/\ud800", /half a character/], ["mn:/session", /no ":\/\/"/],
  ];
  for (const [text, why] of known) {
    assert.throws(() => canonical(text), (error) => error instanceof HyrouteError && error.code === "bad-address" && why.test(error.message), text);
  }
});

test("domain and runtime of an address", () => {
  assert.equal(domainOf("domain://msg-node.a.example/sm"), "a.example");
  assert.equal(domainOf("user://bob@a.example:8080/x"), "a.example:8080");
  assert.equal(domainOf("hyperty://registry./x"), "registry.");
  assert.equal(readRuntime("hyperty-runtime://A/r"), "runtime://a/r");
  for (const other of ["runtime://a/r/p2p", "hyperty://a/r", 5, undefined]) assert.equal(readRuntime(other), undefined);
});
