import type { MessageType } from "./content.ts";
import type { Path } from "./lines.ts";
import type { Sent } from "./outbox.ts";

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

  readonly #answer: (value: unknown, code: number) => Promise<Sent>;

  constructor(parts: Omit<Message<T>, "reply">, answer: (value: unknown, code: number) => Promise<Sent>) {
    this.from = parts.from;
    this.to = parts.to;
    this.value = parts.value;
    this.path = parts.path;
    this.type = parts.type;
    this.code = parts.code;
    this.wantsReply = parts.wantsReply;
    this.#answer = answer;
  }

  /**
   * Answers. A request is answered once; `code` is 200 unless given, and one of 400 or above makes the request of the sender
   * reject. A message that is no request is answered with a message to its sender.
   */
  reply(value: unknown, { code = 200 }: { code?: number } = {}): Promise<Sent> {
    return this.#answer(value, code);
  }
}
