import type { Warning } from "./errors.ts";
import type { Path, Status } from "./lines.ts";
import type { Message } from "./message.ts";

/** What a runtime tells by `on`. */
export interface RuntimeEvents {
  /** A message to the runtime's own address. */
  message: Message;
  /** Messages to and from a peer take another path now. */
  path: { readonly peer: string; readonly path: Path; readonly reason: string };
  /**
   * A peer that this runtime has a session with went (`disconnected`: its Message Node does not know it now, and it does not answer on a
   * peer connection), or is back (`live`: something of it came, or it registered again).
   */
  presence: { readonly peer: string; readonly status: "live" | "disconnected"; readonly reason: string };
  /** The stream to a peer started over; so many messages are in doubt, and rejected with `maybe`. */
  reset: { readonly peer: string; readonly doubt: number; readonly reason: string };
  /** The stream of a peer started over: messages of it may be missing. */
  gap: { readonly peer: string };
  /** A connection, or the module, went to another state. */
  status: RuntimeStatus;
  /** Something went wrong that no caller waits for. */
  warning: Warning;
}

/** The state of the connection to a domain's Message Node, of a peer connection, or of the module. */
export type RuntimeStatus =
  | { readonly kind: "node"; readonly domain: string; readonly status: Status; readonly reason: string }
  | { readonly kind: "peer"; readonly peer: string; readonly status: Status; readonly reason: string }
  | { readonly kind: "module"; readonly status: "live" | "failed"; readonly reason: string };

type Handler<T> = (event: T) => unknown;

/** Calls whoever wants to hear of something. */
export class Emitter {
  readonly #handlers = new Map<string, Set<Handler<never>>>();

  on<Name extends keyof RuntimeEvents>(name: Name, handler: Handler<RuntimeEvents[Name]>): () => void {
    let handlers = this.#handlers.get(name);
    if (!handlers) this.#handlers.set(name, (handlers = new Set()));
    handlers.add(handler);
    return () => handlers.delete(handler);
  }

  emit<Name extends keyof RuntimeEvents>(name: Name, event: RuntimeEvents[Name]): void {
    for (const handler of [...(this.#handlers.get(name) ?? [])]) {
      try {
        (handler as Handler<RuntimeEvents[Name]>)(event);
      } catch (cause) {
        report(cause);
      }
    }
  }
}

/** An error in the caller's code must not disturb ours, and must not go unseen either. */
export function report(cause: unknown): void {
  if (typeof reportError === "function") reportError(cause);
  else console.error(cause);
}
