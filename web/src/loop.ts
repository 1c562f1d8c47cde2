import type { Bytes } from "./bytes.ts";
import type { Effect, Event } from "./lines.ts";
import type { Machine } from "./machine.ts";
import { Refused } from "./module.ts";
import { decodeEffects, encodeEvent, frameOf } from "./wire.ts";

const maxBatch = 256;
const maxDelay = 2 ** 31 - 1;
const ahead = 50;
// So many turns may follow each other before the page gets its own.
const turnsInARow = 64;

interface Item {
  event: Event;
  payload: Bytes | undefined;
}

/** What a loop does for its owner. */
export interface LoopHooks {
  /** Do what the machine asks. `frames` has the payloads of this step's frames. */
  perform(effects: Effect[], frames: ReadonlyMap<number, Bytes>): void;
  /** The machine broke on this event, or refused it: it is left out. */
  leftOut(event: Event, error: Error): void;
  /** The machine broke and can not be made anew. */
  broken(error: Error): void;
  /** What the machine is told and answers, line by line in the form of a scenario. What was left out is no part of it. */
  trace?: ((line: string) => void) | undefined;
}

/**
 * Feeds the machine. Events are queued at any time; one turn steps the machine once with all that wait. Turns are microtasks and
 * messages, never timers, so a hidden page is not slowed down; there is one timer, for the wake that the machine asked for.
 */
export class Loop {
  readonly #hooks: LoopHooks;
  #machine: Machine | undefined;
  #queue: Item[] = [];
  #alone = 0; // so many at the front of the queue are stepped one by one
  #scheduled = false;
  #paused = false;
  #stopped = false;
  #turns = 0;
  #channel: MessageChannel | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #start = 0;
  #now = 0;

  constructor(hooks: LoopHooks) {
    this.#hooks = hooks;
  }

  /**
   * Hands over the machine with the line it was made from and the effects of its start. Events pushed before are stepped then; `first`
   * before them, where the machine has a former life, whose clock goes on at `now`.
   */
  run(machine: Machine, line: string, effects: string, first?: Event, now = 0): void {
    if (this.#stopped) return;
    this.#machine = machine;
    this.#start = performance.now() - now;
    if (first) this.#queue.unshift({ event: first, payload: undefined });
    this.#do(line, effects, new Map());
    this.#schedule();
  }

  /** Tells the machine, at the next turn. */
  push(event: Event, payload?: Bytes): void {
    if (this.#stopped) return;
    this.#queue.push({ event, payload });
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
    return this.#machine !== undefined && !this.#paused && !this.#stopped && this.#queue.length > 0;
  }

  /** Steps no more until `wake`, and gives the machine's state; undefined if there is none to be had now. */
  rest(): { snapshot: Bytes; now: number } | undefined {
    if (!this.#machine || this.#paused || this.#stopped) return undefined;
    this.#paused = true;
    try {
      return { snapshot: this.#machine.snapshot(), now: this.#time() };
    } catch (error) {
      this.#paused = false;
      this.#fault(this.#machine, [], error as Error);
      return undefined;
    }
  }

  wake(): void {
    this.#paused = false;
    this.#schedule();
  }

  /** Ends it: no effect, event or timer comes any more. */
  stop(): void {
    this.#stopped = true;
    this.#queue = [];
    clearTimeout(this.#timer);
    this.#channel?.port1.close();
  }

  #schedule(): void {
    if (this.#scheduled || this.#paused || !this.#machine || this.#stopped) return;
    this.#scheduled = true;
    if (this.#turns++ < turnsInARow) {
      queueMicrotask(() => this.#turn());
      return;
    }
    if (!this.#channel) {
      this.#channel = new MessageChannel();
      this.#channel.port1.onmessage = () => {
        this.#turns = 0;
        this.#turn();
      };
    }
    this.#channel.port2.postMessage(0);
  }

  #turn(): void {
    this.#scheduled = false;
    if (this.#ready()) this.#step();
    if (this.#queue.length > 0) this.#schedule();
  }

  #step(): void {
    const machine = this.#machine!;
    const items = this.#queue.splice(0, this.#alone > 0 ? 1 : maxBatch);
    if (this.#alone > 0) this.#alone--;
    const lines = items.map((item) => encodeEvent(item.event));
    const frames = new Map<number, Bytes>();
    for (const { event, payload } of items) if (event.verb === "frame-received") frames.set(event.frame, payload!);
    const frame = frameOf(this.#time(), lines);
    let effects: string;
    try {
      effects = machine.step(frame);
    } catch (error) {
      this.#fault(machine, items, error as Error);
      return;
    }
    this.#do("\n" + frame, effects, frames);
    try {
      machine.save();
    } catch (error) {
      this.#fault(machine, [], error as Error);
    }
  }

  #time(): number {
    return (this.#now = Math.max(this.#now, Math.floor(performance.now() - this.#start)));
  }

  #do(input: string, output: string, frames: ReadonlyMap<number, Bytes>): void {
    const { trace } = this.#hooks;
    if (trace) for (const line of `${input}----\n${output}`.split("\n").slice(0, -1)) trace(line);
    const effects = decodeEffects(output);
    for (const effect of effects) if (effect.verb === "wake") this.#wake(effect.at);
    this.#hooks.perform(effects, frames);
  }

  // Of several events in a frame only the one that does the harm is left out: they are stepped again, one by one.
  #fault(machine: Machine, items: Item[], error: Error): void {
    if (items.length === 1) {
      this.#hooks.leftOut(items[0]!.event, error);
    } else {
      this.#queue.unshift(...items);
      this.#alone += items.length;
    }
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

  #wake(at: number): void {
    clearTimeout(this.#timer);
    if (at === 0 || this.#stopped) return;
    const left = at - (performance.now() - this.#start);
    this.#timer = setTimeout(() => {
      // Timers may fire early, and the longest one is not long enough for everything.
      if (performance.now() - this.#start < at) this.#wake(at);
      else this.push({ verb: "time-passed" });
    }, Math.min(maxDelay, Math.max(0, Math.ceil(left))));
  }
}
