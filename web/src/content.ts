import { concat, fromUtf8, utf8, type Bytes } from "./bytes.ts";
import { HyrouteError } from "./errors.ts";
import { readVarint, varint } from "./frame.ts";

/** What a message may carry: text, bytes, or anything that JSON holds. */
export type Value = string | Uint8Array | number | boolean | null | readonly Value[] | { readonly [key: string]: Value | undefined };

/** The message types of the JSON world, by their number on the wire. */
const types = [
  "", "create", "read", "update", "delete", "subscribe", "unsubscribe", "response", "forward", "execute", "event",
] as const;

/** What a message is for, in the JSON world; empty where nobody cares. */
export type MessageType = (typeof types)[number];

/** The content of one message (docs/protocol.md section 6): what is left when sender and receiver are taken away. */
export interface Content {
  value: unknown;
  type: MessageType;
  /** Of a request, and of the response to it. */
  id?: number | undefined;
  /** Of a response. */
  code?: number | undefined;
}

const formBytes = 0;
const formText = 1;
const formJson = 2;
const request = 4;
const response = 8;
// Two bytes and two varints.
const maxHead = 18;

/** Writes a content, in two parts. Throws `unsupported-payload` for what is neither text, bytes nor JSON. */
export function encodeContent(content: Content): [head: number[], body: Uint8Array] {
  const [form, body] = encodeBody(content.value);
  const kind = content.id === undefined ? 0 : content.code === undefined ? request : response;
  const head = [form | kind, types.indexOf(content.type)];
  if (content.id !== undefined) head.push(...varint(content.id));
  if (content.id !== undefined && content.code !== undefined) head.push(...varint(content.code));
  return [head, body];
}

/** Reads a content, of which `more` may follow the first part; undefined if it is none. Bytes are a copy, the only one that is made. */
export function decodeContent(bytes: Bytes, more: Bytes[] = []): Content | undefined {
  if (bytes.length < maxHead && more.length > 0) bytes = concat([bytes, ...more.splice(0)]);
  const flags = bytes[0];
  const type = types[bytes[1] ?? -1];
  if (flags === undefined || type === undefined || flags > 15 || (flags & 3) === 3 || (flags & 12) === 12) return undefined;
  const content: Content = { value: undefined, type };
  let at = 2;
  if (flags & (request | response)) {
    const id = readVarint(bytes, at);
    if (!id) return undefined;
    [content.id, at] = id;
  }
  if (flags & response) {
    const code = readVarint(bytes, at);
    if (!code) return undefined;
    [content.code, at] = code;
  }
  const joined = more.length > 0 ? concat([bytes.subarray(at), ...more]) : undefined;
  if ((flags & 3) === formBytes) {
    content.value = joined ?? bytes.slice(at);
    return content;
  }
  const text = fromUtf8(joined ?? bytes.subarray(at));
  if (text === undefined) return undefined;
  content.value = text;
  if ((flags & 3) === formJson) {
    try {
      content.value = JSON.parse(text);
    } catch {
      return undefined;
    }
  }
  return content;
}

/** Whether such a value is carried as bytes, which JSON messages can not hold. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function encodeBody(value: unknown): [form: number, body: Uint8Array] {
  if (isBytes(value)) return [formBytes, value];
  // A string with half a surrogate pair is no UTF-8, but JSON can hold it.
  if (typeof value === "string" && !/\p{Surrogate}/u.test(value)) return [formText, utf8(value)];
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
    throw new HyrouteError("unsupported-payload", "bytes are sent as a Uint8Array, not as another view or a bare buffer");
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new HyrouteError("unsupported-payload", "the value can not be written as JSON", { cause });
  }
  if (text === undefined) throw new HyrouteError("unsupported-payload", `JSON has no ${typeof value}`);
  return [formJson, utf8(text)];
}
