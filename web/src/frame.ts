import { concat, fromUtf8, utf8, type Bytes } from "./bytes.ts";

const maxHeader = 4096;
const maxHandle = 4095;
const noticeHead = 24;

/** The bytes of a QUIC varint (RFC 9000 section 16). `value` must be a whole number from 0 to 2^53 - 1. */
export function varint(value: number): number[] {
  if (value < 1 << 6) return [value];
  if (value < 1 << 14) return [0x40 | (value >> 8), value & 0xff];
  if (value < 2 ** 30) return [0x80 | (value >> 24), (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
  const bytes = Array.from({ length: 8 }, (_, i) => Math.floor(value / 2 ** (8 * (7 - i))) % 256);
  bytes[0]! |= 0xc0;
  return bytes;
}

/** Reads a varint at `at`: its value, and where it ends. Undefined if it is cut off or too large for a number. */
export function readVarint(bytes: Uint8Array, at: number): [value: number, end: number] | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  const end = at + (1 << (first >> 6));
  if (end > bytes.length) return undefined;
  let value = first & 0x3f;
  for (let i = at + 1; i < end; i++) value = value * 256 + bytes[i]!;
  return Number.isSafeInteger(value) ? [value, end] : undefined;
}

/** What comes in as a binary message from a Message Node (docs/protocol.md section 4). Bytes share memory with the message. */
export type Envelope =
  | { kind: "name"; handle: number; runtime: string }
  | { kind: "forward"; handle: number; frame: Bytes }
  | { kind: "notice"; handle: number; reason: number; head: Bytes };

/** Reads a binary message; undefined if it is no envelope. It does not look into the session frame. */
export function readEnvelope(bytes: Bytes): Envelope | undefined {
  const read = readVarint(bytes, 1);
  if (!read) return undefined;
  const [handle, at] = read;
  switch (bytes[0]) {
    case 1: {
      const length = readVarint(bytes, at);
      if (!length || length[0] !== bytes.length - length[1] || handle < 1 || handle > maxHandle) return undefined;
      const runtime = fromUtf8(bytes.subarray(length[1]));
      return runtime === undefined ? undefined : { kind: "name", handle, runtime };
    }
    case 2:
      return { kind: "forward", handle, frame: bytes.subarray(at) };
    case 3:
      if (at === bytes.length || bytes.length - at > 1 + noticeHead) return undefined;
      return { kind: "notice", handle, reason: bytes[at]!, head: bytes.subarray(at + 1) };
    default:
      return undefined;
  }
}

/** A NAME: from now on `handle` means `runtime`. */
export function nameEnvelope(handle: number, runtime: string): Bytes {
  const url = utf8(runtime);
  return concat([Uint8Array.from([1, ...varint(handle), ...varint(url.length)]), url]);
}

/** The start of a FORWARD; the session frame follows. */
export function forwardPrefix(handle: number): number[] {
  return [2, ...varint(handle)];
}

/**
 * Cuts a session frame in its header, the length field included, and its payload. Undefined if it is shorter than it says
 * or says that its header is too long.
 */
export function cutFrame(frame: Bytes): [head: Bytes, payload: Bytes] | undefined {
  const read = readVarint(frame, 0);
  if (!read || read[0] === 0 || read[0] > maxHeader || read[0] > frame.length - read[1]) return undefined;
  const end = read[1] + read[0];
  return [frame.subarray(0, end), frame.subarray(end)];
}
