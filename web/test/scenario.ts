import { fromHex } from "../src/bytes.ts";
import type { Event } from "../src/lines.ts";
import { Door } from "../src/module.ts";
import { Packer } from "../src/packed.ts";
import { effectsOf } from "../src/trace.ts";
import { decode, encode } from "../src/wire.ts";

/** A file of the corpus (scenarios/corpus/README.md). */
export interface Scenario {
  name: string;
  text: string;
}

interface Block {
  line: number;
  input: string[];
  output: string[];
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let block: Block | undefined;
  let divided = false;
  text.split("\n").forEach((line, i) => {
    if (line.startsWith("#")) return;
    if (line === "") {
      block = undefined;
      divided = false;
    } else if (line === "----" && block && !divided) {
      divided = true;
    } else {
      if (!block) blocks.push((block = { line: i + 1, input: [], output: [] }));
      (divided ? block.output : block.input).push(line);
    }
  });
  return blocks;
}

/** The event of a line. */
export function eventOf(line: string): Event {
  const event = decode(line);
  if (event["verb"] === "frame-received") event["head"] ??= "";
  for (const [key, value] of Object.entries(event)) {
    if (key === "head") event[key] = fromHex(value as string);
    else if (typeof value === "string" && /^(?:size|frame|number|deadline|answer|wall|code|now)$/.test(key)) event[key] = Number(value);
    else if (/^(?:plain|resumed|sessions)$/.test(key)) event[key] = true;
  }
  return event as unknown as Event;
}

// Through which door, and so many events at once.
type Step = (input: readonly string[]) => string[];

function byText(door: Door): Step {
  return (input) => door.step(input.map((one) => one + "\n").join("")).split("\n").slice(0, -1);
}

function packed(door: Door): Step {
  const packer = new Packer(Infinity);
  const names: string[] = [];
  return ([at, ...events]) => {
    for (const line of events) packer.add(eventOf(line));
    if (events.length === 0) packer.add({ verb: "time-passed" });
    const batch = packer.take();
    return effectsOf(door.stepPacked(batch.frame(Number(at!.slice("at now=".length)))), names).map(encode);
  };
}

/** Gives the scenario to a new machine, through each of its doors. Returns where it first answers otherwise, or undefined. */
export async function play(module: WebAssembly.Module, { name, text }: Scenario): Promise<string | undefined> {
  const blocks = blocksOf(text);
  if (!blocks[0]?.input[0]?.startsWith("open")) return `${name}: the first block is no open line`;
  for (const by of [byText, packed]) {
    const fault = await playBy(module, by, name, blocks);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function playBy(module: WebAssembly.Module, through: (door: Door) => Step, name: string, blocks: readonly Block[]): Promise<string | undefined> {
  let door = await Door.make(module, 1);
  let step = through(door);
  let saved: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  for (const [i, { line, input, output }] of blocks.entries()) {
    let got: string[];
    try {
      if (input[0] === "save") saved = door.snapshot();
      if (input[0] === "restore") {
        door = await Door.make(module, 1);
        door.restore(saved);
        step = through(door);
      }
      if (input[0] === "save" || input[0] === "restore") continue;
      got = i === 0 ? door.open(input[0] + "\n").split("\n").slice(0, -1) : step(input);
    } catch (error) {
      return `${name}:${line}: ${String(error)}`;
    }
    for (let n = 0; n < Math.max(got.length, output.length); n++) {
      if (got[n] === output[n]) continue;
      return `${name}:${line}: after\n${input.join("\n")}\neffect ${n + 1} is\n${got[n] ?? "nothing"}\nand not\n${output[n] ?? "nothing"}`;
    }
  }
  return undefined;
}

/** Plays all. Returns what went wrong, one text for each scenario that failed. */
export async function playAll(module: WebAssembly.Module, scenarios: readonly Scenario[]): Promise<string[]> {
  const faults: string[] = [];
  for (const scenario of scenarios) {
    const fault = await play(module, scenario);
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}
