/**
 * Messages between pages and programs, over one address space: through a Message Node at first, on a peer connection when one can be
 * had, and back again, while the traffic flows.
 *
 * ```ts
 * import { connect } from "hyroute";
 * const me = await connect("wss://example.org/ws");
 * me.on("message", (message) => console.log(message.from, message.value));
 * await me.send(address, "hello");
 * ```
 *
 * @module
 */
export { connect, load, type ConnectOptions } from "./connect.ts";
export { HyrouteError, type Code, type Warning } from "./errors.ts";
export type { Endpoint } from "./endpoint.ts";
export type { Explanation, Runtime } from "./runtime.ts";
export type { Listener } from "./inbox.ts";
export type { Message } from "./message.ts";
export type { Restored } from "./last-act.ts";
export type { MessageType, Value } from "./content.ts";
export type { ModuleSource } from "./module.ts";
export type { RequestOptions, SendOptions, Sent } from "./outbox.ts";
export type { RuntimeEvents, RuntimeStatus } from "./events.ts";
export type { PathTaken, PeerStats, RuntimeStats, SessionStats } from "./stats.ts";
export type { By, Path, Status } from "./lines.ts";
