import type { Inbox, Listener } from "./inbox.ts";
import type { Message } from "./message.ts";
import type { RequestOptions, Sent, SendOptions } from "./outbox.ts";

/** What an endpoint needs of its runtime. */
export interface EndpointHooks {
  send(from: string, to: string, value: unknown, options: SendOptions): Promise<Sent>;
  request(from: string, to: string, value: unknown, options: RequestOptions): Promise<Message>;
  close(endpoint: Endpoint): void;
}

/**
 * An address that is registered here. Take its messages with `listen`, or with `for await`; what nobody takes is held back at its
 * sender after a while.
 */
export class Endpoint implements AsyncIterable<Message> {
  readonly address: string;
  readonly #inbox: Inbox;
  readonly #hooks: EndpointHooks;

  constructor(address: string, inbox: Inbox, hooks: EndpointHooks) {
    this.address = address;
    this.#inbox = inbox;
    this.#hooks = hooks;
  }

  /** Calls `listener` with each message; the next one waits for the promise it returns. Returns what takes it back. */
  listen(listener: Listener): () => void {
    return this.#inbox.listen(listener);
  }

  /** As `send` of the runtime, from this address. */
  send(to: string, value: unknown, options: SendOptions = {}): Promise<Sent> {
    return this.#hooks.send(this.address, to, value, options);
  }

  /** As `request` of the runtime, from this address. */
  request(to: string, value: unknown, options: RequestOptions = {}): Promise<Message> {
    return this.#hooks.request(this.address, to, value, options);
  }

  /** Takes the registration back. Loops over its messages end. */
  close(): void {
    this.#inbox.close();
    this.#hooks.close(this);
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    return {
      next: () => this.#inbox.next(),
      return: () => Promise.resolve({ done: true, value: undefined }),
    };
  }
}
