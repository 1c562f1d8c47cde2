import { canonical, readAddress } from "./address.ts";
import type { Bytes } from "./bytes.ts";
import { Carriers, type CarrierEffect, type CarrierOptions } from "./carriers.ts";
import { decodeContent, type Content, type MessageType } from "./content.ts";
import { Endpoint } from "./endpoint.ts";
import { HyrouteError, type Warning } from "./errors.ts";
import { Emitter, report, type RuntimeEvents } from "./events.ts";
import { Held } from "./held.ts";
import { Inbox, type Delivery, type Listener } from "./inbox.ts";
import type { Json } from "./json.ts";
import type { By, Effect, Event, Path } from "./lines.ts";
import type { LastAct, Restored } from "./last-act.ts";
import { Loop, type Trace } from "./loop.ts";
import type { Machine } from "./machine.ts";
import { Message } from "./message.ts";
import { Refused } from "./module.ts";
import type { Counted, PathChange, RuntimeStats } from "./stats.ts";
import { Outbox, type RequestOptions, type SendOptions, type Sent } from "./outbox.ts";
import { unpack, type Batch, type Performer } from "./packed.ts";
import { decodeEffects } from "./wire.ts";

const maxClaims = 256;
const maxPaths = 256;
const requestTypes = /^(?:create|read|update|delete|subscribe|unsubscribe|execute)$/;

/** How a message would go now, and why. */
export interface Explanation {
  /** Who would take it on: a listener here, a session with a peer, a Message Node as plain JSON, or nobody. */
  readonly by: By;
  readonly path: Path | undefined;
  readonly peer: string | undefined;
  readonly reason: string;
  /** The steps of the routing document that the decision went through. */
  readonly steps: readonly number[];
}

// A message on its way out of the machine. An answer has the id of its request.
interface Handover extends Delivery {
  readonly id: number | undefined;
}

/** What a runtime starts from. */
export interface RuntimeParts extends Omit<CarrierOptions, "push" | "received" | "fill" | "warn"> {
  address: string;
  emitter: Emitter;
  /** With the option `keep`. */
  act: LastAct | undefined;
}

/** A runtime: an address of its own, and the way to all others. Made by `connect`. */
export class Runtime implements AsyncIterable<Message> {
  /** The address that others reach this runtime at. */
  readonly address: string;

  /** The runtime's own URL: its domain, and the fingerprint of its key. */
  readonly url: string;

  /** With `keep`: the messages of the page before that were not settled when it went. They go on; this says what becomes of them. */
  readonly restored: readonly Restored[];

