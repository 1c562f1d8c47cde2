import { concat, fromUtf8, utf8, type Bytes } from "./bytes.ts";
import { report } from "./events.ts";
import type { Effect, Event, Path } from "./lines.ts";
import { decode, encodeEvent } from "./wire.ts";

// The packed form of wasm/ABI.md: writes what the machine reads, and reads what the machine writes. Nothing here is made for a message that
// would have to be collected again.

const maxHandle = 1023;
// What a record takes beside the bytes in it: at most seven numbers.
const room = 64;

/** What a path is called, by its number. */
export const paths: readonly Path[] = ["local", "relay", "direct"];

/** Records of events, for one step. */
export class Batch {
  bytes: Bytes = new Uint8Array(1024);
  length = 0;
  /** Where each record ends, and the event it is of; none for one that only says what a handle means. */
  readonly ends: number[] = [];
  readonly events: (Event | undefined)[] = [];
  /** Nothing more is to come into it. */
  closed = false;
  /** The payloads of the frames in it. */
  frames = new Map<number, Bytes>();
  /** The records in it that say what handles mean. */
  readonly defined: Bytes[] = [];

  number(value: number): void {
    while (value > 0x7f) {
      this.bytes[this.length++] = (value & 0x7f) | 0x80;
      value = value < 2 ** 31 ? value >> 7 : Math.floor(value / 128);
    }
    this.bytes[this.length++] = value;
  }

  /** Begins a record, which may go on for so many bytes. */
  put(more: number, kind: number, ...numbers: number[]): void {
    if (this.length + more + room > this.bytes.length) {
      const bytes = new Uint8Array(2 * this.bytes.length + more + room);
      bytes.set(this.bytes);
      this.bytes = bytes;
    }
    this.bytes[this.length++] = kind;
    for (const value of numbers) this.number(value);
  }

  /** The bytes with their length in front. */
  blob(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  end(event?: Event): void {
    this.ends.push(this.length);
    this.events.push(event);
  }

  define(handle: number, name: string): void {
    const start = this.length;
    const text = utf8(name);
    this.put(text.length, 2, handle);
    this.blob(text);
    this.end();
    this.defined.push(this.bytes.slice(start, this.length));
  }

  /** The same records, each in a batch of its own. */
  apart(): Batch[] {
    return this.ends.map((end, i) => {
      const one = new Batch();
      one.closed = true;
      one.bytes = this.bytes.subarray(i > 0 ? this.ends[i - 1] : 0, end);
      one.length = one.bytes.length;
      one.end(this.events[i]);
      if (!this.events[i]) one.defined.push(one.bytes);
      one.frames = this.frames;
      return one;
    });
  }

  /** The frame of a step. If it is the first of a journal, `before` is what was defined before. */
  frame(now: number, before?: readonly Bytes[]): Bytes {
    head.length = 0;
    head.put(0, before ? 1 : 0, now);
    return concat([head.bytes.subarray(0, head.length), ...(before ?? []), this.bytes.subarray(0, this.length)]);
  }
}

// Where frame writes what stands before the records: a batch is dear to make.
const head = new Batch();

/** Packs events into batches. */
export class Packer {
  readonly #most: number;
  readonly #handles = new Map([["", 0]]);
  readonly #batches: Batch[] = [];

  /** `most` records go into one batch. */
  constructor(most: number) {
    this.#most = most;
  }

  get empty(): boolean {
    return this.#batches.length === 0;
  }

  /** The oldest batch. */
  take(): Batch {
    return this.#batches.shift()!;
  }

  /** Puts batches back to the front. */
  untake(batches: Batch[]): void {
    this.#batches.unshift(...batches);
  }

  /** Puts an event in front of all others, in a batch of its own. */
  first(event: Event): void {
    const alone = new Packer(1);
    alone.add(event);
    this.untake([alone.take()]);
  }

