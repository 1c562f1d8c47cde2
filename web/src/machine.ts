import type { Bytes } from "./bytes.ts";
import { Door } from "./module.ts";
import { unpack, type Batch, type Performer } from "./packed.ts";

const minJournal = 1024 * 1024;

const nothing = () => undefined;
const idle = new Proxy({} as Performer, { get: () => nothing });

/**
 * The machine, and what it takes to make it anew after a trap: its last snapshot and the frames since. The machine is
 * deterministic, so playing them again gives the same machine; the frame that broke it is not among them.
 */
export class Machine {
  readonly #module: WebAssembly.Module;
  readonly #reserve: number;
  /** What the machine's handles mean. */
  readonly names: string[] = [];
  #door: Door;
  #snapshot: Bytes;
  #journal: Bytes = new Uint8Array(minJournal / 16); // the frames, one behind the other
  #ends: number[] = [];
  readonly #defined: Bytes[] = []; // what the body's handles mean
  #size = 0;
  #limit = minJournal;

  private constructor(module: WebAssembly.Module, reserve: number, door: Door) {
    this.#module = module;
    this.#reserve = reserve;
    this.#door = door;
    this.#snapshot = door.snapshot();
  }

  /** Makes a machine. Returns it with the effects of its start. Throws Refused, Trap, or HyrouteError `module`. */
  static async open(module: WebAssembly.Module, line: string, reserve: number): Promise<[Machine, string]> {
    return (await Machine.prepare(module, reserve))(line);
  }

  /** Does what can be done before it is known what to open: returns what opens, with a line or a snapshot. Throws as `open`. */
  static async prepare(module: WebAssembly.Module, reserve: number): Promise<(from: string | Bytes) => [Machine, string]> {
    const door = await Door.make(module, reserve);
    return (from) => {
      const effects = typeof from === "string" ? door.open(from) : (door.restore(from), "");
      return [new Machine(module, reserve, door), effects];
    };
  }

  /** Its whole state. Throws Trap. */
  snapshot(): Bytes {
    return this.#door.snapshot();
  }

  /** Steps it. Returns its packed effects, good until the next call. Throws Refused, which changed nothing, or Trap, after which only revive helps. */
  step(batch: Batch, now: number): Bytes {
    const frame = batch.frame(now);
    const effects = this.#door.stepPacked(frame);
    this.#keep(this.#size === 0 ? batch.frame(now, this.#defined) : frame);
    this.#defined.push(...batch.defined);
    return effects;
  }

  /** Makes a new snapshot if so much happened since the last one that it pays. Throws Trap. */
  save(): void {
    if (this.#size < this.#limit) return;
    // Should taking it break the machine, revive goes by the snapshot before, and the next try is far away.
    this.#limit = 2 * this.#size;
    this.#snapshot = this.#door.snapshot();
    this.#ends = [];
    this.#size = 0;
    this.#limit = Math.max(minJournal, 4 * this.#snapshot.length);
  }

  /** Makes it anew, as it was before the frame that broke it. Throws if that can not be done. */
  async revive(): Promise<void> {
    const door = await Door.make(this.#module, this.#reserve);
    door.restore(this.#snapshot);
    this.names.length = 0;
    // Their effects were carried out long ago; only what the handles mean is of use.
    let at = 0;
    for (const end of this.#ends) unpack(door.stepPacked(this.#journal.subarray(at, (at = end))), this.names, idle);
    this.#door = door;
  }

  #keep(frame: Bytes): void {
    const at = this.#size;
    this.#ends.push((this.#size += frame.length));
    if (this.#size > this.#journal.length) {
      const journal = new Uint8Array(2 * this.#size);
      journal.set(this.#journal);
      this.#journal = journal;
    }
    this.#journal.set(frame, at);
  }
}
