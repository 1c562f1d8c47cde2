import type { Bytes } from "./bytes.ts";
import type { Warning } from "./errors.ts";
import { cutFrame } from "./frame.ts";
import type { Event, Status } from "./lines.ts";
import { Outflow } from "./outflow.ts";

const maxCandidates = 64;

/** What a peer stub starts from. */
export interface PeerStubOptions {
  RTCPeerConnection: typeof RTCPeerConnection;
  iceServers: RTCIceServer[];
  stub: number;
  push(event: Event, payload?: Bytes): void;
  /** Send a signal of this attempt to the peer. */
  signal(kind: "offer" | "answer" | "candidate", value: string): void;
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
  #described = false;
  #early: RTCIceCandidateInit[] = [];
  #live = false;

  constructor(options: PeerStubOptions) {
    this.#options = options;
  }

  /** Makes a connection and sends the offer. */
  dial(): void {
    this.#attempt(async (connection) => {
      await connection.setLocalDescription();
      this.#options.signal("offer", connection.localDescription!.sdp);
    });
  }

  /** Makes a connection and answers an offer. */
  answer(offer: string | undefined): void {
    this.#attempt(async (connection) => {
      if (offer === undefined) throw new Error("no offer came with this attempt");
      await this.#describe(connection, { type: "offer", sdp: offer });
      await connection.setLocalDescription();
      this.#options.signal("answer", connection.localDescription!.sdp);
    });
  }

  /** Takes the answer to the offer. */
  answered(sdp: string): void {
    const connection = this.#connection;
    if (!connection || this.#described) return;
    this.#describe(connection, { type: "answer", sdp }).catch((cause) => this.#fail(connection, "bad-answer", cause));
  }

  /** Takes a candidate of the peer; those before the description wait. */
  candidate(text: string): void {
    let candidate: RTCIceCandidateInit;
    try {
      candidate = JSON.parse(text);
    } catch {
      return;
    }
    if (this.#described) this.#add(candidate);
    else if (this.#early.length < maxCandidates) this.#early.push(candidate);
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

  /** Ends the connection. Nothing is reported any more. */
  close(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#out?.stop();
    connection?.close();
  }

  /** Ends the connection and reports it, as if it had failed. */
  fail(reason: string): void {
    if (this.#connection) this.#fail(this.#connection, reason);
  }

  #attempt(describe: (connection: RTCPeerConnection) => Promise<void>): void {
    this.#changed("in-progress");
    let connection: RTCPeerConnection;
    try {
      connection = new this.#options.RTCPeerConnection({ iceServers: this.#options.iceServers });
      this.#connection = connection;
      this.#watch(connection, connection.createDataChannel("hyroute", { negotiated: true, id: 0 }));
    } catch (cause) {
      this.#connection?.close();
      this.#connection = undefined;
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

  async #describe(connection: RTCPeerConnection, description: RTCSessionDescriptionInit): Promise<void> {
    await connection.setRemoteDescription(description);
    this.#described = true;
    for (const candidate of this.#early.splice(0)) this.#add(candidate);
  }

  // A candidate that can not be used, such as a name that can not be resolved, must not end what others make possible.
  #add(candidate: RTCIceCandidateInit): void {
    this.#connection?.addIceCandidate(candidate).catch(() => undefined);
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

  #fail(connection: RTCPeerConnection, reason: string, cause?: unknown): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#out?.stop();
    connection.close();
    if (cause) this.#options.warn({ code: "bad-input", text: `a peer connection ended: ${reason}`, cause });
    this.#changed(this.#live ? "disconnected" : "failed", reason);
  }
}
