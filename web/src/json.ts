/** A message as it travels in JSON between a runtime and its Message Node. */
export interface Json {
  id: number;
  type: string;
  from: string;
  to: string;
  body?: Readonly<Record<string, unknown>> | undefined;
}

/** Longest text of a JSON message, in characters that are one byte each at least. */
export const maxJson = 1024 * 1024;

/** Reads a JSON message. Returns what is wrong with it where it is none. */
export function readJson(text: string): Json | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "json: not JSON";
  }
  if (!isObject(value)) return "json: not an object";
  const id = typeof value["id"] === "string" && /^\d+$/.test(value["id"]) ? Number(value["id"]) : value["id"];
  if (!Number.isSafeInteger(id) || (id as number) < 0) return "id: not a whole number";
  for (const key of ["type", "from", "to"]) if (typeof value[key] !== "string") return `${key}: not a text`;
  if (value["body"] !== undefined && !isObject(value["body"])) return "body: not an object";
  return {
    id: id as number,
    type: (value["type"] as string).toLowerCase(),
    from: value["from"] as string,
    to: value["to"] as string,
    body: value["body"] as Record<string, unknown> | undefined,
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The code of an answer; 500 where it has none. */
export function answerCode(json: Json): number {
  const code = json.body?.["code"];
  return Number.isSafeInteger(code) && (code as number) > 0 ? (code as number) : 500;
}

/** The text of an answer. */
export function answerText(json: Json): string {
  return String(json.body?.["desc"] ?? json.body?.["description"] ?? "");
}
