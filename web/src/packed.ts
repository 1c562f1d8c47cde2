import { concat, fromUtf8, utf8, type Bytes } from "./bytes.ts";
import { report } from "./events.ts";
import type { Effect, Event, Path } from "./lines.ts";
import { decode, encodeEvent } from "./wire.ts";

// The packed form of wasm/ABI.md: writes what the machine reads, and reads what the machine writes. Nothing here is made for a message that
// would have to be collected again.

const maxHandle = 1023;
// What a record takes beside the bytes in it: at most seven numbers.
const room = 64;
// What is left free in front of the records, for the flags and the time.
const lead = 16;

/** What a path is called, by its number. */
export const paths: readonly Path[] = ["local", "relay", "direct"];

/** Records of events, for one step. */
export class Batch {
  bytes: Bytes;
  length = lead;
  /** Where each record ends, and the event it is of; none for one that only says what a handle means. */
  ends: number[] = [];
  events: (Event | undefined)[] = [];
  /** Nothing more is to come into it. */
  closed = false;
  /** The records in it that say what handles mean. */
  defined: Bytes[] = [];
  // The payloads of the frames in it, by their numbers from the first on.
  #payloads: Bytes[] = [];
  #first = 0;

  constructor(bytes = new Uint8Array(1024)) {
    this.bytes = bytes;
  }

