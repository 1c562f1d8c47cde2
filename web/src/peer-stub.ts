import type { Bytes } from "./bytes.ts";
import type { Warning } from "./errors.ts";
import { cutFrame } from "./frame.ts";
import type { Event, Status } from "./lines.ts";
import { Outflow } from "./outflow.ts";
import { Restart } from "./restart.ts";

const maxCandidates = 64;
const farewell = 500;

/** What a peer stub starts from. */
export interface PeerStubOptions {
  RTCPeerConnection: typeof RTCPeerConnection;
  /** What connections are made with now: servers come and go, and their credentials expire. */
  configuration(): RTCConfiguration;
  stub: number;
  push(event: Event, payload?: Bytes): void;
  /** Send a signal of this attempt to the peer. */
  signal(kind: string, value: string): void;
  warn(warning: Warning): void;
}

/**
 * The stub of one peer: an RTCPeerConnection with its one data channel. It reports what it sees, and lets no error out: one that
 * ends the connection is reported as failed, or as disconnected if it was live. Either is the end of this stub.
 */
export class PeerStub {
  readonly #options: PeerStubOptions;
  #connection: RTCPeerConnection | undefined;
  #channel: RTCDataChannel | undefined;
  #out: Outflow | undefined;
  #ufrag: string | undefined; // of the paths that the peer described last; none yet
  #early: RTCIceCandidateInit[] = [];
  #live = false;
  #waits = false; // for the answer
  #restart: Restart | undefined;

  constructor(options: PeerStubOptions) {
    this.#options = options;
  }

