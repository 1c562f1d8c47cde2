/** The part of a C file descriptor's answers that the Go runtime looks at. */
const badDescriptor = 8;
const notSupported = 52;

/**
 * What the module imports: WASI preview 1, as much of it as Go's runtime calls. The machine uses none of it for a decision.
 * What else the module may import is filled with "not supported".
 */
export class Wasi {
  readonly imports: WebAssembly.Imports;

  /** What the module last wrote to a file descriptor: the text of a panic. */
  said = "";

  #memory!: WebAssembly.Memory;

  constructor(module: WebAssembly.Module) {
    const calls: Partial<Record<string, (...args: never[]) => number>> = {
      sched_yield: () => 0,
      proc_exit: (code: number) => this.#exit(code),
      args_get: () => 0,
      environ_get: () => 0,
      args_sizes_get: (count: number, size: number) => this.#nothing(count, size),
      environ_sizes_get: (count: number, size: number) => this.#nothing(count, size),
      clock_time_get: (id: number, _precision: bigint, to: number) => this.#clock(id, to),
      random_get: (to: number, size: number) => this.#random(to, size),
      fd_write: (_fd: number, list: number, count: number, written: number) => this.#write(list, count, written),
      poll_oneoff: (asked: number, events: number, count: number, ready: number) => this.#poll(asked, events, count, ready),
      fd_prestat_get: () => badDescriptor,
    };
    const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      if (kind === "function") (imports[from] ??= Object.create(null) as never)[name] = calls[name] ?? (() => notSupported);
    }
    this.imports = imports;
  }

  /** To be called once, before any export. */
  attach(memory: WebAssembly.Memory): void {
    this.#memory = memory;
  }

  // Growth of the memory detaches views, so each call takes its own.
  get #view(): DataView {
    return new DataView(this.#memory.buffer);
  }

  #exit(code: number): never {
    throw new Error(`the module ended itself with ${code}: ${this.said}`);
  }

  #nothing(count: number, size: number): number {
    this.#view.setUint32(count, 0, true);
    this.#view.setUint32(size, 0, true);
    return 0;
  }

  // Go's runtime gives up if its clock stands at zero, as it does at the global scope of some workers.
  #clock(id: number, to: number): number {
    const ms = id === 0 ? Date.now() : performance.now();
    this.#view.setBigUint64(to, BigInt(Math.max(1, Math.round(ms * 1e6))), true);
    return 0;
  }

  #random(to: number, size: number): number {
    for (let at = 0; at < size; at += 65536) {
      crypto.getRandomValues(new Uint8Array(this.#memory.buffer, to + at, Math.min(65536, size - at)));
    }
    return 0;
  }

  #write(list: number, count: number, written: number): number {
    const view = this.#view;
    let size = 0;
    for (let i = 0; i < count; i++) {
      const length = view.getUint32(list + 8 * i + 4, true);
      this.said += new TextDecoder().decode(new Uint8Array(this.#memory.buffer, view.getUint32(list + 8 * i, true), length));
      size += length;
    }
    this.said = this.said.slice(-4096);
    view.setUint32(written, size, true);
    return 0;
  }

  // Nothing sleeps on the thread of a page: every wait is over at once.
  #poll(asked: number, events: number, count: number, ready: number): number {
    const view = this.#view;
    for (let i = 0; i < count; i++) {
      view.setBigUint64(events + 32 * i, view.getBigUint64(asked + 48 * i, true), true);
      view.setUint16(events + 32 * i + 8, 0, true);
      view.setUint8(events + 32 * i + 10, view.getUint8(asked + 48 * i + 8));
    }
    view.setUint32(ready, count, true);
    return 0;
  }
}
