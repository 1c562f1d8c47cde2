import type { Message } from "./message.ts";

/** What is called with a message. The next one waits until the promise that it returns is settled. */
export type Listener = (message: Message) => unknown;

/** A message on its way to its listener. */
export interface Delivery {
  readonly message: Message;
  readonly delivery: number;
}

/**
 * What came in for one address, until somebody takes it. What is not taken is not confirmed to its sender, whose session then
 * slows down: that is the back-pressure.
 */
export class Inbox {
  readonly #failed: (cause: unknown) => void;
  readonly #resting: () => boolean;
  readonly #taken: (delivery: number) => void;
  #listeners: readonly Listener[] = [];
  #queue: Delivery[] = [];
  #waiting: ((result: IteratorResult<Message, undefined>) => void)[] = [];
  #busy = false;
  #closed = false;

  /** `failed` hears of listeners that threw, `taken` of what a listener is through with. Nothing is handed over while `resting` says so. */
  constructor(failed: (cause: unknown) => void, resting: () => boolean, taken: (delivery: number) => void) {
    this.#failed = failed;
    this.#resting = resting;
    this.#taken = taken;
  }

  push(delivery: Delivery): void {
    if (this.#closed) return;
    this.#queue.push(delivery);
    this.drain();
  }

  /** Calls `listener` with each message. Returns what takes it back. */
  listen(listener: Listener): () => void {
    this.#listeners = [...this.#listeners, listener];
    this.drain();
    return () => {
      const at = this.#listeners.indexOf(listener);
      this.#listeners = this.#listeners.filter((_, i) => i !== at);
    };
  }

  /** The next message; done once the inbox is closed. */
  next(): Promise<IteratorResult<Message, undefined>> {
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    const next = new Promise<IteratorResult<Message, undefined>>((resolve) => this.#waiting.push(resolve));
    this.drain();
    return next;
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
    for (const resolve of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }

  /** Hands over what waits, as far as somebody takes it. */
  drain(): void {
    if (this.#busy) return;
    this.#busy = true;
    while (!this.#resting() && this.#queue.length > 0 && (this.#listeners.length > 0 || this.#waiting.length > 0)) {
      const { message, delivery } = this.#queue.shift()!;
      if (this.#listeners.length === 0) this.#waiting.shift()!({ done: false, value: message });
      let pending: Promise<void> | undefined;
      for (const listener of this.#listeners) {
        const result = this.#call(listener, message);
        pending = pending?.then(() => result) ?? result;
      }
      if (pending) {
        void pending.then(() => {
          this.#taken(delivery);
          this.#busy = false;
          this.drain();
        });
        return;
      }
      this.#taken(delivery);
    }
    this.#busy = false;
  }

  #call(listener: Listener, message: Message): Promise<void> | undefined {
    try {
      const result = listener(message);
      if (typeof (result as PromiseLike<unknown> | undefined)?.then !== "function") return undefined;
      return Promise.resolve(result).then(() => undefined, this.#failed);
    } catch (cause) {
      this.#failed(cause);
      return undefined;
    }
  }
}
