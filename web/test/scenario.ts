import { Door } from "../src/module.ts";

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

/** Gives the scenario to a new machine. Returns where it first answers otherwise, or undefined. */
export async function play(module: WebAssembly.Module, { name, text }: Scenario): Promise<string | undefined> {
  const blocks = blocksOf(text);
  if (!blocks[0]?.input[0]?.startsWith("open")) return `${name}: the first block is no open line`;
  let door = await Door.make(module, 1);
  let saved: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  for (const [i, { line, input, output }] of blocks.entries()) {
    const lines = input.map((one) => one + "\n").join("");
    let got: string[];
    try {
      if (input[0] === "save") saved = door.snapshot();
      if (input[0] === "restore") {
        door = await Door.make(module, 1);
        door.restore(saved);
      }
      if (input[0] === "save" || input[0] === "restore") continue;
      got = (i === 0 ? door.open(lines) : door.step(lines)).split("\n").slice(0, -1);
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
