import type { Bytes } from "./bytes.ts";
import type { Event } from "./lines.ts";
import type { Machine } from "./machine.ts";
import { Refused } from "./module.ts";
import { Batch, Packer } from "./packed.ts";

const maxBatch = 256;
const maxDelay = 2 ** 31 - 1;
const ahead = 50;
// So many turns may follow each other before the page gets its own.
const turnsInARow = 64;
const settled = Promise.resolve();

/** What a loop does for its owner. */
export interface LoopHooks {
  /** Do what the machine asks: lines at its start, from then on packed, by `names`. `batch` has the payloads of this step's frames until it returns. */
  perform(effects: string | Bytes, names: string[], batch: Batch): void;
  /** The machine broke on this event, or refused it: it is left out. */
  leftOut(event: Event, error: Error): void;
  /** The machine broke and can not be made anew. */
  broken(error: Error): void;
}

/** Writes down what the machine is told, and then what it answers. What was left out is no part of it. */
export interface Trace {
  opened(line: string, effects: string): void;
  told(now: number, batch: Batch): void;
  answered(effects: Bytes, names: readonly string[]): void;
}

/**
 * Feeds the machine. Events are queued at any time; one turn steps the machine once with all that wait. Turns are microtasks and
 * messages, never timers, so a hidden page is not slowed down; there is one timer, for the wake that the machine asked for.
 */
export class Loop {
  readonly #hooks: LoopHooks;
  #machine: Machine | undefined;
  readonly #queue = new Packer(maxBatch);
  #trace: Trace | undefined;
  #scheduled = false;
  #paused = false; // the machine is being made anew
  #resting = false;
  #stopped = false;
  // In the middle of a step. Firefox ends a script anywhere, `finally` left out, when the process is to go, and still says `pagehide` to the
  // page: half a step is no state to store, or to go on from.
  #half = false;
  #turns = 0;
  #taking = false; // the last step was of takings only
  #asked = false; // for a message of our own
  #channel: MessageChannel | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #fires = 0; // when the timer does
  #wake = 0;
  #start = 0;
  #now = 0;

  constructor(hooks: LoopHooks) {
    this.#hooks = hooks;
  }

  /**
   * Hands over the machine with the line it was made from and the effects of its start. Events pushed before are stepped then; `first`
   * before them, where the machine has a former life, whose clock goes on at `now`.
   */
  run(machine: Machine, line: string, effects: string, trace?: Trace, first?: Event, now = 0): void {
    if (this.#stopped) return;
    this.#trace = trace;
    this.#machine = machine;
    this.#start = performance.now() - now;
    this.#now = now;
    if (first) this.#queue.first(first);
    trace?.opened(line, effects);
    this.#hooks.perform(effects, machine.names, new Batch());
    this.#schedule();
  }

  /** Tells the machine, at the next turn. */
  push(event: Event, payload?: Bytes): void {
    if (this.#stopped) return;
    this.#queue.add(event, payload);
    this.#schedule();
  }

  /** Steps the machine now with all that waits, as far as that is possible. */
  flush(): void {
    while (this.#ready()) this.#step();
  }

  /** Flush, and what the machine would say in a moment as well: an acknowledgement waits for company. */
  hurry(): void {
    this.flush();
    this.#start -= ahead;
    this.push({ verb: "time-passed" });
    this.flush();
  }

  #ready(): boolean {
    return this.#machine !== undefined && !this.#paused && !this.#resting && !this.#stopped && !this.#half && !this.#queue.empty;
  }

  /** Steps no more until `wake`, and gives the machine's state; undefined if there is none to be had now. */
  rest(): { snapshot: Bytes; now: number } | undefined {
    if (!this.#machine || this.#paused || this.#stopped || this.#half) return undefined;
    this.#resting = true;
    try {
      return { snapshot: this.#machine.snapshot(), now: this.#time() };
    } catch (error) {
      this.#resting = false;
      this.#fault(this.#machine, undefined, error as Error);
      return undefined;
    }
  }

  /** What the machine is to be told. */
  get waiting(): (Event | undefined)[] {
    return this.#queue.events;
  }

  /** All that the step asked for is done, but for what calls the user's code. */
  done(): void {
    this.#half = false;
  }

  /** Steps no more until `wake`, whatever comes. */
  pause(): void {
    this.#resting = true;
  }

  /** Between `rest` or `pause` and `wake`. */
  get resting(): boolean {
    return this.#resting;
  }

  wake(): void {
    this.#resting = false;
    this.#schedule();
  }

  /** Ends it: no effect, event or timer comes any more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#channel?.port1.close();
  }

  #schedule(): void {
    if (this.#scheduled || this.#paused || this.#resting || !this.#machine || this.#stopped) return;
    this.#scheduled = true;
    // By microtasks, which cost less than queueMicrotask. What a listener that is an async function did, and that it is through, is one step
    // if it waits for three.
    if (this.#turns++ < turnsInARow) void settled.then().then().then(this.#turn);
    else this.#ask();
  }

  #ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    if (!this.#channel) {
      this.#channel = new MessageChannel();
      this.#channel.port1.onmessage = () => {
        this.#turns = 0;
        this.#taking = this.#asked = false;
        this.#turn();
      };
    }
    this.#channel.port2.postMessage(0);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (this.#ready()) {
      // Nobody waits for a taking, and a listener that is an async function takes the messages of a frame one by one.
      const taking = this.#queue.taking;
      if (taking && this.#taking) return this.#ask();
      this.#taking = taking;
      this.#step();
    }
    if (!this.#queue.empty) this.#schedule();
  };

  #step(): void {
    const machine = this.#machine!;
    const batch = this.#queue.take();
    const now = this.#time();
    let effects: Bytes;
    this.#half = true;
    try {
      effects = machine.step(batch, now);
    } catch (error) {
      this.#half = false;
      this.#fault(machine, batch, error as Error);
      return;
    }
    try {
      this.#trace?.told(now, batch);
      this.#trace?.answered(effects, machine.names);
      this.#hooks.perform(effects, machine.names, batch);
    } finally {
      this.#half = false;
    }
    this.#queue.reuse(batch);
    try {
      machine.save();
    } catch (error) {
      this.#fault(machine, undefined, error as Error);
    }
  }

  #time(): number {
    return (this.#now = Math.max(this.#now, Math.floor(performance.now() - this.#start)));
  }

  // Of several events in a batch only the one that does the harm is left out: they are stepped again, one by one.
  #fault(machine: Machine, batch: Batch | undefined, error: Error): void {
    if (batch && batch.ends.length > 1) this.#queue.untake(batch.apart());
    else if (batch?.events[0]) this.#hooks.leftOut(batch.events[0], error);
    if (error instanceof Refused) return;
    this.#paused = true;
    machine.revive().then(
      () => {
        this.#paused = false;
        this.#schedule();
      },
      (cause: Error) => this.#hooks.broken(cause),
    );
  }

  /** Tells the machine at that time that it has come; 0: never. */
  wakeAt(at: number): void {
    this.#wake = at;
    if (at !== 0 && !this.#stopped) this.#await();
  }

  // A timer that fires before its time is set again then: that costs less than to set one with each step, whose wake is mostly another.
  #await(): void {
    if (this.#timer !== undefined) {
      if (this.#fires <= this.#wake) return;
      clearTimeout(this.#timer);
    }
    const left = Math.min(maxDelay, Math.max(0, this.#wake - this.#now));
    this.#fires = this.#now + left;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#wake === 0) return;
      if (this.#time() < this.#wake) this.#await();
      else this.push({ verb: "time-passed" });
    }, left);
  }
}
