import { canonical } from "./address.ts";
import type { Bytes } from "./bytes.ts";
import { decodeContent, encodeContent, isBytes, type Content, type MessageType } from "./content.ts";
import { HyrouteError, rejection } from "./errors.ts";
import { maxJson, type Json } from "./json.ts";
import type { Event, Path } from "./lines.ts";
import type { Former } from "./last-act.ts";
import { Memory } from "./memory.ts";
import type { Message } from "./message.ts";

const maxEarly = 4096;
const answerTime = 15_000;

/** What became of a message. */
export interface Sent {
  /** `delivered`: its listener has it. `taken`: a Message Node took it and does not say more. */
  readonly outcome: "delivered" | "taken";
  /** The way it last went. */
  readonly path: Path | undefined;
}

/** How a message is sent. */
export interface SendOptions {
  /** Milliseconds within which it must be delivered, or it is rejected `expired`. 30 000 unless given. */
  deadline?: number;
  /** Gives up waiting. A message that left may be delivered all the same. */
  signal?: AbortSignal;
  /** `never` keeps it off peer connections. */
  wish?: "never";
  /**
   * Names a stream of its own to that receiver. Order is kept within a lane only, and lanes share the path in turn: what is long, in a
   * lane of its own, holds up nothing else. At most 64 bytes of UTF-8.
   */
  lane?: string;
  /** What it is for in the JSON world. */
  type?: MessageType;
}

/** How a request is sent. */
export interface RequestOptions extends SendOptions {
  /** Milliseconds to wait for the answer once the request left. 15 000 unless given. */
  timeout?: number;
}

/** A message that was posted and is not settled, or not released. */
export interface Posted {
  readonly from: string;
  readonly to: string;
  readonly id: number | undefined; // of a request
  content: Bytes | undefined; // until it is released: its memory, of which it has
  readonly at: number;
  readonly size: number;
  path: Path | undefined;
  fault: HyrouteError | undefined;
  settled: boolean;
  resolve: (value: never) => void;
  reject: (error: HyrouteError) => void;
  forget: (() => void) | undefined; // the abort signal
}

/** What was posted here and is not settled or released yet, and the requests that wait for an answer. */
export class Outbox {
  readonly #push: (event: Event) => void;
  readonly #posted: Map<number, Posted>;
  readonly #requests = new Map<number, number>(); // by id: msg
  readonly #memory = new Memory();
  #next = 1;
  #nextId = 1;
  #running = false;
  #over: HyrouteError | undefined;

