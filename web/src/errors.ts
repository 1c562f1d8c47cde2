/**
 * Why something did not work, in one word. The first two lines are the machine's own reasons (wasm/ABI.md); the others
 * are the body's.
 */
export type Code =
  | "unknown-sender" | "no-listener" | "not-found" | "not-bound" | "refused" | "no-message-node" | "no-such-runtime" | "no-answer" | "expired"
  | "too-many" | "too-big" | "closed" | "session-reset" | "superseded" | "unsupported-address" | "unsupported-payload"
  | "bad-address" // text that is no address
  | "bad-option" // an option that can not be used
  | "aborted" // the caller's AbortSignal
  | "wasm-unsafe-eval" // the page's Content-Security-Policy forbids WebAssembly
  | "module" // hyroute.wasm can not be loaded, is of another version, or broke beyond repair
  | "other-domain"; // the node answers for another domain than the one it was asked for

/** The one error of this package. */
export class HyrouteError extends Error {
  override readonly name: string = "HyrouteError";

  /** Why, in one word: branch on this and not on the text. */
  readonly code: Code;

  /** True if the message may have been delivered all the same; false promises that it was not. */
  readonly maybe: boolean;

  constructor(code: Code, text: string, options: { maybe?: boolean; cause?: unknown } = {}) {
    super(text, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.maybe = options.maybe ?? false;
  }
}

// Where the code does not say it.
const texts: Partial<Record<string, string>> = {
  "bad-option": "the name of a lane has at most 64 bytes",
  "unknown-sender": "the sender is not registered here",
  "no-listener": "nobody listens there",
  "not-bound": "the address belongs to another runtime",
  "refused": "the receiver's policy refused it",
};

/** The error for a message that the machine rejected. */
export function rejection(code: string, to: string, maybe: boolean): HyrouteError {
  const doubt = maybe ? " (it may have been delivered all the same)" : "";
  return new HyrouteError(code as Code, `message to ${to}: ${texts[code] ?? code}${doubt}`, { maybe });
}

/** Something that went wrong without a caller to tell it to. */
export interface Warning {
  /**
   * - `insecure-origin`: the page is not served over https, so its key is made in plain code and lives as long as the page
   * - `key-not-kept`: the key could not be stored and lives as long as the page
   * - `no-web-locks`: tabs can not be told apart, so the key lives as long as the page
   * - `name-taken`: the Domain Registry has that address for another runtime
   * - `replaced`: another program opened this runtime with the same key
   * - `other-domain`, `open-refused`: the Message Node did not take this runtime
   * - `node-complaint`: the Message Node answered that it can not read something
   * - `bad-input`: something unreadable came in and was dropped
   * - `trap`: the machine broke and was made anew; `lost` of what it was told is left out
   * - `refused-event`: the machine refused to read an event; it is left out
   * - `listener`: a listener threw
   */
  readonly code:
    | "insecure-origin" | "key-not-kept" | "no-web-locks" | "name-taken" | "replaced" | "other-domain" | "open-refused"
    | "node-complaint" | "bad-input" | "trap" | "refused-event" | "listener";
  readonly text: string;
  readonly cause?: unknown;
}