  /** Makes a connection and sends the offer. */
  dial(): void {
    this.#waits = true;
    this.#attempt(async (connection) => {
      await connection.setLocalDescription();
      this.#say(connection, "offer");
    });
  }

  /** Makes a connection and answers an offer. */
  answer(offer: string | undefined): void {
    this.#attempt(async (connection) => {
      if (offer === undefined) throw new Error("no offer came with this attempt");
      await this.#describe(connection, "offer", offer);
      await connection.setLocalDescription();
      this.#say(connection, "answer");
    });
  }

  /** Looks for other paths (ICE restart): for the side that dialled. */
  restart(generation: number): void {
    if (this.#ufrag !== undefined) this.#restart?.offer(generation);
  }

  /** Takes what the peer says of its paths. */
  signalled(kind: string, value: string): void {
    const connection = this.#connection;
    if (!connection) return;
    if (kind === "candidate") this.#candidate(value);
    else if (kind !== "answer") {
      if (this.#ufrag !== undefined) this.#restart!.take(kind, value);
    } else if (this.#waits) {
      this.#waits = false;
      this.#describe(connection, "answer", value).catch((cause) => this.#fail(connection, "bad-answer", cause));
    }
  }

  /** Sends one session frame. What can not be sent is lost, as on any carrier. */
  send(frame: Bytes): void {
    if (this.#channel?.readyState !== "open") return;
    try {
      this.#out!.send(frame);
    } catch (cause) {
      this.#fail(this.#connection!, "send-failed", cause);
    }
  }

  /** What the connection says of itself. */
  async stats(): Promise<RTCStatsReport | undefined> {
    return this.#connection?.getStats();
  }

  /** Ends the connection, once what was sent has arrived, or after half a second. Nothing is reported any more. */
  async close(): Promise<void> {
    const connection = this.#connection;
    const channel = this.#channel;
    if (!connection) return;
    this.#let(connection);
    if (channel?.readyState === "open") {
      // A connection that is closed throws away what is under way; a channel that is closed brings it there first. The event that says so
      // may never come.
      await new Promise<unknown>((resolve) => {
        channel.onclose = resolve;
        setTimeout(resolve, farewell);
        channel.close();
      });
      channel.onclose = null;
    }
    connection.close();
  }

  /** Ends the connection and reports it, as if it had failed. */
  fail(reason: string): void {
    if (this.#connection) this.#fail(this.#connection, reason);
  }

  #attempt(describe: (connection: RTCPeerConnection) => Promise<void>): void {
    this.#changed("in-progress");
    let connection: RTCPeerConnection;
    try {
      connection = new this.#options.RTCPeerConnection(this.#options.configuration());
      this.#connection = connection;
      this.#restart = new Restart(connection, {
        offers: this.#waits,
        configuration: this.#options.configuration,
        describe: (type, sdp) => this.#describe(connection, type, sdp),
        signal: this.#options.signal,
        failed: (cause) => {
          if (this.#connection) this.#options.warn({ code: "bad-input", text: "a peer connection could not be restarted", cause });
        },
      });
      this.#watch(connection, connection.createDataChannel("hyroute", { negotiated: true, id: 0 }));
    } catch (cause) {
      this.#connection?.close();
      this.#connection = this.#restart = undefined;
      this.#options.warn({ code: "bad-input", text: "no peer connection can be made", cause });
      this.#changed("failed", "unsupported");
      return;
    }
    describe(connection).catch((cause) => this.#fail(connection, "bad-description", cause));
  }

  #watch(connection: RTCPeerConnection, channel: RTCDataChannel): void {
    this.#channel = channel;
    this.#out = new Outflow(channel, (blocked) => this.#tell({ verb: blocked ? "stub-blocked" : "stub-writable", stub: this.#options.stub }));
    channel.binaryType = "arraybuffer";
    channel.onopen = () => this.#tell({ verb: "stub-changed", stub: this.#options.stub, status: "live" });
    channel.onclose = () => this.#fail(connection, "closed");
    channel.onbufferedamountlow = () => this.#out!.look();
    channel.onmessage = ({ data }: MessageEvent<unknown>) => this.#take(data);
    connection.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) this.#options.signal("candidate", JSON.stringify(candidate));
    };
    connection.onconnectionstatechange = () => {
      // "disconnected" is a guess of the browser's and may pass; whether the path still works is measured on the path.
      if (connection.connectionState === "failed") this.#fail(connection, "ice-failed");
      else if (connection.connectionState === "closed") this.#fail(connection, "closed");
    };
  }

  #say(connection: RTCPeerConnection, kind: string): void {
    this.#options.signal(kind, connection.localDescription!.sdp);
  }

  async #describe(connection: RTCPeerConnection, type: RTCSdpType, sdp: string): Promise<void> {
    await connection.setRemoteDescription({ type, sdp });
    this.#ufrag = /^a=ice-ufrag:(.*?)\r?$/m.exec(sdp)?.[1] ?? "";
    for (const candidate of this.#early.splice(0)) this.#add(candidate, false);
  }

  #candidate(text: string): void {
    try {
      this.#add(JSON.parse(text), true);
    } catch {
      // What can not be read is none.
    }
  }

  // A candidate belongs to one generation: one of another may wait for its description. One that can not be used, such as a name that
  // can not be resolved, must not end what others make possible.
  #add(candidate: RTCIceCandidateInit, wait: boolean): void {
    if (this.#ufrag !== undefined && (candidate.usernameFragment ?? this.#ufrag) === this.#ufrag) {
      this.#connection?.addIceCandidate(candidate).catch(() => undefined);
    } else if (wait && this.#early.length < maxCandidates) {
      this.#early.push(candidate);
    }
  }

  #take(data: unknown): void {
    this.#out!.look();
    const cut = data instanceof ArrayBuffer ? cutFrame(new Uint8Array(data)) : undefined;
    if (!cut) return this.#options.warn({ code: "bad-input", text: "a peer sent what is no session frame" });
    const [head, payload] = cut;
    this.#tell({ verb: "frame-received", stub: this.#options.stub, handle: 0, frame: 0, head, size: payload.length }, payload);
  }

  #tell(event: Event, payload?: Bytes): void {
    if (!this.#connection) return;
    this.#live ||= event.verb === "stub-changed";
    this.#options.push(event, payload);
  }

  #changed(status: Status, reason = ""): void {
    this.#options.push({ verb: "stub-changed", stub: this.#options.stub, status, reason });
  }

  // Lets go of the connection: nothing of it is heard any more, and nothing holds it.
  #let(connection: RTCPeerConnection): void {
    this.#connection = this.#restart = undefined;
    this.#out?.stop();
    connection.onicecandidate = connection.onconnectionstatechange = null;
    const channel = this.#channel;
    if (channel) channel.onopen = channel.onclose = channel.onmessage = channel.onbufferedamountlow = null;
  }

  #fail(connection: RTCPeerConnection, reason: string, cause?: unknown): void {
    if (this.#connection !== connection) return;
    this.#let(connection);
    connection.close();
    if (cause) this.#options.warn({ code: "bad-input", text: `a peer connection ended: ${reason}`, cause });
    this.#changed(this.#live ? "disconnected" : "failed", reason);
  }
}
