import { concat, type Bytes } from "./bytes.ts";

/** The payload of chunks that came in and are not handed over yet, by session and number. */
export class Held {
  readonly #sessions = new Map<number, Map<number, Bytes>>();

  keep(session: number, number: number, chunk: Bytes): void {
    let chunks = this.#sessions.get(session);
    if (!chunks) this.#sessions.set(session, (chunks = new Map()));
    chunks.set(number, chunk);
  }

  drop(session: number, first: number, last: number): void {
    const chunks = this.#sessions.get(session);
    if (!chunks) return;
    // A range may be far longer than what is held of it.
    if (last - first >= chunks.size) {
      for (const number of chunks.keys()) if (number >= first && number <= last) chunks.delete(number);
    } else {
      for (let number = first; number <= last; number++) chunks.delete(number);
    }
    if (chunks.size === 0) this.#sessions.delete(session);
  }

  /** The content of the message that these chunks are, which are forgotten here. */
  take(session: number, first: number, last: number): Bytes {
    const chunks = this.#sessions.get(session);
    const parts: Bytes[] = [];
    for (let number = first; number <= last; number++) {
      const chunk = chunks?.get(number);
      if (chunk) parts.push(chunk);
    }
    this.drop(session, first, last);
    return parts.length === 1 ? parts[0]! : concat(parts);
  }
}
