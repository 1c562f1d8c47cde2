import { readAddress } from "./address.ts";
import type { Identity } from "./identity.ts";
import type { Json } from "./json.ts";
import type { Early, SignallingHooks } from "./signalling.ts";

const maxCandidates = 64;
const maxListed = 1024;
const maxValue = 64 * 1024;

/**
 * Takes a signal that came in: verifies it, and tells the hooks. What is early for its attempt goes to what `keep` gives. Returns why it
 * is dropped, if it is.
 */
export async function takeSignal(
  json: Json, runtime: string, identity: Identity, hooks: SignallingHooks, keep: (peer: string, attempt: number) => Early,
): Promise<string | undefined> {
  const { method, kind, attempt = 0, value = "", key, signature } = json.body ?? {};
  if (method !== "signal" || typeof kind !== "string" || typeof value !== "string" || value.length > maxValue || !isAttempt(attempt)) return "malformed";
  const peer = json.from.replace(/\/p2p$/, "");
  const signal = { from: peer, to: runtime, kind, attempt, value };
  if (peer === json.from || peer === runtime || readAddress(peer) !== peer || !(await identity.verifySignal(signal, key, signature))) return "its signature does not verify";
  switch (kind) {
    case "invite":
    case "accept":
    case "refuse":
    case "bye":
    case "restart":
      hooks.push({ verb: "signal-received", peer, kind, attempt });
      return undefined;
    case "offer":
      keep(peer, attempt).offer = value;
      hooks.push({ verb: "signal-received", peer, kind, attempt });
      return undefined;
    case "answer":
    case "reoffer":
    case "reanswer":
      hooks.describe(peer, attempt, kind, value);
      return undefined;
    case "candidate": {
      if (hooks.describe(peer, attempt, kind, value)) return undefined;
      const { candidates } = keep(peer, attempt);
      if (candidates.length < maxCandidates) candidates.push(value);
      return undefined;
    }
    case "list":
      return listed(peer, value, hooks);
    default:
      return `${JSON.stringify(kind.slice(0, 32))} is no kind of signal`;
  }
}

function listed(peer: string, value: string, hooks: SignallingHooks): string | undefined {
  let list: unknown;
  try {
    list = JSON.parse(value);
  } catch {
    list = undefined;
  }
  if (!Array.isArray(list) || list.length > maxListed) return "its list can not be read";
  const addresses = list.map(readAddress);
  if (addresses.includes(undefined)) return "its list holds what is no address";
  hooks.push({ verb: "peer-listed", peer, addresses: addresses as string[] });
  return undefined;
}

function isAttempt(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
}