  readonly #parts: RuntimeParts;
  readonly #emitter: Emitter;
  readonly #loop: Loop;
  readonly #outbox: Outbox;
  readonly #carriers: Carriers;
  readonly #held = new Held();
  readonly #inboxes = new Map<string, Inbox>();
  readonly #jsons = new Map<number, { json: Json; stub: number }>();
  readonly #claims = new Map<number, string>(); // registrations under way, by job
  readonly #questions = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  readonly #paths: PathChange[] = [];
  readonly #counted: Counted[] = [];
  readonly #own: Endpoint;
  #network = network()?.type;
  #batch!: Batch; // of the step that is performed
  #after: (Handover | (() => void))[] = [];
  #calling = false;
  #nextJson = 1;
  #nextQuestion = 1;
  #over: HyrouteError | undefined;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(parts: RuntimeParts) {
    this.#parts = parts;
    this.url = parts.runtime;
    this.#emitter = parts.emitter;
    this.#loop = new Loop({
      perform: (effects, names, batch) => this.#perform(effects, names, batch),
      leftOut: (event, error) => this.#leftOut(event, error),
      broken: (error) => this.fail(new HyrouteError("module", error.message, { cause: error })),
    });
    const push = (event: Event, payload?: Bytes) => this.#push(event, payload);
    this.#outbox = new Outbox(push, parts.act?.former);
    this.restored = parts.act?.restored ?? [];
    this.#carriers = new Carriers({
      ...parts,
      push,
      received: (json, stub) => this.#received(json, stub),
      fill: (parts, path, to, at) => this.#outbox.fill(parts, path, to, at),
      warn: (warning) => this.#warn(warning),
    });
    this.#own = this.register(parts.address);
    this.address = this.#own.address;
    globalThis.addEventListener?.("pagehide", this.#hide);
    parts.act?.attach(this.#loop, this.#outbox, this.#hide, this.#woken, (error) => void this.end(error));
    globalThis.addEventListener?.("online", this.#online);
    network()?.addEventListener("change", this.#changed);
  }

  /** Hands over the machine, as to Loop. @internal */
  run(machine: Machine, line: string, effects: string, trace: Trace | undefined, first?: Event, now?: number): void {
    if (this.#over) return;
    this.#outbox.run();
    this.#loop.run(machine, line, effects, trace, first, now);
    this.#emitter.emit("status", { kind: "module", status: "live", reason: "" });
  }

  /** Without a machine nothing works. @internal */
  fail(error: HyrouteError): void {
    if (this.#over) return;
    this.#emitter.emit("status", { kind: "module", status: "failed", reason: error.message });
    void this.end(error);
  }

  /**
   * Listens at an address: a name, which stands for `hyperty://<own domain>/<name>`, or a whole address. Take what comes by
   * `listener`, or by `for await`. Throws `bad-address` for what is none, or is registered here already.
   */
  register(nameOrAddress: string, listener?: Listener): Endpoint {
    if (this.#over) throw this.#over;
    const text = nameOrAddress.includes("://") ? nameOrAddress : `hyperty://${this.#parts.domain}/${nameOrAddress}`;
    const address = canonical(text);
    if (this.#inboxes.has(address)) throw new HyrouteError("bad-address", `address ${address} is registered already`);
    const inbox = new Inbox((cause) => {
      this.#warn({ code: "listener", text: `a listener of ${address} threw`, cause });
      report(cause);
    }, () => this.#loop.resting, this.#taken);
    if (listener) inbox.listen(listener);
    this.#inboxes.set(address, inbox);
    this.#push({ verb: "endpoint-registered", address });
    return new Endpoint(address, inbox, {
      send: this.#reply,
      request: (from, to, value, options) => this.#outbox.request(from, to, value, options),
      close: () => {
        if (this.#inboxes.get(address) !== inbox) return;
        this.#inboxes.delete(address);
        this.#push({ verb: "endpoint-unregistered", address });
      },
    });
  }

  /** Hears of something. Returns what takes it back. */
  on<Name extends keyof RuntimeEvents>(name: Name, handler: (event: RuntimeEvents[Name]) => unknown): () => void {
    return name === "message" ? this.#own.listen(handler as Listener) : this.#emitter.on(name, handler);
  }

  /**
   * Sends a value: a string, a Uint8Array, or anything that JSON holds. Resolves when its listener has it. Rejects with a
   * HyrouteError, whose `maybe` says whether it may have been delivered all the same.
   */
  send(to: string, value: unknown, options: SendOptions = {}): Promise<Sent> {
    return this.#outbox.send(this.address, to, value, options);
  }

  /** Sends a value and waits for the answer. Rejects as `send`, and with `no-answer`. */
  request(to: string, value: unknown, options: RequestOptions = {}): Promise<Message> {
    return this.#outbox.request(this.address, to, value, options);
  }

  /** How would a message go now, and why? Nothing is sent. */
  explain(to: string, { wish }: { wish?: "never" } = {}): Promise<Explanation> {
    return this.#ask((job) => ({ verb: "explanation-asked", job, from: this.address, to: canonical(to), wish }));
  }

  /** What was counted since this runtime began, and what waits now. */
  async stats(): Promise<RuntimeStats> {
    const { readStats } = await import("./stats.ts");
    const counted = await this.#ask<Counted[]>((job) => ({ verb: "stats-asked", job }));
    return readStats(counted, await this.#carriers.peerStats(), this.#paths);
  }

  /** Goes away: what waits is rejected `closed`, peers and nodes are told. Resolves when nothing is left. */
  close(): Promise<void> {
    if (!this.#over) {
      this.#push({ verb: "closing" });
      this.#loop.flush();
    }
    return this.end(new HyrouteError("closed", "this runtime is closed"));
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    return this.#own[Symbol.asyncIterator]();
  }

  /**
   * To be called where this environment does not notice by itself that its network is another one: paths and sockets are probed at
   * once, and peer connections look for other paths. Pages notice.
   */
  networkChanged(): void {
    if (!this.#over) this.#push({ verb: "network-changed" });
  }

  readonly #online = (): void => this.networkChanged();

  // It also changes with each new guess of the speed.
  readonly #changed = (): void => {
    const type = network()?.type;
    if (type !== this.#network) this.networkChanged();
    this.#network = type;
  };

  // The page goes away or is put away.
  readonly #hide = (): void => {
    try {
      this.#carriers.hide();
      this.#loop.hurry();
    } finally {
      this.#parts.act?.save();
    }
  };

  // It lives on.
  readonly #woken = (): void => {
    this.#loop.wake();
    this.#tell();
    for (const inbox of this.#inboxes.values()) inbox.drain();
  };

  #ask<T>(event: (job: number) => Event): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#over) throw this.#over;
      const job = this.#nextQuestion++;
      const asked = event(job);
      this.#questions.set(job, { resolve: resolve as (value: never) => void, reject });
      this.#push(asked);
    });
  }

  #answer(job: number, value: unknown): void {
    this.#questions.get(job)?.resolve(value as never);
    this.#questions.delete(job);
  }

  /** Ends it: what waits is rejected with this. @internal */
  end(error: HyrouteError): Promise<void> {
    this.#over ??= error;
    return (this.#closing ??= this.#shut(error));
  }

  async #shut(error: HyrouteError): Promise<void> {
    this.#outbox.end(error);
    for (const { reject } of this.#questions.values()) reject(error);
    this.#questions.clear();
    for (const inbox of this.#inboxes.values()) inbox.close();
    this.#inboxes.clear();
    this.#loop.stop();
    globalThis.removeEventListener?.("pagehide", this.#hide);
    globalThis.removeEventListener?.("online", this.#online);
    network()?.removeEventListener("change", this.#changed);
    await this.#carriers.close();
    this.#parts.act?.close();
    this.#parts.identity.release();
  }

  #push(event: Event, payload?: Bytes): void {
    if (event.verb === "stub-changed") {
      const { stub, status, reason = "" } = event;
      const domain = this.#carriers.domain(stub);
      const peer = this.#carriers.peer(stub);
      if (domain !== undefined) this.#emitter.emit("status", { kind: "node", domain, status, reason });
      else if (peer !== undefined) this.#emitter.emit("status", { kind: "peer", peer, status, reason });
    } else if (event.verb === "registry-answered") {
      const address = this.#claims.get(event.job);
      this.#claims.delete(event.job);
      if (address && event.code === 403) this.#warn({ code: "name-taken", text: `${address} belongs to another runtime` });
    }
    this.#loop.push(event, payload);
  }

  #received(json: Json, stub: number): void {
    const from = readAddress(json.from);
    const to = readAddress(json.to);
    if (!from || !to) return this.#warn({ code: "bad-input", text: `a message from ${json.from.slice(0, 80)} was dropped: no address` });
    const number = this.#nextJson++;
    this.#jsons.set(number, { json, stub });
    this.#push({ verb: "json-received", json: number, stub, from, to });
  }

  #warn(warning: Warning): void {
    this.#emitter.emit("warning", warning);
  }

  #leftOut(event: Event, error: Error): void {
    const code = error instanceof Refused ? "refused-event" : "trap";
    this.#warn({ code, text: `${event.verb} was left out: ${error.message}`, cause: error });
    if (event.verb === "message-posted") this.#outbox.leftOut(event.msg, error);
    else if (event.verb === "json-received") this.#jsons.delete(event.json);
    else if (event.verb === "explanation-asked" || event.verb === "stats-asked") {
      this.#questions.get(event.job)?.reject(new HyrouteError("module", error.message, { cause: error }));
      this.#questions.delete(event.job);
    }
  }

  readonly #reply: Outbox["send"] = (...message) => this.#outbox.send(...message);

  // What comes with every message.
  readonly #performer: Performer = {
    transmit: (stub, handle, pad, head, parts) => this.#carriers.transmit(stub, handle, pad, head, parts),
    hold: (session, first, frame, offset, lengths) => this.#held.keep(session, first, this.#batch.payload(frame), offset, lengths),
    drop: (session, first, last) => this.#held.drop(session, first, last),
    deliver: (delivery, session, first, last, path, from, to) => {
      const [start, ...more] = this.#held.take(session, first, last);
      this.#deliver(delivery, start && decodeContent(start, more), false, from, to, path);
    },
    delivered: (first, count) => this.#outbox.delivered(first, count),
    release: (msg) => this.#outbox.release(msg),
    wake: (at) => this.#loop.wakeAt(at),
    other: (effect) => this.#do(effect),
  };

  // Whatever calls the user's code waits until everything else is done: it may take long, and it may call us.
  #perform(effects: string | Bytes, names: string[], batch: Batch): void {
    this.#batch = batch;
    if (typeof effects === "string") for (const effect of decodeEffects(effects)) this.#do(effect);
    else unpack(effects, names, this.#performer);
    this.#loop.done();
    this.#tell();
  }

  // A listener may have the browser run other events meanwhile (Firefox does in a synchronous request): what they bring waits its turn. If
  // the page goes in one of them, the rest is not this life's any more.
  #tell(): void {
    if (this.#calling) return;
    this.#calling = true;
    for (let call; !this.#loop.resting && (call = this.#after.shift()); ) {
      try {
        typeof call === "function" ? call() : this.#handOver(call);
      } catch (cause) {
        report(cause);
      }
    }
    this.#calling = false;
  }

  #later<Name extends keyof RuntimeEvents>(name: Name, event: RuntimeEvents[Name]): void {
    this.#after.push(() => this.#emitter.emit(name, event));
  }

  #do(effect: Effect): void {
    switch (effect.verb) {
      case "deliver":
        return this.#deliver(effect.delivery, this.#content(effect.msg, effect.json), effect.json > 0, effect.from, effect.to, effect.path);
      case "discard":
        return this.#discard(effect.json, effect.reason);
      case "forward":
        return this.#forward(effect.msg, effect.stub);
      case "settle":
        return this.#outbox.settle(effect.msg, effect.outcome, effect.reason, effect.maybe);
      case "give-up-answer":
        return this.#outbox.giveUp(effect.msg);
      case "session-stats":
        return void this.#counted.push(effect);
      case "stats":
        return this.#answer(effect.job, [...this.#counted.splice(0), effect]);
      case "path-changed":
        if (this.#paths.push({ at: Date.now(), effect }) > maxPaths) this.#paths.shift();
        return this.#later("path", { peer: effect.peer, path: effect.path, reason: effect.reason });
      case "presence-changed":
        return this.#later("presence", { peer: effect.peer, status: effect.status as "live", reason: effect.reason });
      case "session-reset":
        return this.#later("reset", { peer: effect.peer, doubt: effect.doubt, reason: effect.reason });
      case "gap":
        return this.#later("gap", { peer: effect.peer });
      case "explained":
        return this.#explained(effect);
      case "wake":
        return this.#loop.wakeAt(effect.at);
      case "routed":
        return;
      case "register-endpoint":
        this.#claims.set(effect.job, effect.address);
        if (this.#claims.size > maxClaims) this.#claims.delete(this.#claims.keys().next().value!);
    }
    this.#carriers.perform(effect as CarrierEffect);
  }

  #explained({ job, by, path, peer, reason, steps }: Extract<Effect, { verb: "explained" }>): void {
    const answer: Explanation = { by, path: path || undefined, peer: peer || undefined, reason, steps };
    this.#answer(job, answer);
  }

  // What is delivered is taken at once: the body's copy is gone when the step is over.
  #deliver(delivery: number, content: Content | undefined, plain: boolean, from: string, to: string, path: Path): void {
    this.#after.push(content ? { message: new Message(from, to, path, content, plain, this.#reply), delivery, id: content.id } : () => this.#refuse(delivery, "unsupported-payload"));
  }

  #handOver(held: Handover): void {
    const { message, delivery, id } = held;
    const inbox = this.#inboxes.get(message.to);
    if (message.code !== undefined) {
      this.#outbox.answer(message, id!); // one that came too late is taken all the same
      this.#taken(delivery);
    } else if (inbox) inbox.push(held);
    else this.#refuse(delivery, "no-listener");
  }

  readonly #taken = (delivery: number): void => this.#push({ verb: "delivery-taken", delivery });

  #refuse(delivery: number, reason: string): void {
    this.#push({ verb: "delivery-refused", delivery, reason });
  }

  // Of a JSON message, or one that was posted here.
  #content(msg: number, json: number): Content | undefined {
    if (json > 0) {
      const held = this.#jsons.get(json)?.json;
      this.#jsons.delete(json);
      return held && contentOf(held);
    }
    const bytes = this.#outbox.local(msg);
    return bytes && decodeContent(bytes);
  }

  #forward(msg: number, stub: number): void {
    const json = this.#outbox.json(msg);
    if (json) this.#carriers.node(stub)?.sendJson(json);
  }

  #discard(number: number, reason: string): void {
    const held = this.#jsons.get(number);
    this.#jsons.delete(number);
    if (!held || reason === "echo" || reason === "too-many" || !requestTypes.test(held.json.type)) return;
    const { id, from, to } = held.json;
    const [code, desc] = reason === "not-bound" ? [403, "the sender's address is not that of its runtime"] : [404, "nobody listens here"];
    this.#carriers.node(held.stub)?.sendJson({ id, type: "response", from: to, to: from, body: { code, desc, description: desc } });
  }
}

/** What some browsers tell of the network: https://wicg.github.io/netinfo/ */
function network(): (EventTarget & { type?: string }) | undefined {
  return (globalThis.navigator as { connection?: EventTarget & { type?: string } } | undefined)?.connection;
}

/** What a JSON message holds: the value in its body, or else the whole body. */
function contentOf({ id, type, body }: Json): Content {
  const value = body && Object.hasOwn(body, "value") ? body["value"] : (body ?? null);
  if (type === "response") {
    const code = Number.isSafeInteger(body?.["code"]) ? (body!["code"] as number) : 500;
    return { value, type, id, code };
  }
  return { value, type: type as MessageType, id: requestTypes.test(type) ? id : undefined };
}
