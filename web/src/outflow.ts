import type { Bytes } from "./bytes.ts";

const slotTime = 50;
const slotCount = 5;
const minMark = 64 * 1024;
const maxMark = 1024 * 1024;
const pollTime = 8;
const never = 2 ** 31;

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
    this.#tellAt(never);
  }

  /** Sends. Throws what the channel throws. */
  send(data: Bytes | string): void {
    this.#channel.send(data);
    this.#look(data.length);
    if (!this.#blocked && this.#waiting > minMark && this.#waiting > this.#high()) {
      this.#blocked = true;
      this.#changed(true);
      this.#watch();
    }
  }

  /** To be called when something came in or was written: timers alone may be slow in a hidden page. */
  look(): void {
    if (!this.#blocked) return;
    this.#look(0);
    if (this.#waiting > this.#high() / 4) return;
    this.stop();
    this.#changed(false);
  }

  /** Looks no further. */
  stop(): void {
    this.#blocked = false;
    this.#tellAt(never);
    clearTimeout(this.#timer);
  }

  // A data channel tells of each fall to its threshold, which is 0 unless it is set. Nobody wants to hear it of each message.
  #tellAt(threshold: number): void {
    if ("bufferedAmountLowThreshold" in this.#channel) this.#channel.bufferedAmountLowThreshold = threshold;
  }

  #watch(): void {
    this.#tellAt(Math.floor(this.#high() / 4));
    this.#timer = setTimeout(() => {
      this.look();
      if (this.#blocked) this.#watch();
    }, pollTime);
  }

  // So much was put on the channel since it was looked at.
  #look(added: number): void {
    const moved = this.#waiting + added - (this.#waiting = this.#channel.bufferedAmount);
    if (moved <= 0) return;
    this.#turn();
    this.#slots[this.#slot % slotCount]! += moved;
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