  constructor(push: (event: Event) => void, former?: Former) {
    this.#push = push;
    this.#posted = former?.posted ?? new Map();
    if (former) ({ next: this.#next, nextId: this.#nextId } = former);
    for (const [msg, { id }] of this.#posted) if (id !== undefined) this.#requests.set(id, msg);
  }

  /** What the next life needs. */
  state(): Pick<Former, "posted" | "next" | "nextId"> {
    return { posted: this.#posted, next: this.#next, nextId: this.#nextId };
  }

  /** The machine takes events from now on, and bounds what waits. */
  run(): void {
    this.#running = true;
  }

  /** Posts a message. `answer` makes it the response to a request of that id; `plain` if that came as JSON. */
  send(from: string, to: string, value: unknown, options: SendOptions, answer?: { id: number; code: number; plain: boolean }): Promise<Sent> {
    const content: Content = { value, type: answer ? "response" : (options.type ?? ""), id: answer?.id, code: answer?.code };
    return this.#post<Sent>(from, to, content, options, undefined, answer?.plain);
  }

  /** Posts a request. Resolves with its answer; one with a code of 400 or above rejects. */
  request(from: string, to: string, value: unknown, options: RequestOptions): Promise<Message> {
    const content: Content = { value, type: options.type ?? "", id: this.#nextId++ };
    return this.#post<Message>(from, to, content, options, options.timeout ?? answerTime);
  }

  /** Puts slices of posted messages, which leave on that path, one behind the other. `parts`: message, offset and length of each. */
  fill(parts: readonly number[], path: Path, to: Bytes, at: number): void {
    for (let i = 0; i < parts.length; ) {
      // Those that stand together are copied together.
      let memory: Bytes | undefined;
      let start = 0;
      let end = 0;
      for (; i < parts.length; i += 3) {
        const posted = this.#posted.get(parts[i]!)!;
        const from = posted.at + parts[i + 1]!;
        if (!memory) start = end = from;
        else if (posted.content !== memory || from !== end) break;
        memory = posted.content!;
        end += parts[i + 2]!;
        posted.path = path;
      }
      to.set(memory!.subarray(start, end), at);
      at += end - start;
    }
  }

  /** The content of a posted message, which goes to a listener here. */
  local(msg: number): Bytes | undefined {
    const posted = this.#posted.get(msg);
    if (posted) posted.path = "local";
    return this.#content(posted);
  }

  /** The posted message as JSON; undefined, and it will be rejected, if JSON can not hold it. */
  json(msg: number): Json | undefined {
    const posted = this.#posted.get(msg);
    const bytes = this.#content(posted);
    const content = bytes && decodeContent(bytes);
    if (!posted || !content) return undefined;
    const { value, type, id, code } = content;
    if (isBytes(value)) {
      posted.fault = new HyrouteError("unsupported-payload", `message to ${posted.to}: the receiver takes JSON only, and this is bytes`);
      return undefined;
    }
    if (posted.size > maxJson) {
      posted.fault = rejection("too-big", posted.to, false);
      return undefined;
    }
    posted.path = "relay";
    const body = code === undefined ? { value } : { code, value };
    return { id: id ?? this.#nextId++, type: type || "event", from: posted.from, to: posted.to, body };
  }

  settle(msg: number, outcome: Sent["outcome"] | "rejected", reason: string, maybe: boolean): void {
    const posted = this.#posted.get(msg);
    if (!posted || posted.settled) return;
    if (outcome !== "rejected") this.#outcome(msg, posted, outcome);
    else this.#reject(msg, posted, rejection(reason, posted.to, maybe));
  }

  release(msg: number): void {
    const posted = this.#posted.get(msg);
    if (!posted) return;
    this.#drop(posted);
    this.#sweep(msg, posted);
  }

  /** As settle and release, of messages with consecutive numbers. */
  delivered(first: number, count: number): void {
    for (let msg = first; msg < first + count; msg++) {
      const posted = this.#posted.get(msg);
      if (!posted) continue;
      this.#drop(posted);
      this.#outcome(msg, posted, "delivered");
      this.#sweep(msg, posted);
    }
  }

  giveUp(msg: number): void {
    const posted = this.#posted.get(msg);
    if (posted) this.#reject(msg, posted, rejection("no-answer", posted.to, true));
  }

  /** An answer came in. False if nobody waits for it. */
  answer(message: Message, id: number): boolean {
    const msg = this.#requests.get(id);
    const posted = msg === undefined ? undefined : this.#posted.get(msg);
    if (msg === undefined || !posted || posted.from !== message.to || posted.to !== message.from) return false;
    if (message.code !== undefined && message.code < 200) return true; // provisional
    this.#push({ verb: "answer-received", msg });
    if (message.code !== undefined && message.code >= 400) {
      const code = message.code === 404 ? "not-found" : "refused";
      this.#reject(msg, posted, new HyrouteError(code, `request to ${posted.to}: answered ${message.code}`, { cause: message }));
    } else {
      this.#resolve(msg, posted, message);
    }
    return true;
  }

  /** The machine could not take the message. */
  leftOut(msg: number, cause: Error): void {
    const posted = this.#posted.get(msg);
    if (!posted) return;
    this.#drop(posted);
    this.#reject(msg, posted, new HyrouteError("module", `message to ${posted.to}: ${cause.message}`, { cause }));
  }

  /** Rejects all that waits and all that comes. */
  end(error: HyrouteError): void {
    this.#over ??= error;
    for (const [msg, posted] of this.#posted) {
      this.#drop(posted);
      this.#reject(msg, posted, new HyrouteError(error.code, error.message, { cause: error, maybe: posted.path !== undefined }));
    }
    this.#posted.clear();
  }

  #post<T>(from: string, target: string, content: Content, options: SendOptions, answer?: number, plain?: boolean): Promise<T> {
    let resolve!: (value: T) => void;
    let reject!: (error: HyrouteError) => void;
    const outcome = new Promise<T>((...both) => ([resolve, reject] = both));
    try {
      const { deadline, signal, wish, lane } = options;
      const to = canonical(target);
      if (this.#over) throw this.#over;
      if (deadline !== undefined && !(deadline > 0)) throw new HyrouteError("bad-option", `deadline: ${deadline} is no number of milliseconds`);
      if (signal?.aborted) throw aborted(signal, to, false);
      // Once the machine runs, it is the machine that bounds what waits.
      if (!this.#running && this.#posted.size >= maxEarly) throw rejection("too-many", to, false);
      const [head, body] = encodeContent(content);
      const msg = this.#next++;
      const size = head.length + body.length;
      const [memory, at] = this.#memory.take(size);
      memory.set(head, at);
      memory.set(body, at + head.length);
      const id = answer === undefined ? undefined : content.id!;
      this.#posted.set(msg, {
        from, to, id, content: memory, at, size, path: undefined, fault: undefined, settled: false, resolve, reject, forget: signal && this.#heed(msg, signal),
      });
      if (id !== undefined) this.#requests.set(id, msg);
      this.#push({
        verb: "message-posted", msg, from, to, size, wish, deadline: deadline && Math.ceil(deadline), answer: answer && Math.ceil(answer), plain, lane,
      });
    } catch (error) {
      reject(error as HyrouteError);
    }
    return outcome;
  }

  #heed(msg: number, signal: AbortSignal): () => void {
    const abort = () => this.#abort(msg, signal);
    signal.addEventListener("abort", abort);
    return () => signal.removeEventListener("abort", abort);
  }

  #drop(posted: Posted): void {
    if (posted.content) this.#memory.release(posted.content);
    posted.content = undefined;
  }

  #outcome(msg: number, posted: Posted, outcome: Sent["outcome"]): void {
    if (posted.settled) return;
    if (posted.fault) this.#reject(msg, posted, posted.fault);
    else if (posted.id === undefined) this.#resolve(msg, posted, { outcome, path: posted.path });
  }

