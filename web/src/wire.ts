import { fromUtf8, hex, utf8 } from "./bytes.ts";
import type { Effect, Event, OpenLine } from "./lines.ts";

// This codec writes what the machine reads, and reads what the machine writes: whoever holds an object of lines.ts has its keys in the
// order of wasm/ABI.md already, and what comes from the machine needs no proof. runtime/wire has the strict one.

// Keys whose value is not text, in effects that are lines: others come packed.
const kinds = new Map<string, unknown>();
// What a key that is left out means. Lines have no key of any object's prototype, for there is none.
const absent: Record<string, unknown> = Object.create(null);
const keys = (names: string, kind: unknown) => {
  for (const key of names.split(" ")) {
    kinds.set(key, kind);
    absent[key] = kind;
  }
};
keys("job stub expires handle msg session delivery json attempt generation doubt at rtt acknowledged resent repeated queued unacknowledged dropped", 0);
keys("addresses steps", []);
keys("maybe", false);
keys("reason peer lane path by runtime from to", "");

/** The line of an event, without its line feed. Its keys must stand in the order of the contract. */
export function encodeEvent(event: Event): string {
  return encode(event);
}

/** The line that a machine is made from, with its line feed. */
export function encodeOpen(line: OpenLine): string {
  return encode({ verb: "open", ...line }) + "\n";
}

/** Reads what a step put out. */
export function decodeEffects(text: string): Effect[] {
  return text.split("\n").slice(0, -1).map((line) => decode(line) as unknown as Effect);
}

/** Reads a line. Only the keys of effects have their type; others are text. */
export function decode(line: string): Record<string, unknown> {
  const [verb, ...fields] = line.split(" ");
  const item: Record<string, unknown> = Object.create(absent);
  item["verb"] = verb;
  for (const field of fields) {
    const end = field.indexOf("=");
    const key = field.slice(0, end);
    item[key] = read(key, field.slice(end + 1));
  }
  return item;
}

/** Writes any line. What is zero, empty, false or undefined is left out. */
export function encode(item: object): string {
  let line = "";
  for (const [key, value] of Object.entries(item)) {
    const text = write(value);
    if (key === "verb") line += text;
    else if (text) line += ` ${key}=${text}`;
  }
  return line;
}

function write(value: unknown): string {
  if (typeof value === "string") return escape(value);
  if (Array.isArray(value)) return value.map((item) => escape([item].flat().join(":")).replaceAll(",", "%2C")).join();
  if (value instanceof Uint8Array) return hex(value);
  return value ? String(Number(value)) : "";
}

function escape(text: string): string {
  if (!/[^!-$&-~]/.test(text)) return text;
  let escaped = "";
  for (const b of utf8(text)) {
    escaped += b > 0x20 && b < 0x7f && b !== 0x25 ? String.fromCharCode(b) : "%" + hex(Uint8Array.of(b)).toUpperCase();
  }
  return escaped;
}

function read(key: string, raw: string): unknown {
  const kind = kinds.get(key);
  if (kind === 0) return Number(raw);
  if (kind === false) return true;
  if (!kind || typeof kind === "string") return unescape(raw);
  return raw.split(",").map((item) => (key === "steps" ? Number(item) : unescape(item)));
}

function unescape(raw: string): string {
  if (!raw.includes("%")) return raw;
  const bytes: number[] = [];
  for (let i = 0; i < raw.length; i++) {
    const escaped = raw[i] === "%";
    bytes.push(escaped ? parseInt(raw.slice(i + 1, i + 3), 16) : raw.charCodeAt(i));
    if (escaped) i += 2;
  }
  return fromUtf8(Uint8Array.from(bytes))!;
}
