import { isObject } from "./json.ts";

const maxIceServers = 16;

/** The servers that a node names, as far as they can be read. */
export function readIceServers(list: unknown[]): RTCIceServer[] {
  return list.slice(0, maxIceServers).filter((server): server is RTCIceServer => {
    if (!isObject(server)) return false;
    const { urls } = server;
    return typeof urls === "string" || (Array.isArray(urls) && urls.every((url) => typeof url === "string"));
  });
}
