import type { Bytes } from "./bytes.ts";

const slabSize = 128 * 1024;
// What is larger has memory of its own.
const largest = 64 * 1024;
const spares = 8;

/**
 * Memory for contents. They stand one behind the other in slabs, so that they are copied into a frame together, and a slab is used again
 * when nothing in it is needed: memory that was just used costs a browser much less than new one.
 */
export class Memory {
  #slab: Bytes = new Uint8Array(0);
  #used = 0;
  readonly #needed = new Map<Bytes, number>(); // how many contents, by slab
  readonly #spare: Bytes[] = [];

  /** Memory for so many bytes, and where they begin in it. */
  take(size: number): [Bytes, number] {
    if (size > largest) return [new Uint8Array(size), 0];
    if (this.#used + size > this.#slab.length) {
      this.#slab = this.#spare.pop() ?? new Uint8Array(slabSize);
      this.#used = 0;
    }
    this.#needed.set(this.#slab, (this.#needed.get(this.#slab) ?? 0) + 1);
    this.#used += size;
    return [this.#slab, this.#used - size];
  }

  /** One content in that memory is not needed any more. */
  release(memory: Bytes): void {
    const needed = this.#needed.get(memory);
    if (needed! > 1) this.#needed.set(memory, needed! - 1);
    else if (this.#needed.delete(memory)) {
      if (memory === this.#slab) this.#used = 0;
      else if (this.#spare.length < spares) this.#spare.push(memory);
    }
  }
}
