import { readAddress } from "./address.ts";
import { fromHex, fromUtf8, hex, utf8 } from "./bytes.ts";
import type { Effect, Event, OpenLine, Part } from "./lines.ts";

/** Why a line was refused; the same words as in the Go codec (runtime/wire). */
export type WireCode =
  | "malformed" | "unknown-verb" | "unknown-key" | "repeated-key" | "wrong-order" | "missing-key" | "bad-value" | "bad-address";

/** A line that is not what wasm/ABI.md says. */
export class WireError extends Error {
  override readonly name = "WireError";
  readonly code: WireCode;
  readonly verb: string;
  readonly key: string;

  constructor(code: WireCode, verb: string, key: string, why: string) {
    super(`line ${JSON.stringify(verb.slice(0, 64))}${key && ", key " + JSON.stringify(key.slice(0, 64))}: ${why}`);
    this.code = code;
    this.verb = verb;
    this.key = key;
  }
}

// The field lists of wasm/ABI.md: key:kind in the order of a line. Kinds: n number, N number that always stands, t text, a address, A list of addresses, T list of texts, f flag, h bytes, b 64 random bits, s steps, p parts,
// S status, w wish.
const eventFields = /* @__PURE__ */ table(`endpoint-registered address:a
endpoint-unregistered address:a
message-posted msg:n from:a to:a size:n wish:w deadline:n answer:n plain:f
answer-received msg:n
frame-received stub:n handle:n frame:n head:h size:n
handle-named stub:n handle:n runtime:a
notice-received stub:n handle:n reason:n head:h
json-received json:n stub:n from:a to:a
stub-changed stub:n status:S resumed:f reason:t
stub-blocked stub:n
stub-writable stub:n
registry-answered job:n code:n runtime:a sessions:f
registration-notified address:a status:t
signal-received peer:a kind:t attempt:n
peer-listed peer:a addresses:A
delivery-taken delivery:n
delivery-refused delivery:n reason:t
explanation-asked job:n from:a to:a wish:w
closing
time-passed`);

const effectFields = /* @__PURE__ */ table(`deploy-node-stub stub:n domain:t
connect-stub stub:n
close-stub stub:n
subscribe job:n stub:n addresses:A
unsubscribe job:n stub:n addresses:A
register-endpoint job:n stub:n address:a expires:n
refresh-endpoint job:n stub:n address:a
unregister-endpoint job:n stub:n address:a
query-registry job:n stub:n registry:a resource:a
name-handle stub:n handle:n runtime:a
transmit stub:n handle:n head:h pad:n parts:p
forward msg:n stub:n
hold session:n number:n frame:n offset:n length:n
drop session:n first:n last:n
deliver delivery:n msg:n json:n session:n first:n last:n from:a to:a path:t
discard json:n reason:t
settle msg:n outcome:t reason:t maybe:f
give-up-answer msg:n
release msg:n
signal peer:a kind:t attempt:n addresses:A
dial-peer stub:n peer:a attempt:n
answer-peer stub:n peer:a attempt:n
routed from:a to:a by:t stub:n peer:a reason:t steps:s
path-changed peer:a session:n stub:n path:t reason:t
session-reset peer:a session:n doubt:n reason:t
gap peer:a session:n
explained job:n by:t stub:n peer:a path:t reason:t steps:s
wake at:n`);

const openFields = /* @__PURE__ */ table("open runtime:a wall:n seed:b domains:T direct:f");
const atFields = /* @__PURE__ */ table("at now:N");

type Table = Map<string, (readonly [key: string, kind: string])[]>;

function table(text: string): Table {
  return new Map(
    text.split("\n").map((line) => {
      const [verb, ...fields] = line.split(" ");
      return [verb!, fields.map((field) => field.split(":") as [string, string])];
    }),
  );
}

/** The line of an event, without its line feed. */
export function encodeEvent(event: Event): string {
  return encode(eventFields, event as never);
}

/** The line of an effect, without its line feed. */
export function encodeEffect(effect: Effect): string {
  return encode(effectFields, effect as never);
}

