import type { Bytes } from "./bytes.ts";

// Chunks that came in one frame: number n, from first to last, is the bytes from at[n - base] to at[n - base + 1].
interface Run {
  first: number;
  last: number;
  readonly base: number;
  readonly payload: Bytes;
  readonly at: readonly number[];
}

/** The payload of chunks that came in and are not handed over yet, by session and number. */
export class Held {
  readonly #sessions = new Map<number, Run[]>(); // in the order of their numbers

  /** Keeps consecutive chunks that stand behind each other in a payload. */
  keep(session: number, first: number, payload: Bytes, offset: number, lengths: readonly number[]): void {
    const at = [offset];
    for (const length of lengths) at.push((offset += length));
    const run = { first, last: first + lengths.length - 1, base: first, payload, at };
    const runs = this.#sessions.get(session);
    if (!runs) return void this.#sessions.set(session, [run]);
    let i = runs.length;
    while (i > 0 && runs[i - 1]!.first > first) i--;
    runs.splice(i, 0, run);
  }

  drop(session: number, first: number, last: number): void {
    const runs = this.#sessions.get(session);
    if (!runs) return;
    const oldest = runs[0]!;
    if (oldest.first === first && last <= oldest.last) {
      if (last < oldest.last) oldest.first = last + 1;
      else if (runs.length > 1) runs.shift();
      else this.#sessions.delete(session);
      return;
    }
    const kept = runs
      .flatMap((run) => [{ ...run, last: Math.min(run.last, first - 1) }, { ...run, first: Math.max(run.first, last + 1) }])
      .filter((run) => run.first <= run.last);
    if (kept.length > 0) this.#sessions.set(session, kept);
    else this.#sessions.delete(session);
  }

  /** These chunks, which are forgotten here: the content of a message. They share memory with their frames. */
  take(session: number, first: number, last: number): Bytes[] {
    const parts: Bytes[] = [];
    for (const { first: from, last: to, base, payload, at } of this.#sessions.get(session) ?? []) {
      if (from > last) break;
      for (let n = Math.max(first, from); n <= Math.min(last, to); n++) parts.push(payload.subarray(at[n - base], at[n - base + 1]));
    }
    this.drop(session, first, last);
    return parts;
  }
}
