import type { Bytes } from "./bytes.ts";

const slotTime = 50;
const slotCount = 5;
const minMark = 64 * 1024;
const maxMark = 1024 * 1024;
const pollTime = 8;

/** What a socket and a data channel have in common. */
export interface Channel {
  readonly bufferedAmount: number;
  bufferedAmountLowThreshold?: number;
  send(data: Bytes | string): void;
}

/**
 * Watches how much waits to be written on a channel. The high mark is what the channel moved in the last 250 ms, between 64 KiB
 * and 1 MiB, so that a probe never waits behind seconds of payload on a slow link; the low mark is a quarter of it.
 */
export class Outflow {
  readonly #channel: Channel;
  readonly #changed: (blocked: boolean) => void;
  readonly #slots = new Array<number>(slotCount).fill(0);
  #slot = 0;
  #waiting = 0; // when last looked at
  #blocked = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(channel: Channel, changed: (blocked: boolean) => void) {
    this.#channel = channel;
    this.#changed = changed;
  }

  /** Sends. Throws what the channel throws. */
  send(data: Bytes | string): void {
    const before = this.#channel.bufferedAmount;
    this.#moved(this.#waiting - before);
    this.#channel.send(data);
    this.#waiting = this.#channel.bufferedAmount;
    if (!this.#blocked && this.#waiting > this.#high()) {
      this.#blocked = true;
      this.#changed(true);
      this.#watch();
    }
  }

  /** To be called when something came in or was written: timers alone may be slow in a hidden page. */
  look(): void {
    if (!this.#blocked) return;
    const now = this.#channel.bufferedAmount;
    this.#moved(this.#waiting - now);
    this.#waiting = now;
    if (now > this.#high() / 4) return;
    this.#blocked = false;
    clearTimeout(this.#timer);
    this.#changed(false);
  }

  /** Looks no further. */
  stop(): void {
    this.#blocked = false;
    clearTimeout(this.#timer);
  }

  #watch(): void {
    if ("bufferedAmountLowThreshold" in this.#channel) this.#channel.bufferedAmountLowThreshold = Math.floor(this.#high() / 4);
    this.#timer = setTimeout(() => {
      this.look();
      if (this.#blocked) this.#watch();
    }, pollTime);
  }

  #moved(bytes: number): void {
    this.#turn();
    if (bytes > 0) this.#slots[this.#slot % slotCount]! += bytes;
  }

  #high(): number {
    this.#turn();
    return Math.min(maxMark, Math.max(minMark, this.#slots.reduce((sum, bytes) => sum + bytes, 0)));
  }

  #turn(): void {
    const slot = Math.floor(performance.now() / slotTime);
    if (slot - this.#slot >= slotCount) this.#slot = slot - slotCount;
    while (this.#slot < slot) this.#slots[++this.#slot % slotCount] = 0;
  }
}
