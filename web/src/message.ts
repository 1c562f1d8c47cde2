import type { Content, MessageType } from "./content.ts";
import type { Path } from "./lines.ts";
import type { Outbox, Sent } from "./outbox.ts";

type Answer = Outbox["send"];

/** A message that came in. */
export class Message<T = any> {
  /** The address it was sent from. It is proven to be the sender's. */
  readonly from: string;

  /** The address it was sent to: one that is registered here. */
  readonly to: string;

  /** What was sent: a string, a Uint8Array, or what JSON holds. */
  readonly value: T;

  /** How it came: `local`, `relay` (through the Message Node), or `direct` (on a peer connection). */
  readonly path: Path;

  /** What it is for in the JSON world (`create`, `read`, ...); mostly empty. */
  readonly type: MessageType;

  /** Of an answer: 200 and the like, as in HTTP. */
  readonly code: number | undefined;

  /** Whether the sender waits for an answer. */
  readonly wantsReply: boolean;

  readonly #id: number | undefined;
  readonly #plain: boolean;
  readonly #answer: Answer;

  /** @internal */
  constructor(from: string, to: string, path: Path, { value, type, id, code }: Content, plain: boolean, answer: Answer) {
    this.from = from;
    this.to = to;
    this.value = value as T;
    this.path = path;
    this.type = type;
    this.code = code;
    this.wantsReply = id !== undefined && code === undefined;
    this.#id = id;
    this.#plain = plain;
    this.#answer = answer;
  }

  /**
   * Answers. A request is answered once; `code` is 200 unless given, and one of 400 or above makes the request of the sender
   * reject. A message that is no request is answered with a message to its sender.
   */
  reply(value: unknown, { code = 200 }: { code?: number } = {}): Promise<Sent> {
    return this.#answer(this.to, this.from, value, {}, this.wantsReply ? { id: this.#id!, code, plain: this.#plain } : undefined);
  }
}