  add(event: Event, payload?: Bytes): void {
    let batch = this.#batches.at(-1);
    if (!batch || batch.closed || batch.ends.length >= this.#most) this.#batches.push((batch = new Batch()));
    if (!this.#pack(batch, event)) {
      const line = utf8(encodeEvent(event));
      batch.put(line.length, 1);
      batch.blob(line);
    }
    if (event.verb === "frame-received") batch.frames.set(event.frame, payload!);
    batch.end(event);
  }

  #pack(batch: Batch, event: Event): boolean {
    switch (event.verb) {
      case "message-posted": {
        const { msg, size, wish, deadline, answer, plain, lane } = event;
        const from = this.#handle(batch, event.from);
        const to = this.#handle(batch, event.to);
        // When all handles are taken, messages between further addresses go as lines.
        if (from < 0 || to < 0) return false;
        const name = lane ? utf8(lane) : undefined;
        const given = (wish ? 1 : 0) | (plain ? 2 : 0) | (deadline ? 4 : 0) | (answer ? 8 : 0) | (name ? 16 : 0);
        batch.put(name?.length ?? 0, 3, msg, from, to, size, given);
        if (deadline) batch.number(deadline);
        if (answer) batch.number(answer);
        if (name) batch.blob(name);
        return true;
      }
      case "frame-received":
        batch.put(event.head.length, 4, event.stub, event.handle, event.frame, event.size);
        batch.blob(event.head);
        return true;
      case "delivery-taken":
        batch.put(0, 5, event.delivery, 1);
        return true;
      default:
        return false;
    }
  }

  #handle(batch: Batch, name: string): number {
    let handle = this.#handles.get(name);
    if (handle === undefined) {
      handle = this.#handles.size;
      if (handle > maxHandle) return -1;
      this.#handles.set(name, handle);
      batch.define(handle, name);
    }
    return handle;
  }
}

/** What is done with effects. The numbers are those of the records. Bytes are good until it returns. */
export interface Performer {
  /** `parts`: message, offset and length of each. */
  transmit(stub: number, handle: number, pad: number, head: Bytes, parts: number[]): void;
  hold(session: number, first: number, frame: number, offset: number, lengths: number[]): void;
  drop(session: number, first: number, last: number): void;
  deliver(delivery: number, session: number, first: number, last: number, path: Path, from: string, to: string): void;
  delivered(first: number, count: number): void;
  release(msg: number): void;
  wake(at: number): void;
  other(effect: Effect): void;
}

/** Performs packed effects. `names` are the machine's handles, and are kept up to date. */
export function unpack(bytes: Bytes, names: string[], to: Performer): void {
  let at = 0;
  const number = (): number => {
    let byte = bytes[at++]!;
    let value = byte & 0x7f;
    for (let scale = 128; byte > 0x7f; scale *= 128) {
      byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
    }
    return value;
  };
  const blob = (): Bytes => {
    const size = number();
    return bytes.subarray(at, (at += size));
  };
  const list = (count: number): number[] => {
    const numbers: number[] = [];
    while (count-- > 0) numbers.push(number());
    return numbers;
  };
  // All of a record is read before it is performed: arguments are evaluated in their order.
  const deliver = (alone: boolean, delivery: number, session: number, first: number, last: number, path: number, from: number, target: number): void => {
    for (let i = 0; i < (alone ? 1 : last); i++) {
      to.deliver(delivery + i, session, first + i, alone ? last : first + i, paths[path]!, names[from]!, names[target]!);
    }
  };
  const perform = (kind: number): unknown => {
    switch (kind) {
      case 1:
        return to.other(decode(fromUtf8(blob())!) as unknown as Effect);
      case 2:
        return (names[number()] = fromUtf8(blob())!);
      case 16:
        return to.transmit(number(), number(), number(), blob(), list(3 * number()));
      case 17:
        return to.hold(number(), number(), number(), number(), list(number()));
      case 18:
        return to.drop(number(), number(), number());
      case 19:
      case 20:
        return deliver(kind < 20, number(), number(), number(), number(), number(), number(), number());
      case 21:
        return to.delivered(number(), number());
      case 22:
        return to.release(number());
    }
    return to.wake(number());
  };
  while (at < bytes.length) {
    try {
      perform(bytes[at++]!);
    } catch (cause) {
      report(cause);
    }
  }
}