/** The line that a machine is made from, with its line feed. */
export function encodeOpen(line: OpenLine): string {
  return encode(openFields, { verb: "open", ...line } as never) + "\n";
}

/** A frame: the time, then lines of events. */
export function frameOf(now: number, lines: readonly string[]): string {
  let text = `at now=${now}\n`;
  for (const line of lines) text += line + "\n";
  return text;
}

/** Reads the line of an event. Throws WireError. */
export function decodeEvent(line: string): Event {
  return decode(eventFields, line) as unknown as Event;
}

/** Reads the line of an effect. Throws WireError. */
export function decodeEffect(line: string): Effect {
  return decode(effectFields, line) as unknown as Effect;
}

/** Reads the line that a machine is made from; its line feed may be missing. Throws WireError. */
export function decodeOpen(line: string): OpenLine {
  return decode(openFields, line.replace(/\n$/, "")) as unknown as OpenLine;
}

/** Reads the first line of a frame. Throws WireError. */
export function decodeAt(line: string): number {
  return decode(atFields, line)["now"] as number;
}

/** Reads what a step put out. Throws WireError. */
export function decodeEffects(text: string): Effect[] {
  const effects: Effect[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    if (end < 0) throw new WireError("malformed", text.slice(at).split(" ")[0]!, "", "no line feed at the end");
    effects.push(decodeEffect(text.slice(at, end)));
    at = end + 1;
  }
  return effects;
}

function encode(fields: Table, item: { verb: string } & Record<string, unknown>): string {
  let line = item.verb;
  for (const [key, kind] of fields.get(item.verb)!) {
    const value = write(kind, item[key]);
    if (value !== "") line += ` ${key}=${value}`;
  }
  return line;
}

function write(kind: string, value: unknown): string {
  if (kind === "N") return String(value);
  if (value === undefined || value === 0 || value === false || value === "") return "";
  switch (kind) {
    case "f":
      return "1";
    case "A":
    case "T":
      return (value as string[]).map((item) => escape(item).replaceAll(",", "%2C")).join(",");
    case "s":
      return (value as number[]).join(",");
    case "p":
      return (value as Part[]).map((p) => `${p.msg}:${p.offset}:${p.length}`).join(",");
    case "h":
      return hex(value as Uint8Array);
    default:
      return escape(String(value));
  }
}

function escape(text: string): string {
  if (!/[^!-$&-~]/.test(text)) return text;
  let escaped = "";
  for (const b of utf8(text)) {
    escaped += b > 0x20 && b < 0x7f && b !== 0x25 ? String.fromCharCode(b) : "%" + hex(Uint8Array.of(b)).toUpperCase();
  }
  return escaped;
}

function decode(fields: Table, line: string): Record<string, unknown> {
  const parts = line.split(" ");
  const verb = parts[0]!;
  if (verb === "") throw new WireError("malformed", "", "", "a line begins with a verb");
  const list = fields.get(verb);
  if (!list) throw new WireError("unknown-verb", verb, "", "no such verb");
  const item: Record<string, unknown> = Object.create(null);
  item["verb"] = verb;
  let at = 1;
  for (const [key, kind] of list) {
    const part = parts[at];
    if (part?.startsWith(key) && part[key.length] === "=") {
      at++;
      item[key] = read(kind, part.slice(key.length + 1), (why, code = "bad-value") => new WireError(code, verb, key, why));
    } else if (kind === "N" || kind === "S") {
      throw new WireError("missing-key", verb, key, "missing");
    } else {
      item[key] = absent(kind);
    }
  }
  if (at < parts.length) throw leftOver(verb, list, parts, at);
  return item;
}

/** What is wrong with the first part of a line that did not fit its field list. */
function leftOver(verb: string, list: readonly (readonly [string, string])[], parts: string[], at: number): WireError {
  const part = parts[at]!;
  const end = part.indexOf("=");
  if (end < 1) return new WireError("malformed", verb, "", `${JSON.stringify(part.slice(0, 64))} is not key=value`);
  const key = part.slice(0, end);
  if (!list.some(([name]) => name === key)) return new WireError("unknown-key", verb, key, "no such key");
  if (parts.slice(1, at).some((before) => before.startsWith(key + "="))) {
    return new WireError("repeated-key", verb, key, "a second time");
  }
  return new WireError("wrong-order", verb, key, "belongs further to the front");
}

