import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { HyrouteError } from "../../src/errors.ts";
import type { Effect, Event } from "../../src/lines.ts";
import { Loop } from "../../src/loop.ts";
import { Machine } from "../../src/machine.ts";
import { compile, Door, Refused, Trap } from "../../src/module.ts";
import { Packer } from "../../src/packed.ts";
import { effectsOf } from "../../src/trace.ts";
import { eventOf } from "../scenario.ts";
import { decodeEffects, encode, encodeOpen } from "../../src/wire.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const poison = "hyperty://trap.example/poison";
const runtime = "runtime://a.example/r1";
const alice = "hyperty://a.example/alice";
const carol = "hyperty://a.example/carol";
const open = encodeOpen({ runtime, wall: 1_700_000_000_000, seed: "0123456789abcdef", direct: true });

let folder: string;
let module: WebAssembly.Module;

// The module that has a way to break: the tag "trap" puts it there, for this purpose alone.
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hyroute-"));
  const file = join(folder, "trap.wasm");
  execFileSync("go", ["run", "./wasm/build", "-tags", "trap", file], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  module = await compile(readFileSync(file));
});

after(() => rmSync(folder, { recursive: true, force: true }));

const registered = (address: string) => `endpoint-registered address=${address}`;
const posted = (msg: number, to: string) => `message-posted msg=${msg} from=${alice} to=${to} size=3`;

// A body so far as it steps a machine: lines in, lines out.
function body(machine: Machine) {
  const packer = new Packer(1000);
  return (now: number, events: string[]) => {
    for (const line of events) packer.add(eventOf(line));
    const names = [...machine.names];
    const effects = effectsOf(machine.step(packer.take(), now), names);
    machine.names.splice(0, Infinity, ...names);
    return effects.map(encode).join("\n");
  };
}

test("a machine opens, steps and answers", async () => {
  const [machine, effects] = await Machine.open(module, open, 2);
  assert.match(effects, /^deploy-node-stub stub=\d+ domain=a\.example$/m);
  const step = body(machine);
  const out = step(1, [registered(alice), registered(carol), posted(1, carol)]);
  assert.match(out, /^deliver delivery=\d+ msg=1 from=hyperty:\/\/a\.example\/alice to=hyperty:\/\/a\.example\/carol path=local$/m);
});

test("what can not be read is refused, and changes nothing", async () => {
  const [machine] = await Machine.open(module, open, 2);
  const step = body(machine);
  assert.throws(() => step(1, ["no-such-event"]), Refused);
  assert.throws(() => step(1, [registered(alice), "stub-changed stub=1"]), Refused);
  assert.match(step(1, [registered(alice), registered(carol), posted(1, carol)]), /deliver/);
  await assert.rejects(Machine.open(module, "open wall=1\n", 2), Refused);
  assert.throws(() => step(2, ["x".repeat((64 << 20) + 1)]), /more than the machine takes/);
});

test("a machine that broke is dead, and revived as it was before", async () => {
  const [machine] = await Machine.open(module, open, 2);
  let step = body(machine);
  step(1, [registered(alice), registered(carol)]);
  assert.throws(() => step(2, [posted(1, poison)]), Trap);
  assert.throws(() => step(3, [posted(2, carol)]), Trap, "it answers no more, though the instance would");
  await machine.revive();
  const [other] = await Machine.open(module, open, 2);
  const otherStep = body(other);
  otherStep(1, [registered(alice), registered(carol)]);
  step = body(machine); // what the poison frame defined is lost with it
  assert.equal(step(3, [posted(2, carol)]), otherStep(3, [posted(2, carol)]), "as one that never met the poison");
});

test("a machine is revived from a snapshot taken on the way", async () => {
  const [machine] = await Machine.open(module, open, 2);
  let step = body(machine);
  step(1, [registered(alice), registered(carol)]);
  const name = "x".repeat(400);
  for (let i = 0; i < 1500; i++) {
    step(2 + i, [registered(`hyperty://a.example/${name}${i % 7}`), `endpoint-unregistered address=hyperty://a.example/${name}${i % 7}`]);
    machine.save();
  }
  assert.throws(() => step(9000, [posted(1, poison)]), Trap);
  await machine.revive();
  step = body(machine);
  assert.match(step(9001, [posted(2, carol)]), /deliver/);
});

test("of a frame that breaks the machine only the poison is left out", async () => {
  const [machine, effects] = await Machine.open(module, open, 2);
  const seen: Effect[] = [];
  const left: { event: Event; error: Error }[] = [];
  let done!: () => void;
  const finished = new Promise<void>((resolve) => (done = resolve));
  const loop = new Loop({
    perform(output, names) {
      const list = typeof output === "string" ? decodeEffects(output) : effectsOf(output, names);
      seen.push(...list);
      if (list.some((effect) => effect.verb === "deliver" && effect.msg === 4)) done();
    },
    leftOut: (event, error) => left.push({ event, error }),
    broken: (error) => assert.fail(error),
  });
  loop.run(machine, open, effects);
  loop.push({ verb: "endpoint-registered", address: alice });
  loop.push({ verb: "endpoint-registered", address: carol });
  const post = (msg: number, to: string) => loop.push({ verb: "message-posted", msg, from: alice, to, size: 3 });
  post(1, carol);
  post(2, poison);
  loop.push({ verb: "message-posted", msg: 3, from: "no address", to: carol, size: 3 });
  post(4, carol);
  await finished;
  loop.stop();
  assert.deepEqual(seen.flatMap((effect) => (effect.verb === "deliver" ? [effect.msg] : [])), [1, 4]);
  assert.deepEqual(left.map(({ event }) => event.verb === "message-posted" && event.msg), [2, 3]);
  assert.ok(left[0]!.error instanceof Trap && /hyperty:\/\/trap\.example\/poison/.test(left[0]!.error.message), "the panic is told");
  assert.ok(left[1]!.error instanceof Refused);
});

test("a view of the memory is never older than its last growth", async () => {
  const door = await Door.make(module, 1);
  door.open(open);
  // Megabytes go in and come out, so the memory grows between taking a view and using it.
  const many = Array.from({ length: 20_000 }, (_, i) => registered(`hyperty://a.example/${i}-${"y".repeat(100)}`));
  door.step(`at now=1\n${many.join("\n")}\n`);
  const snapshot = door.snapshot();
  assert.ok(snapshot.length > 1 << 20);
  const other = await Door.make(module, 1);
  other.restore(snapshot);
  assert.deepEqual(other.snapshot(), snapshot);
});

test("a module of another version is refused", async () => {
  // (module (memory (export "memory") 1) (func (export "_initialize")) (func (export "abi_version") (result i32) i32.const 7))
  const bytes = Uint8Array.from(Buffer.from(
    "0061736d01000000010802600000600" + "0017f" + "0303020001" + "0503010001" + "072603066d656d6f727902000b5f696e697469616c697a6500000b6162695f76657273696f6e0001" + "0a09020200" + "0b0400" + "41070b", "hex"));
  await assert.rejects(Door.make(await compile(bytes), 1), (error) => error instanceof HyrouteError && error.code === "module" && /version 7/.test(error.message));
});

test("what is no module is a typed error", async () => {
  const isModule = (error: unknown) => error instanceof HyrouteError && error.code === "module";
  await assert.rejects(compile(new Uint8Array(3)), isModule);
  await assert.rejects(compile(new Response("no", { status: 404 })), isModule);
  await assert.rejects(compile(new URL("file:///no/such/file.wasm")), isModule);
});
