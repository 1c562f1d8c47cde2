import type { Effect, Path } from "./lines.ts";

// Loaded when somebody asks.

/** What a runtime counted since it began, and what waits in it now. */
export interface RuntimeStats {
  readonly sessions: readonly SessionStats[];
  readonly peers: readonly PeerStats[];
  /** The newest 256 changes of path, the oldest first. */
  readonly paths: readonly PathTaken[];
  /** Frames that could not be used. */
  readonly dropped: number;
}

/** Of one session: a peer, and a lane to it. */
export interface SessionStats {
  readonly session: number;
  readonly peer: string;
  readonly lane: string;
  /** The path that messages prefer now. */
  readonly path: Path;
  /** Its round trip in ms, as its last probes found it; 0: not measured. */
  readonly rtt: number;
  /** Messages that the peer said it is done with. */
  readonly acknowledged: number;
  /** Pieces of messages that were sent again. */
  readonly resent: number;
  /** Pieces that came again, and were dropped. */
  readonly repeated: number;
  /** Bytes that wait to be sent. */
  readonly queued: number;
  /** Bytes that were sent, and that the peer is not done with. */
  readonly unacknowledged: number;
}

/** Of one peer connection: the pair of candidates in use. What is not known (yet) is absent. */
export interface PeerStats {
  readonly peer: string;
  /** host, srflx, prflx or relay. */
  readonly local: string | undefined;
  readonly remote: string | undefined;
  /** Of that pair, in ms, as ICE measured it. */
  readonly rtt: number | undefined;
  readonly bytesSent: number | undefined;
  readonly bytesReceived: number | undefined;
}

/** Messages of a session took another path. */
export interface PathTaken {
  /** Wall clock, ms since 1970. */
  readonly at: number;
  readonly peer: string;
  readonly session: number;
  readonly from: Path;
  readonly to: Path;
  readonly reason: string;
}

/** A change of path, as it is kept. */
export interface PathChange {
  at: number;
  effect: Extract<Effect, { verb: "path-changed" }>;
}

/** An answer of the machine: its sessions, and the end. */
export type Counted = Extract<Effect, { verb: "session-stats" | "stats" }>;

/** Puts together what the machine counted, what the peer connections say, and the log. */
export function readStats(counted: readonly Counted[], peers: readonly (readonly [string, RTCStatsReport | undefined])[], log: readonly PathChange[]): RuntimeStats {
  const sessions: SessionStats[] = [];
  let dropped = 0;
  for (const item of counted) {
    if (item.verb === "stats") {
      ({ dropped } = item);
      continue;
    }
    const { session, peer, lane, path, rtt, acknowledged, resent, repeated, queued, unacknowledged } = item;
    sessions.push({ session, peer, lane, path, rtt, acknowledged, resent, repeated, queued, unacknowledged });
  }
  const last = new Map<number, Path>();
  const paths = log.map(({ at, effect: { peer, session, path, reason } }) => {
    const from = last.get(session) ?? (path === "relay" ? "direct" : "relay"); // every session begins on the relay
    last.set(session, path);
    return { at, peer, session, from, to: path, reason };
  });
  return { sessions, peers: peers.flatMap(([peer, report]) => (report ? [pairInUse(peer, report)] : [])), paths, dropped };
}

// Firefox does not name the pair at the transport: there it is the one that is selected.
function pairInUse(peer: string, report: RTCStatsReport): PeerStats {
  const all = [...report.values()];
  const chosen = all.find((item) => item.type === "transport" && item.selectedCandidatePairId)?.selectedCandidatePairId;
  const pair = chosen ? report.get(chosen) : all.find((item) => item.type === "candidate-pair" && item.selected);
  const kind = (id: string | undefined): string | undefined => (id ? report.get(id)?.candidateType : undefined);
  const rtt = pair?.currentRoundTripTime;
  return {
    peer, local: kind(pair?.localCandidateId), remote: kind(pair?.remoteCandidateId), rtt: rtt === undefined ? undefined : rtt * 1000,
    bytesSent: pair?.bytesSent, bytesReceived: pair?.bytesReceived,
  };
}
