import type { HyrouteError, Path, RuntimeStatus } from "../src/index.ts";

/** What people read instead of codes. */
const errors = new Map<string, string>([
  ["no-message-node", "the server can not be reached"],
  ["not-found", "nobody has that address"],
  ["no-listener", "nobody is there any more"],
  ["no-such-runtime", "the other side has gone"],
  ["no-answer", "no answer"],
  ["expired", "it took too long"],
  ["too-many", "too much is waiting already"],
  ["too-big", "it is too big"],
  ["bad-address", "that is no address"],
  ["refused", "the other side refused it"],
  ["session-reset", "the other side started over"],
  ["closed", "this page is closed"],
  ["module", "a part of this page could not be loaded"],
]);

export function failure(error: HyrouteError): string {
  const text = errors.get(error.code) ?? error.message;
  return error.maybe ? `${text}; it may have arrived` : text;
}

export function pathName(path: Path | undefined): string {
  return path === "direct" ? "direct" : path === "relay" ? "by the server" : path === "local" ? "same page" : "";
}

export function serverState(status: RuntimeStatus): [state: "live" | "waiting" | "bad", text: string] {
  switch (status.status) {
    case "live":
      return ["live", "Connected"];
    case "failed":
      return ["bad", status.reason === "superseded" ? "Open in another place" : "The server refused this page"];
    case "disconnected":
      return ["waiting", "Server lost, trying again…"];
    default:
      return ["waiting", "Connecting…"];
  }
}

export function milliseconds(delay: number): string {
  return delay < 10 ? `${Math.max(0, delay).toFixed(1)} ms` : delay < 10_000 ? `${Math.round(delay)} ms` : `${Math.round(delay / 1000)} s`;
}
