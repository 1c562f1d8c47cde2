/** Bytes that nobody shares with another thread. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** Reads UTF-8; undefined if it is none. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const b of bytes) text += (b < 16 ? "0" : "") + b.toString(16);
  return text;
}

/** Reads lower-case hex; undefined if it is none. */
export function fromHex(text: string): Bytes | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** Base64url without padding, which keys and signatures travel as. */
export function base64url(bytes: Uint8Array): string {
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Reads base64url without padding; undefined if it is not `size` bytes in exactly that form. */
export function fromBase64url(text: unknown, size: number): Bytes | undefined {
  if (typeof text !== "string" || !/^[A-Za-z0-9_-]*$/.test(text) || text.length !== Math.ceil((size * 4) / 3)) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  return base64url(bytes) === text ? bytes : undefined; // only one way to write the last bits
}

/** Lower-case base32 (RFC 4648) without padding. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const b of bytes) {
    held = (held << 8) | b;
    for (bits += 8; bits >= 5; bits -= 5) text += "abcdefghijklmnopqrstuvwxyz234567"[(held >> (bits - 5)) & 31];
    held &= 31;
  }
  return bits > 0 ? text + "abcdefghijklmnopqrstuvwxyz234567"[(held << (5 - bits)) & 31] : text;
}

export function concat(parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
