import { domainOf } from "./address.ts";
import type { Bytes } from "./bytes.ts";
import type { Warning } from "./errors.ts";
import { forwardPrefix, nameEnvelope } from "./frame.ts";
import type { Identity } from "./identity.ts";
import type { Json } from "./json.ts";
import type { Effect, Event, Path } from "./lines.ts";
import { NodeStub, type NodeStubOptions } from "./node-stub.ts";
import type { Peers } from "./peers.ts";

// As large as one that the machine makes.
const usualFrame = 60 * 1024 + 64;

const loadPeer = () => import("./peer.ts");

/** What the carriers need. */
export interface CarrierOptions {
  runtime: string;
  identity: Identity;
  domain: string;
  /** The stub of the own domain: it connects while the module still loads. */
  first: FirstStub;
  /** The WebSocket URL of a domain's Message Node. */
  nodeUrl(domain: string): string;
  WebSocket: typeof WebSocket;
  RTCPeerConnection: typeof RTCPeerConnection | undefined;
  iceServers: RTCIceServer[] | undefined;
  ice: RTCIceTransportPolicy | undefined;
  push(event: Event, payload?: Bytes): void;
  /** A JSON message that is neither answer, notification nor signal. */
  received(json: Json, stub: number): void;
  /** Puts slices of posted messages, which leave on that path, one behind the other. `parts`: message, offset and length of each. */
  fill(parts: readonly number[], path: Path, to: Bytes, at: number): void;
  warn(warning: Warning): void;
}

/** A node stub that was made before the machine asked for it: what it reports is kept until it is given a number. */
export class FirstStub {
  readonly stub: NodeStub;
  #iceServers: unknown[] = [];
  #opened: ((iceServers: unknown[]) => void) | undefined;
  #told: { make: (stub: number) => Event; payload: Bytes | undefined }[] = [];
  #push: ((make: (stub: number) => Event, payload?: Bytes) => void) | undefined;
  #received: ((json: Json) => void) | undefined;
  #early: Json[] = [];

