/** The state of a stub, as the machine hears of it. */
export type Status = "created" | "in-progress" | "live" | "disconnected" | "failed";

/** A slice of the content of a posted message. */
export type Part = readonly [msg: number, offset: number, length: number];

/** What a machine is made from (wasm/ABI.md, "open"). */
export interface OpenLine {
  runtime: string;
  wall: number;
  seed: string;
  domains?: string[];
  direct?: boolean;
}

/**
 * What a body tells the machine (wasm/ABI.md, "Events"). What is zero, empty or absent does not travel. Keys travel in the order in which
 * an object has them, so it must be made in the order that stands here.
 */
export type Event =
  | { verb: "endpoint-registered" | "endpoint-unregistered"; address: string }
  | {
      verb: "message-posted"; msg: number; from: string; to: string; size: number;
      wish?: "never" | undefined; deadline?: number | undefined; answer?: number | undefined; plain?: boolean | undefined; lane?: string | undefined;
    }
  | { verb: "answer-received"; msg: number }
  | { verb: "frame-received"; stub: number; handle: number; frame: number; head: Uint8Array; size: number }
  | { verb: "handle-named"; stub: number; handle: number; runtime: string }
  | { verb: "notice-received"; stub: number; handle: number; reason: number; head: Uint8Array }
  | { verb: "json-received"; json: number; stub: number; from: string; to: string }
  | { verb: "stub-changed"; stub: number; status: Status; resumed?: boolean; reason?: string }
  | { verb: "stub-blocked" | "stub-writable"; stub: number }
  | { verb: "registry-answered"; job: number; code: number; runtime?: string | undefined; sessions?: boolean }
  | { verb: "registration-notified"; address: string; status: string }
  | { verb: "signal-received"; peer: string; kind: string; attempt: number }
  | { verb: "peer-listed"; peer: string; addresses: string[] }
  | { verb: "delivery-taken"; delivery: number; count?: number } // of so many, in order: not in a line
  | { verb: "delivery-refused"; delivery: number; reason: string }
  | { verb: "explanation-asked"; job: number; from: string; to: string; wish?: "never" | undefined }
  | { verb: "restored"; wall: number; seed: string; domains: string[]; direct: boolean }
  | { verb: "stats-asked"; job: number }
  | { verb: "network-changed" | "closing" | "time-passed" };

/** What the machine asks of a body (wasm/ABI.md, "Effects"). What is absent on the line is zero, empty or false here. */
export type Effect =
  | { verb: "deploy-node-stub"; stub: number; domain: string }
  | { verb: "connect-stub" | "close-stub"; stub: number }
  | { verb: "subscribe" | "unsubscribe"; job: number; stub: number; addresses: string[] }
  | { verb: "register-endpoint"; job: number; stub: number; address: string; expires: number }
  | { verb: "refresh-endpoint" | "unregister-endpoint"; job: number; stub: number; address: string }
  | { verb: "query-registry"; job: number; stub: number; registry: string; resource: string }
  | { verb: "name-handle"; stub: number; handle: number; runtime: string }
  | { verb: "transmit"; stub: number; handle: number; head: Uint8Array; pad: number; parts: Part[] }
  | { verb: "forward"; msg: number; stub: number }
  | { verb: "hold"; session: number; number: number; frame: number; offset: number; length: number }
  | { verb: "drop"; session: number; first: number; last: number }
  | {
      verb: "deliver"; delivery: number; msg: number; json: number; session: number; first: number; last: number;
      from: string; to: string; path: Path;
    }
  | { verb: "discard"; json: number; reason: string }
  | { verb: "settle"; msg: number; outcome: "delivered" | "taken" | "rejected"; reason: string; maybe: boolean }
  | { verb: "give-up-answer" | "release"; msg: number }
  | { verb: "signal"; peer: string; kind: string; attempt: number; addresses: string[] }
  | { verb: "dial-peer" | "answer-peer"; stub: number; peer: string; attempt: number }
  | { verb: "restart-peer"; stub: number; generation: number }
  | { verb: "routed"; from: string; to: string; by: By; stub: number; peer: string; reason: string; steps: number[] }
  | { verb: "presence-changed"; peer: string; status: Status; reason: string }
  | { verb: "path-changed"; peer: string; session: number; stub: number; path: Path; reason: string }
  | { verb: "session-reset"; peer: string; session: number; doubt: number; reason: string }
  | { verb: "gap"; peer: string; session: number }
  | { verb: "explained"; job: number; by: By; stub: number; peer: string; path: Path; reason: string; steps: number[] }
  | {
      verb: "session-stats"; job: number; session: number; peer: string; stub: number; lane: string; path: Path; rtt: number; acknowledged: number;
      resent: number; repeated: number; queued: number; unacknowledged: number;
    }
  | { verb: "stats"; job: number; dropped: number }
  | { verb: "wake"; at: number };

/** Which way a message went: to a listener in this runtime, through the Message Node, or on a peer connection. */
export type Path = "local" | "relay" | "direct";

/** Who takes a message on: a listener here, a session with a peer, a Message Node as plain JSON, or nobody. */
export type By = "local" | "session" | "node" | "none";
