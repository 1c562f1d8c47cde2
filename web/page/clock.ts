import type { Runtime } from "../src/index.ts";

const every = 10_000;
const samples = 8;

/** Milliseconds since 1970, finer than Date.now. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * How far the clock of the other side is ahead of ours: asked for every 10 s, and best known from the answer that took least time.
 * That the other side answers at all says that it is such a page too.
 */
export class Clock {
  readonly #me: Runtime;
  readonly #to: string;
  readonly #known: { trip: number; ahead: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(me: Runtime, to: string) {
    this.#me = me;
    this.#to = to;
    void this.#ask();
  }

  /** Undefined until the other side has answered. */
  get ahead(): number | undefined {
    let best: { trip: number; ahead: number } | undefined;
    for (const sample of this.#known) if (!best || sample.trip < best.trip) best = sample;
    return best?.ahead;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const start = now();
    try {
      const { value } = await this.#me.request(this.#to, { clock: start });
      const end = now();
      if (typeof value?.clock === "number") {
        this.#known.push({ trip: end - start, ahead: value.clock - (start + end) / 2 });
        if (this.#known.length > samples) this.#known.shift();
      }
    } catch {
      // no such page there, or not now
    }
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#ask(), this.#known.length < 3 ? 500 : every);
  }
}
