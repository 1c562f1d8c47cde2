// What only runtimes need that have peer connections, in a file of its own.
export { Peers } from "./peers.ts";
