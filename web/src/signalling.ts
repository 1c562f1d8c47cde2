import type { Warning } from "./errors.ts";
import type { Identity } from "./identity.ts";
import type { Json } from "./json.ts";
import type { Event } from "./lines.ts";
import { takeSignal } from "./signals.ts";

const maxQueued = 256;
const maxEarly = 64;

/** Session descriptions and candidates that came before there was a peer connection to give them to. */
export interface Early {
  offer: string | undefined;
  candidates: string[];
}

/** What signalling does for its owner. */
export interface SignallingHooks {
  push(event: Event): void;
  /** Send this to the node that reaches the peer. */
  send(peer: string, text: string): void;
  /** What a verified peer says of its paths, for the connection of that attempt. False: there is none (yet). */
  describe(peer: string, attempt: number, kind: string, value: string): boolean;
  warn(warning: Warning): void;
}

/** Signed signals between this runtime and its peers (docs/protocol.md section 7). They leave and are taken in order. */
export class Signalling {
  readonly #identity: Identity;
  readonly #runtime: string;
  readonly #hooks: SignallingHooks;
  readonly #early = new Map<string, Early>();
  #sending: Promise<unknown> = Promise.resolve();
  #taking: Promise<unknown> = Promise.resolve();
  #queued = 0;
  #nextId = 1;

  constructor(identity: Identity, runtime: string, hooks: SignallingHooks) {
    this.#identity = identity;
    this.#runtime = runtime;
    this.#hooks = hooks;
  }

  /** Signs and sends a signal. */
  send(peer: string, kind: string, attempt: number, value: string): void {
    const signed = this.sign(peer, kind, attempt, value);
    this.#sending = this.#sending
      .then(async () => this.#hooks.send(peer, await signed))
      .catch((cause) => this.#hooks.warn({ code: "bad-input", text: `a signal could not be signed: ${kind}`, cause }));
  }

  /** The text of a signed signal, to be sent later. */
  async sign(peer: string, kind: string, attempt: number, value: string): Promise<string> {
    const signature = await this.#identity.signSignal({ from: this.#runtime, to: peer, kind, attempt, value });
    const body = { method: "signal", kind, attempt, value, key: this.#identity.key, signature };
    return JSON.stringify({ id: this.#nextId++, type: "execute", from: `${this.#runtime}/p2p`, to: `${peer}/p2p`, body });
  }

  /** Resolves when all that was to be sent is sent. */
  async drained(): Promise<void> {
    await this.#sending;
  }

  /** Takes what goes to the component of this runtime that takes signals, be it one or not. */
  receive(json: Json): void {
    if (json.type === "response") return; // a peer could not be reached; whoever waits for it gives up by itself
    if (this.#queued >= maxQueued) return this.#drop("too many at once");
    this.#queued++;
    this.#taking = this.#taking.then(async () => {
      const fault = await takeSignal(json, this.#runtime, this.#identity, this.#hooks, (peer, attempt) => this.#keep(peer, attempt));
      this.#queued--;
      if (fault) this.#drop(fault);
    });
  }

  /** What came early for that attempt; it is forgotten here. */
  takeEarly(peer: string, attempt: number): Early {
    const key = `${attempt} ${peer}`;
    const early = this.#early.get(key);
    this.#early.delete(key);
    return early ?? { offer: undefined, candidates: [] };
  }

  #drop(why: string): void {
    this.#hooks.warn({ code: "bad-input", text: `a signal was dropped: ${why}` });
  }

  #keep(peer: string, attempt: number): Early {
    const key = `${attempt} ${peer}`;
    const early = this.takeEarly(peer, attempt);
    this.#early.set(key, early); // now the newest
    if (this.#early.size > maxEarly) this.#early.delete(this.#early.keys().next().value!);
    return early;
  }
}