  constructor(options: Pick<NodeStubOptions, "url" | "WebSocket" | "opening" | "warn">) {
    this.stub = new NodeStub({
      ...options,
      push: (make, payload) => (this.#push ? this.#push(make, payload) : void this.#told.push({ make, payload })),
      received: (json) => (this.#received ? this.#received(json) : void this.#early.push(json)),
      opened: (iceServers) => (this.#opened ?? ((list) => (this.#iceServers = list)))(iceServers),
    });
  }

  /** Reports all that happened so far, and from then on what happens. */
  attach({ push, received, opened }: Pick<NodeStubOptions, "push" | "opened"> & { received: (json: Json) => void }): void {
    this.#push = push;
    this.#received = received;
    this.#opened = opened;
    opened(this.#iceServers);
    for (const { make, payload } of this.#told.splice(0)) push(make, payload);
    for (const json of this.#early.splice(0)) received(json);
  }
}

interface Node {
  stub: NodeStub;
  domain: string;
  /** Set once it is to be closed: it still takes what is being signed, and reports nothing. */
  closing?: Promise<void>;
}

/** The effects that carriers carry out. */
export type CarrierEffect = Extract<
  Effect,
  {
    verb:
      | "deploy-node-stub" | "connect-stub" | "close-stub" | "subscribe" | "unsubscribe" | "register-endpoint" | "refresh-endpoint"
      | "unregister-endpoint" | "query-registry" | "name-handle" | "signal" | "dial-peer" | "answer-peer" | "restart-peer";
  }
>;

/** All stubs of a runtime. */
export class Carriers {
  readonly #options: CarrierOptions;
  readonly #nodes = new Map<number, Node>();
  #peers: Peers | undefined; // once there was something for them
  #asked: Promise<unknown> | undefined;
  #first: FirstStub | undefined;
  #iceServers: unknown[] = [];
  #frames = 0;
  #frame: Bytes = new Uint8Array(0);

  constructor(options: CarrierOptions) {
    this.#options = options;
    this.#first = options.first;
    if (options.RTCPeerConnection) loadPeer().catch(() => undefined); // it is tried again when it is needed
  }

  /** The Message Node stub of that number, for plain JSON. */
  node(stub: number): NodeStub | undefined {
    return this.#nodes.get(stub)?.stub;
  }

  /** The domain of a node stub. */
  domain(stub: number): string | undefined {
    return this.#nodes.get(stub)?.domain;
  }

  /** The peer of a peer stub. */
  peer(stub: number): string | undefined {
    return this.#peers?.peer(stub);
  }

  /** Sends one session frame. `parts` as for fill. */
  transmit(stub: number, handle: number, pad: number, head: Bytes, parts: readonly number[]): void {
    const prefix = handle > 0 ? forwardPrefix(handle) : [];
    const at = prefix.length + head.length + pad;
    let size = at;
    for (let i = 2; i < parts.length; i += 3) size += parts[i]!;
    // A frame is copied when it is sent, so all are made in one place: memory that was just used costs less than new one.
    if (size > this.#frame.length) this.#frame = new Uint8Array(Math.max(size, usualFrame));
    const bytes = this.#frame.subarray(0, size);
    bytes.set(prefix);
    bytes.set(head, prefix.length);
    bytes.fill(0, at - pad, at);
    if (parts.length > 0) this.#options.fill(parts, handle > 0 ? "relay" : "direct", bytes, at);
    if (handle > 0) this.node(stub)?.send(bytes);
    else this.#peers?.send(stub, bytes);
  }

  perform(effect: CarrierEffect): void {
    switch (effect.verb) {
      case "deploy-node-stub":
        return this.#deploy(effect.stub, effect.domain);
      case "connect-stub":
        return this.#nodes.get(effect.stub)?.stub.connect();
      case "close-stub":
        return this.#close(effect.stub);
      case "subscribe":
      case "unsubscribe":
        return this.node(effect.stub)?.askSubscriptions(effect.job, effect.verb, effect.addresses);
      case "register-endpoint": {
        const value = { url: effect.address, runtime: this.#options.runtime, status: "live", expires: effect.expires, sessions: 1 };
        return this.node(effect.stub)?.askRegistry(effect.job, "create", { value });
      }
      case "refresh-endpoint":
        return this.node(effect.stub)?.askRegistry(effect.job, "update", { resource: effect.address, method: "refresh" });
      case "unregister-endpoint":
        return this.node(effect.stub)?.askRegistry(effect.job, "delete", { resource: effect.address });
      case "query-registry":
        return this.node(effect.stub)?.ask(effect.job, "read", effect.registry, { resource: effect.resource });
      case "name-handle":
        return this.node(effect.stub)?.send(nameEnvelope(effect.handle, effect.runtime));
      case "signal":
        return this.#ask((peers) => peers.signalling.send(effect.peer, effect.kind, effect.attempt, effect.kind === "list" ? JSON.stringify(effect.addresses) : ""));
      case "dial-peer":
        return this.#ask((peers) => peers.dial(effect.stub, effect.peer, effect.attempt), effect.stub);
      case "answer-peer":
        return this.#ask((peers) => peers.answer(effect.stub, effect.peer, effect.attempt), effect.stub);
      case "restart-peer":
        return this.#peers?.restart(effect.stub, effect.generation);
    }
  }

  /** The page goes out of sight for good, or is put away: peers should not wait to find out. Everything here happens at once. */
  hide(): void {
    this.#peers?.hide();
  }

  /** What the peer connections say of themselves. */
  async peerStats(): Promise<[string, RTCStatsReport | undefined][]> {
    return this.#peers?.stats() ?? [];
  }

  /** Closes all stubs. */
  async close(): Promise<void> {
    for (const number of [...this.#nodes.keys()]) this.#close(number);
    await Promise.all([this.#parted(), ...[...this.#nodes.values()].map((node) => node.closing)]);
    await this.#first?.stub.close();
  }

  #deploy(number: number, domain: string): void {
    const { runtime, identity, WebSocket, warn } = this.#options;
    const own = domain === this.#options.domain;
    const hooks = {
      push: (make: (stub: number) => Event, payload?: Bytes) => {
        if (this.#nodes.get(number)?.closing === undefined) this.#push(make(number), payload);
      },
      received: (json: Json) => {
        if (json.to === `${runtime}/p2p`) this.#ask((peers) => peers.signalling.receive(json));
        else this.#options.received(json, number);
      },
      // Servers that learn a page's addresses are for its own node to name.
      opened: (iceServers: unknown[]) => {
        if (own) this.#iceServers = iceServers;
      },
    };
    const first = own ? this.#first : undefined;
    if (first) {
      this.#first = undefined;
      this.#nodes.set(number, { stub: first.stub, domain });
      first.attach(hooks);
      return;
    }
    const url = this.#options.nodeUrl(domain);
    const stub = new NodeStub({ url, WebSocket, opening: Promise.resolve({ domain, runtime, identity }), warn, ...hooks });
    this.#nodes.set(number, { stub, domain });
    stub.connect();
  }

  #push(event: Event, payload?: Bytes): void {
    if (event.verb === "frame-received") event.frame = ++this.#frames;
    this.#options.push(event, payload);
  }

  #close(number: number): void {
    const node = this.#nodes.get(number);
    if (!node) return this.#ask((peers) => peers.close(number));
    node.closing ??= Promise.resolve(this.#asked).then(() => this.#peers?.signalling.drained()).then(() => node.stub.close()).then(() => void this.#nodes.delete(number));
  }

  async #parted(): Promise<void> {
    await this.#asked;
    await this.#peers?.closeAll();
  }

  // A peer is reached by the node of its domain; where that has no stub, by our own.
  #nodeFor(peer: string): NodeStub | undefined {
    return this.#nodeOf(domainOf(peer)) ?? this.#nodeOf(this.#options.domain);
  }

  #nodeOf(domain: string): NodeStub | undefined {
    for (const node of this.#nodes.values()) if (node.domain === domain) return node.stub;
    return undefined;
  }

  // Pages that only use nodes need not load what peer connections take; others have it long before the module. What is asked of it is done
  // in order, also what is asked before it is there; without it, that stub has failed.
  #ask(act: (peers: Peers) => void, stub?: number): void {
    this.#asked = loadPeer().then(
      (peer) => {
        const { runtime, identity, RTCPeerConnection, iceServers, ice, warn } = this.#options;
        this.#peers ??= new peer.Peers({
          runtime, identity, RTCPeerConnection, iceServers, ice, warn,
          named: () => this.#iceServers,
          push: (event, payload) => this.#push(event, payload),
          send: (peer, text) => this.#nodeFor(peer)?.sendText(text),
        });
        act(this.#peers);
      },
      (cause) => {
        this.#options.warn({ code: "bad-input", text: "peer.js can not be loaded", cause });
        if (stub) this.#push({ verb: "stub-changed", stub, status: "failed", reason: "unsupported" });
      },
    );
  }
}