  #content(posted: Posted | undefined): Bytes | undefined {
    return posted?.content?.subarray(posted.at, posted.at + posted.size);
  }

  #abort(msg: number, signal: AbortSignal): void {
    const posted = this.#posted.get(msg);
    if (!posted) return;
    if (posted.id !== undefined) this.#push({ verb: "answer-received", msg });
    this.#reject(msg, posted, aborted(signal, posted.to, true));
  }

  #resolve(msg: number, posted: Posted, value: unknown): void {
    posted.resolve(value as never);
    this.#done(msg, posted);
  }

  #reject(msg: number, posted: Posted, error: HyrouteError): void {
    posted.reject(error); // of a settled promise: nothing
    this.#done(msg, posted);
  }

  #done(msg: number, posted: Posted): void {
    posted.settled = true;
    posted.forget?.();
    if (posted.id !== undefined) this.#requests.delete(posted.id);
    this.#sweep(msg, posted);
  }

  #sweep(msg: number, posted: Posted): void {
    if (posted.settled && !posted.content) this.#posted.delete(msg);
  }
}

function aborted(signal: AbortSignal, to: string, maybe: boolean): HyrouteError {
  return new HyrouteError("aborted", `message to ${to}: the caller gave up`, { cause: signal.reason, maybe });
}
