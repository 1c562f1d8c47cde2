import { HyrouteError } from "./errors.ts";

const maxLength = 512;
const encoder = new TextEncoder();
// The same few come again and again.
const lately = new Map<string, string>();
const maxLately = 64;

/**
 * Puts an address in the form in which the machine compares it (runtime/address): scheme and host in lower case,
 * `hyperty-runtime` as `runtime`, one trailing slash gone. Throws `bad-address` with what is wrong.
 */
export function canonical(text: string): string {
  const known = lately.get(text);
  if (known !== undefined) return known;
  const why = fault(text);
  if (why !== undefined) {
    throw new HyrouteError("bad-address", `address ${JSON.stringify(text.length > 80 ? text.slice(0, 80) + "..." : text)}: ${why}`);
  }
  const { scheme, host, path } = split(text);
  const address = `${scheme}://${host}${path}`;
  if (lately.size >= maxLately) lately.clear();
  lately.set(text, address);
  return address;
}

/** As canonical, for what came in from elsewhere: undefined instead of an error. */
export function readAddress(value: unknown): string | undefined {
  if (typeof value !== "string" || fault(value) !== undefined) return undefined;
  return canonical(value);
}

/** As readAddress, and it must be a runtime URL itself and not a component of one. */
export function readRuntime(value: unknown): string | undefined {
  const url = readAddress(value);
  return url !== undefined && /^runtime:\/\/[^/]+\/[^/]+$/.test(url) ? url : undefined;
}

/** The domain that answers for an address: its host without a user and a leading `msg-node.` or `registry.`. */
export function domainOf(address: string): string {
  const host = split(address).host;
  return host.slice(host.indexOf("@") + 1).replace(/^(?:msg-node|registry)\.(?=.)/, "");
}

/** The last segment: of a runtime URL, the fingerprint of its key. */
export function lastSegment(address: string): string {
  return address.slice(address.lastIndexOf("/") + 1);
}

function split(text: string): { scheme: string; host: string; path: string } {
  const colon = text.indexOf("://");
  const slash = text.indexOf("/", colon + 3);
  const end = slash < 0 ? text.length : slash;
  const scheme = lower(text.slice(0, colon));
  const path = text.slice(end);
  return {
    scheme: scheme === "hyperty-runtime" ? "runtime" : scheme,
    host: lower(text.slice(colon + 3, end)),
    path: path.endsWith("/") ? path.slice(0, -1) : path,
  };
}

// Character by character: the lower case of a letter must not depend on what stands beside it.
function lower(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Array.from(text, (c) => Array.from(c.toLowerCase())[0]!).join("") : text.toLowerCase();
}

function fault(text: string): string | undefined {
  if (text === "") return "empty";
  if (/\p{Surrogate}/u.test(text)) return "half a character in it";
  if (text.length > maxLength || encoder.encode(text).length > maxLength) return `longer than ${maxLength} bytes`;
  const colon = text.indexOf("://");
  if (colon < 0) return 'no "://" after the scheme';
  if (!/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(text.slice(0, colon))) return 'a scheme is letters, digits and "-"';
  const slash = text.indexOf("/", colon + 3);
  const end = slash < 0 ? text.length : slash;
  const host = text.slice(colon + 3, end);
  if (host === "") return 'no host after "://"';
  const inHost = /[^A-Za-z0-9\u0080-\u{10ffff}@:%._+~#=[\]!$&'*-]/u.exec(host);
  if (inHost) return `the host holds ${JSON.stringify(inHost[0])}`;
  const path = text.slice(end);
  const inPath = /[\0-\x20\x7f?"<>\\]/.exec(path);
  if (inPath) return `the path holds ${JSON.stringify(inPath[0])}`;
  if (path.replace(/\/$/, "").includes("//")) return "an empty segment in the path";
  if (/^(?:hyperty-)?runtime$/i.test(text.slice(0, colon)) && path.length < 2) return "a runtime needs an id after the host";
  return undefined;
}
