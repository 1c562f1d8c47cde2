// What only runtimes need that have peer connections, in a file of its own.
export { readIceServers } from "./ice-servers.ts";
export { PeerStub } from "./peer-stub.ts";
export { Signalling } from "./signalling.ts";
