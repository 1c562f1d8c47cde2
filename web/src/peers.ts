import type { Bytes } from "./bytes.ts";
import type { Warning } from "./errors.ts";
import { readIceServers } from "./ice-servers.ts";
import type { Identity } from "./identity.ts";
import type { Event } from "./lines.ts";
import { PeerStub } from "./peer-stub.ts";
import { Signalling } from "./signalling.ts";

/** What peer stubs need of their owner. */
export interface PeersOptions {
  runtime: string;
  identity: Identity;
  RTCPeerConnection: typeof RTCPeerConnection | undefined;
  iceServers: RTCIceServer[] | undefined;
  ice: RTCIceTransportPolicy | undefined;
  /** The servers that the own node names now. */
  named(): unknown[];
  push(event: Event, payload?: Bytes): void;
  /** Send this to the node that reaches the peer. */
  send(peer: string, text: string): void;
  warn(warning: Warning): void;
}

interface Peer {
  stub: PeerStub;
  peer: string;
  attempt: number;
  /** A signed goodbye, for when the page has no time to sign one. */
  bye: string | undefined;
}

/** All peer stubs of a runtime, and what they tell each other's peers. */
export class Peers {
  readonly signalling: Signalling;
  readonly #options: PeersOptions;
  readonly #peers = new Map<number, Peer>();
  #partings: Promise<unknown> | undefined;

  constructor(options: PeersOptions) {
    this.#options = options;
    const { identity, runtime, push, send, warn } = options;
    this.signalling = new Signalling(identity, runtime, {
      push, send, warn,
      describe: (peer, attempt, kind, value) => this.#describe(peer, attempt, kind, value),
    });
  }

  /** The peer of a stub. */
  peer(stub: number): string | undefined {
    return this.#peers.get(stub)?.peer;
  }

  /** Makes a stub and a connection, and sends the offer. */
  dial(stub: number, peer: string, attempt: number): void {
    this.#make(stub, peer, attempt).dial();
  }

  /** Makes a stub and a connection, and answers the offer that came with this attempt. */
  answer(number: number, peer: string, attempt: number): void {
    const stub = this.#make(number, peer, attempt);
    const early = this.signalling.takeEarly(peer, attempt);
    stub.answer(early.offer);
    for (const candidate of early.candidates) stub.signalled("candidate", candidate);
  }

  /** As PeerStub's. */
  restart(stub: number, generation: number): void {
    this.#peers.get(stub)?.stub.restart(generation);
  }

  /** Sends one session frame. */
  send(stub: number, frame: Bytes): void {
    this.#peers.get(stub)?.stub.send(frame);
  }

  /** The page goes: peers should not wait to find out. */
  hide(): void {
    for (const { stub, peer, bye } of this.#peers.values()) {
      if (bye) this.#options.send(peer, bye);
      stub.fail("page-hidden");
    }
  }

  /** What the connections say of themselves. */
  stats(): Promise<[string, RTCStatsReport | undefined][]> {
    return Promise.all([...this.#peers.values()].map(async ({ peer, stub }): Promise<[string, RTCStatsReport | undefined]> => [peer, await stub.stats()]));
  }

  /** Closes a stub. */
  close(number: number): void {
    const parting = this.#peers.get(number)?.stub.close();
    this.#peers.delete(number);
    if (parting) this.#partings = Promise.all([this.#partings, parting]);
  }

  /** Closes all stubs. Resolves when those that were ever closed are gone. */
  async closeAll(): Promise<void> {
    for (const number of [...this.#peers.keys()]) this.close(number);
    await this.#partings;
  }

  #make(number: number, peer: string, attempt: number): PeerStub {
    const { RTCPeerConnection, iceServers, ice, named, push, warn } = this.#options;
    const stub = new PeerStub({
      RTCPeerConnection: RTCPeerConnection!,
      configuration: () => ({ iceServers: iceServers ?? readIceServers(named()), iceTransportPolicy: ice }),
      stub: number,
      push: (event, payload) => {
        push(event, payload);
        if (event.verb === "stub-changed" && (event.status === "failed" || event.status === "disconnected")) this.#peers.delete(number);
      },
      signal: (kind, value) => this.signalling.send(peer, kind, attempt, value),
      warn,
    });
    const entry: Peer = { stub, peer, attempt, bye: undefined };
    this.#peers.set(number, entry);
    this.signalling.sign(peer, "bye", attempt, "").then(
      (text) => (entry.bye = text),
      () => undefined,
    );
    return stub;
  }

  #describe(peer: string, attempt: number, kind: string, value: string): boolean {
    for (const entry of this.#peers.values()) {
      if (entry.peer !== peer || entry.attempt !== attempt) continue;
      entry.stub.signalled(kind, value);
      return true;
    }
    return false;
  }
}