function absent(kind: string): unknown {
  switch (kind) {
    case "f":
      return false;
    case "A":
    case "T":
    case "s":
    case "p":
      return [];
    case "h":
      return new Uint8Array(0);
    case "n":
      return 0;
    default:
      return "";
  }
}

type Fault = (why: string, code?: WireCode) => WireError;

function read(kind: string, raw: string, fault: Fault): unknown {
  if (raw === "") throw fault("empty: leave the key out");
  switch (kind) {
    case "n": {
      const value = number(raw, Number.MAX_SAFE_INTEGER, fault);
      if (value === 0) throw fault("zero: leave the key out");
      return value;
    }
    case "N":
      return number(raw, Number.MAX_SAFE_INTEGER, fault);
    case "f":
      if (raw !== "1") throw fault("a flag is 1, or left out");
      return true;
    case "A":
      return raw.split(",").map((item) => address(unescape(item, true, fault), fault));
    case "T":
      return raw.split(",").map((item) => unescape(item, true, fault));
    case "s":
      return raw.split(",").map((item) => number(item, 255, fault));
    case "p":
      return raw.split(",").map((item) => part(item, fault));
    case "h": {
      const bytes = fromHex(raw);
      if (!bytes) throw fault("not lower-case hex");
      return bytes;
    }
    case "b":
      if (!/^[0-9a-f]{16}$/.test(raw) || /^0+$/.test(raw)) throw fault("not 16 lower-case hex digits");
      return raw;
    case "S":
      if (!/^(?:created|in-progress|live|disconnected|failed)$/.test(raw)) throw fault("no such status");
      return raw;
    case "w":
      if (raw !== "never") throw fault("not never");
      return raw;
    case "a":
      return address(unescape(raw, false, fault), fault);
    default:
      return unescape(raw, false, fault);
  }
}

function number(raw: string, limit: number, fault: Fault): number {
  if (!/^(?:0|[1-9][0-9]*)$/.test(raw)) throw fault(`${JSON.stringify(raw.slice(0, 64))} is not a decimal number`);
  const value = Number(raw);
  if (value > limit) throw fault("too large");
  return value;
}

function part(raw: string, fault: Fault): Part {
  const fields = raw.split(":");
  if (fields.length !== 3) throw fault("not msg:offset:length");
  const [msg, offset, length] = fields.map((field) => number(field, Number.MAX_SAFE_INTEGER, fault));
  return { msg: msg!, offset: offset!, length: length! };
}

// The same few addresses come again and again.
const known = new Map<string, string>();

function address(text: string, fault: Fault): string {
  let url = known.get(text);
  if (url === undefined) {
    url = readAddress(text);
    if (url === undefined) throw fault("no address", "bad-address");
    if (known.size >= 256) known.clear();
    known.set(text, url);
  }
  return url;
}

function unescape(raw: string, inList: boolean, fault: Fault): string {
  if (raw === "") throw fault("an empty item in the list");
  const bare = /[^!-~]/.exec(raw);
  if (bare) throw fault("a byte is not escaped");
  if (!raw.includes("%")) return raw;
  const bytes: number[] = [];
  for (let i = 0; i < raw.length; i++) {
    let byte = raw.charCodeAt(i);
    if (byte === 0x25) {
      const digits = raw.slice(i + 1, i + 3);
      if (!/^[0-9A-F]{2}$/.test(digits)) throw fault('an escape is "%" and two upper-case hex digits');
      byte = parseInt(digits, 16);
      if (byte > 0x20 && byte < 0x7f && byte !== 0x25 && !(inList && byte === 0x2c)) throw fault("needless escape");
      i += 2;
    }
    bytes.push(byte);
  }
  const text = fromUtf8(Uint8Array.from(bytes));
  if (text === undefined) throw fault("the escapes are not UTF-8");
  return text;
}
