import type { HyrouteError, Runtime, Path } from "../src/index.ts";
import { now } from "./clock.ts";

const tick = 20; // ms

/** A number of a stream, as it travels. */
export interface Numbered {
  stream: string;
  n: number;
  at: number;
}

export function isNumbered(value: unknown): value is Numbered {
  const v = value as Numbered | null;
  return typeof v === "object" && v !== null && typeof v.stream === "string" && typeof v.n === "number" && typeof v.at === "number";
}

/** Sends numbers, so many a second. */
export class Stream {
  sent = 0;
  confirmed = 0;
  readonly #me: Runtime;
  readonly #name = crypto.randomUUID?.() ?? String(Math.random());
  readonly #began: () => void;
  readonly #confirmed: (path: Path | undefined, delay: number) => void;
  readonly #failed: (error: HyrouteError) => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #owed = 0;
  #last = 0;

  constructor(me: Runtime, began: () => void, confirmed: (path: Path | undefined, delay: number) => void, failed: (error: HyrouteError) => void) {
    this.#me = me;
    this.#began = began;
    this.#confirmed = confirmed;
    this.#failed = failed;
  }

  get running(): boolean {
    return this.#timer !== undefined;
  }

  start(to: string, rate: () => number): void {
    this.stop();
    this.#last = performance.now();
    this.#owed = 1;
    this.#timer = setInterval(() => {
      const time = performance.now();
      this.#owed += ((time - this.#last) / 1000) * rate();
      this.#last = time;
      for (; this.#owed >= 1; this.#owed--) this.#send(to);
    }, tick);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #send(to: string): void {
    const start = now();
    const value: Numbered = { stream: this.#name, n: ++this.sent, at: start };
    this.#began();
    this.#me.send(to, value).then(
      ({ path }) => {
        this.confirmed++;
        this.#confirmed(path, now() - start);
      },
      (error: HyrouteError) => {
        if (error.maybe) return; // the other side started over, and the stream goes on
        this.stop();
        this.#failed(error);
      },
    );
  }
}

/** Counts what arrives of streams. */
export class Tally {
  received = 0;
  missing = 0;
  twice = 0;
  disorder = 0;
  readonly #next = new Map<string, number>();
  readonly #skipped = new Map<string, Set<number>>();

  take({ stream, n }: Numbered): void {
    this.received++;
    const next = this.#next.get(stream) ?? n; // this page may have come in the middle of it
    if (n >= next) {
      const skipped = this.#skipped.get(stream) ?? new Set();
      this.#skipped.set(stream, skipped);
      for (let i = next; i < n && skipped.size < 10_000; i++) skipped.add(i);
      this.missing += n - next;
      this.#next.set(stream, n + 1);
    } else if (this.#skipped.get(stream)?.delete(n)) {
      this.missing--;
      this.disorder++;
    } else {
      this.twice++;
    }
  }
}
