import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { compile } from "../../src/module.ts";
import { corpus, root } from "../corpus.mjs";
import { play, playAll } from "../scenario.ts";

const file = `${root}bin/hyroute.wasm`;

test("a scenario that expects something else fails, whatever is changed", { skip: !existsSync(file) && "bin/hyroute.wasm is not built" }, async () => {
  const module = await compile(readFileSync(file));
  const [scenario] = corpus();
  assert.ok(scenario);
  assert.equal(await play(module, scenario), undefined);
  const { name, text } = scenario;
  const changed = [
    text.replace(/^----\n(?=[a-z])/m, "----\nrelease msg=77\n"), // one effect more
    text.replace(/^----\n[a-z].*\n/m, "----\n"), // one less
    text.replace(/^(----\n[a-z-]+ .*?)(\d)/m, (_, before: string, digit: string) => before + ((Number(digit) + 1) % 10)),
    text.replace(/\n$/, "\n\nat now=900000\nno-such-event\n----\n"),
    text.replace(/^open .*$/m, "at now=1"),
  ];
  for (const other of changed) {
    assert.notEqual(other, text);
    assert.match((await playAll(module, [{ name, text: other }]))[0] ?? "", new RegExp(`^${name}:`));
  }
});
