import { fromHex, fromUtf8, hex, utf8 } from "./bytes.ts";
import type { Effect, Event, OpenLine } from "./lines.ts";

// This codec writes what the machine reads, and reads what the machine writes: whoever holds an object of lines.ts has its keys in the
// order of wasm/ABI.md already, and what comes from the machine needs no proof. runtime/wire has the strict one.

// Keys whose value is not text. In events "reason" may be a number; effects have none of that.
const kinds = new Map<string, string>();
for (const key of "job stub expires handle pad msg session number frame offset length first last delivery json attempt generation doubt rtt acknowledged resent repeated queued unacknowledged dropped at size deadline answer wall now code".split(" ")) {
  kinds.set(key, "number");
}
for (const key of "maybe resumed sessions plain direct".split(" ")) kinds.set(key, "flag");
for (const key of "addresses domains steps parts".split(" ")) kinds.set(key, key);
kinds.set("head", "head");

// What a key that is left out means. Lines have no key of any object's prototype, for there is none.
const absent: Record<string, unknown> = Object.create(null);
for (const [key, kind] of kinds) absent[key] = kind === "number" ? 0 : kind === "flag" ? false : kind === "head" ? new Uint8Array(0) : [];
for (const key of "reason peer lane path by runtime from to address".split(" ")) absent[key] = "";

/** The line of an event, without its line feed. Its keys must stand in the order of the contract. */
export function encodeEvent(event: Event): string {
  return encode(event);
}

/** The line that a machine is made from, with its line feed. */
export function encodeOpen(line: OpenLine): string {
  return encode({ verb: "open", ...line }) + "\n";
}

/** A frame: the time, then lines of events. */
export function frameOf(now: number, lines: readonly string[]): string {
  let text = `at now=${now}\n`;
  for (const line of lines) text += line + "\n";
  return text;
}

/** Reads what a step put out. */
export function decodeEffects(text: string): Effect[] {
  return text.split("\n").slice(0, -1).map((line) => decode(line) as unknown as Effect);
}

/** Reads any line. */
export function decode(line: string): Record<string, unknown> {
  const [verb, ...fields] = line.split(" ");
  const item: Record<string, unknown> = Object.create(absent);
  item["verb"] = verb;
  for (const field of fields) {
    const end = field.indexOf("=");
    if (end < 1) throw new Error(`not key=value: ${line}`);
    const key = field.slice(0, end);
    item[key] = read(kinds.get(key), field.slice(end + 1));
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

function read(kind: string | undefined, raw: string): unknown {
  switch (kind) {
    case "number":
      return Number(raw);
    case "flag":
      return true;
    case "head":
      return fromHex(raw);
    case "steps":
      return raw.split(",").map(Number);
    case "parts":
      return raw.split(",").map((part) => part.split(":").map(Number));
    case "addresses":
    case "domains":
      return raw.split(",").map(unescape);
    default:
      return unescape(raw);
  }
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