  /** Empties it. */
  clear(): void {
    this.length = lead;
    this.ends = [];
    this.events = [];
    if (this.defined.length > 0) this.defined = [];
    if (this.#payloads.length > 0) this.#payloads = [];
  }

  /** The payload of a frame in it. */
  payload(frame: number): Bytes {
    return this.#payloads[frame - this.#first]!;
  }

  /** Keeps the payload of a frame; their numbers follow each other. */
  keep(frame: number, payload: Bytes): void {
    if (this.#payloads.push(payload) === 1) this.#first = frame;
  }

  number(value: number): this {
    while (value > 0x7f) {
      this.bytes[this.length++] = (value & 0x7f) | 0x80;
      value = value < 2 ** 31 ? value >> 7 : Math.floor(value / 128);
    }
    this.bytes[this.length++] = value;
    return this;
  }

  /** Begins a record, which may go on for so many bytes. */
  put(more: number, kind: number): this {
    if (this.length + more + room > this.bytes.length) {
      const bytes = new Uint8Array(2 * this.bytes.length + more + room);
      bytes.set(this.bytes);
      this.bytes = bytes;
    }
    this.bytes[this.length++] = kind;
    return this;
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
    this.put(text.length, 2).number(handle).blob(text);
    this.end();
    this.defined.push(this.bytes.slice(start, this.length));
  }

  /** That a delivery was taken. Those that follow each other are one record. */
  taken(event: Extract<Event, { verb: "delivery-taken" }>): void {
    const last = this.events.at(-1);
    if (last?.verb === "delivery-taken" && last.delivery + last.count! === event.delivery) {
      event = last;
      this.events.pop();
      this.ends.pop();
      this.length = this.ends.at(-1) ?? lead;
    }
    event.count = (event.count ?? 0) + 1;
    this.put(0, 5).number(event.delivery).number(event.count);
    this.end(event);
  }

  /** The same records, each in a batch of its own. */
  apart(): Batch[] {
    return this.ends.map((end, i) => {
      const one = new Batch(this.bytes.slice((this.ends[i - 1] ?? lead) - lead, end));
      one.closed = true;
      one.length = one.bytes.length;
      one.end(this.events[i]);
      if (!this.events[i]) one.defined.push(one.bytes.subarray(lead));
      one.#payloads = this.#payloads;
      one.#first = this.#first;
      return one;
    });
  }

  /** The frame of a step, good until the batch is changed. If it is the first of a journal, `before` is what was defined before. */
  frame(now: number, before?: readonly Bytes[]): Bytes {
    const end = this.length;
    this.length = 0;
    this.number(before ? 1 : 0).number(now);
    const start = lead - this.length;
    this.bytes.copyWithin(start, 0, this.length);
    this.length = end;
    if (before) return concat([this.bytes.subarray(start, lead), ...before, this.bytes.subarray(lead, end)]);
    return this.bytes.subarray(start, end);
  }
}

/** Packs events into batches. */
export class Packer {
  readonly #most: number;
  readonly #handles = new Map([["", 0]]);
  readonly #batches: Batch[] = [];
  readonly #spare: Batch[] = [];

  /** `most` records go into one batch. */
  constructor(most: number) {
    this.#most = most;
  }

  get empty(): boolean {
    return this.#batches.length === 0;
  }

  /** Nothing waits but one run of takings. */
  get taking(): boolean {
    const { events } = this.#batches[0]!;
    return events.length === 1 && events[0]?.verb === "delivery-taken";
  }

  /** All that waits. */
  get events(): (Event | undefined)[] {
    return this.#batches.flatMap((batch) => batch.events);
  }

  /** The oldest batch. */
  take(): Batch {
    return this.#batches.shift()!;
  }

  /** A batch whose step is over: it is dear to make. */
  reuse(batch: Batch): void {
    // While one is stepped, another is filled.
    if (batch.closed || this.#spare.length > 1) return;
    batch.clear();
    this.#spare.push(batch);
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
    if (!batch || batch.closed || batch.ends.length >= this.#most) this.#batches.push((batch = this.#spare.pop() ?? new Batch()));
    if (event.verb === "delivery-taken") return batch.taken(event);
    if (!this.#pack(batch, event)) {
      const line = utf8(encodeEvent(event));
      batch.put(line.length, 1);
      batch.blob(line);
    }
    if (payload) batch.keep((event as Extract<Event, { verb: "frame-received" }>).frame, payload);
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
        batch.put(name?.length ?? 0, 3).number(msg).number(from).number(to).number(size).number(given);
        if (deadline) batch.number(deadline);
        if (answer) batch.number(answer);
        if (name) batch.blob(name);
        return true;
      }
      case "frame-received":
        batch.put(event.head.length, 4).number(event.stub).number(event.handle).number(event.frame).number(event.size).blob(event.head);
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

// Reads the fields of records.
class Reader {
  at = 0;
  readonly bytes: Bytes;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  number(): number {
    let byte = this.bytes[this.at++]!;
    let value = byte & 0x7f;
    for (let scale = 128; byte > 0x7f; scale *= 128) {
      byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * scale;
    }
    return value;
  }

  blob(): Bytes {
    const size = this.number();
    return this.bytes.subarray(this.at, (this.at += size));
  }

  list(count: number): number[] {
    const numbers: number[] = [];
    while (count-- > 0) numbers.push(this.number());
    return numbers;
  }
}

/** Performs packed effects. `names` are the machine's handles, and are kept up to date. */
export function unpack(bytes: Bytes, names: string[], to: Performer): void {
  const from = new Reader(bytes);
  while (from.at < bytes.length) {
    try {
      perform(from, names, to);
    } catch (cause) {
      report(cause);
    }
  }
}

// All of a record is read before it is performed: arguments are evaluated in their order.
function perform(from: Reader, names: string[], to: Performer): unknown {
  const kind = from.number();
  if (kind === 1) return to.other(decode(fromUtf8(from.blob())!) as unknown as Effect);
  const a = from.number();
  if (kind === 2) return (names[a] = fromUtf8(from.blob())!);
  if (kind === 22) return to.release(a);
  if (kind === 23) return to.wake(a);
  const b = from.number();
  if (kind === 21) return to.delivered(a, b);
  const c = from.number();
  if (kind === 16) return to.transmit(a, b, c, from.blob(), from.list(3 * from.number()));
  if (kind === 18) return to.drop(a, b, c);
  const d = from.number();
  if (kind === 17) return to.hold(a, b, c, d, from.list(from.number()));
  const path = paths[from.number()]!;
  const sender = names[from.number()]!;
  const target = names[from.number()]!;
  if (kind === 19) return to.deliver(a, b, c, d, path, sender, target);
  for (let i = 0; i < d; i++) to.deliver(a + i, b, c + i, c + i, path, sender, target);
}
