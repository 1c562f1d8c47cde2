import { readAddress } from "./address.ts";
import type { Warning } from "./errors.ts";
import type { Identity } from "./identity.ts";
import type { Json } from "./json.ts";
import type { Event } from "./lines.ts";

const maxQueued = 256;
const maxEarly = 64;
const maxCandidates = 64;
const maxListed = 1024;
const maxValue = 64 * 1024;

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

  /** Takes what goes to the component of this runtime that takes signals, be it one or not. False if it goes elsewhere. */
  receive(json: Json): boolean {
    if (json.to !== `${this.#runtime}/p2p`) return false;
    if (json.type === "response") return true; // a peer could not be reached; whoever waits for it gives up by itself
    if (this.#queued >= maxQueued) {
      this.#drop("too many at once");
      return true;
    }
    this.#queued++;
    this.#taking = this.#taking.then(async () => {
      const fault = await this.#take(json);
      this.#queued--;
      if (fault) this.#drop(fault);
    });
    return true;
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

  async #take(json: Json): Promise<string | undefined> {
    const { method, kind, attempt = 0, value = "", key, signature } = json.body ?? {};
    if (method !== "signal" || typeof kind !== "string" || typeof value !== "string" || value.length > maxValue || !isAttempt(attempt)) return "malformed";
    const peer = json.from.replace(/\/p2p$/, "");
    const signal = { from: peer, to: this.#runtime, kind, attempt, value };
    if (peer === json.from || peer === this.#runtime || readAddress(peer) !== peer || !(await this.#identity.verifySignal(signal, key, signature))) return "its signature does not verify";
    switch (kind) {
      case "invite":
      case "accept":
      case "refuse":
      case "bye":
      case "restart":
        this.#hooks.push({ verb: "signal-received", peer, kind, attempt });
        return undefined;
      case "offer":
        this.#keep(peer, attempt).offer = value;
        this.#hooks.push({ verb: "signal-received", peer, kind, attempt });
        return undefined;
      case "answer":
      case "reoffer":
      case "reanswer":
        this.#hooks.describe(peer, attempt, kind, value);
        return undefined;
      case "candidate": {
        if (this.#hooks.describe(peer, attempt, kind, value)) return undefined;
        const { candidates } = this.#keep(peer, attempt);
        if (candidates.length < maxCandidates) candidates.push(value);
        return undefined;
      }
      case "list":
        return this.#list(peer, value);
      default:
        return `${JSON.stringify(kind.slice(0, 32))} is no kind of signal`;
    }
  }

  #list(peer: string, value: string): string | undefined {
    let list: unknown;
    try {
      list = JSON.parse(value);
    } catch {
      list = undefined;
    }
    if (!Array.isArray(list) || list.length > maxListed) return "its list can not be read";
    const addresses = list.map(readAddress);
    if (addresses.includes(undefined)) return "its list holds what is no address";
    this.#hooks.push({ verb: "peer-listed", peer, addresses: addresses as string[] });
    return undefined;
  }

  #keep(peer: string, attempt: number): Early {
    const key = `${attempt} ${peer}`;
    const early = this.takeEarly(peer, attempt);
    this.#early.set(key, early); // now the newest
    if (this.#early.size > maxEarly) this.#early.delete(this.#early.keys().next().value!);
    return early;
  }
}

function isAttempt(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
}
