import type { Bytes } from "./bytes.ts";
import { HyrouteError } from "./errors.ts";
import { Wasi } from "./wasi.ts";

const abiVersion = 2;

/** Where hyroute.wasm comes from: an address to fetch, a response, its bytes, or a module that is compiled already or will be. */
export type ModuleSource = string | URL | Response | BufferSource | WebAssembly.Module | Promise<Response | WebAssembly.Module>;

/** The machine refused to read its input; nothing changed. */
export class Refused extends Error {}

/** The machine broke in the middle of a call and must not be called again. */
export class Trap extends Error {}

/** Throws `wasm-unsafe-eval` if the Content-Security-Policy of the page forbids WebAssembly. */
export function checkAllowed(source: ModuleSource | undefined): void {
  if (source instanceof WebAssembly.Module) return;
  try {
    new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  } catch (cause) {
    const text = "the Content-Security-Policy of this page forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src";
    throw new HyrouteError("wasm-unsafe-eval", text, { cause });
  }
}

/** Compiles the module, while it streams in where that is possible. Throws `module`. */
export async function compile(given: ModuleSource): Promise<WebAssembly.Module> {
  try {
    const source = await given;
    if (source instanceof WebAssembly.Module) return source;
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return await WebAssembly.compile(source as BufferSource);
    if (typeof source === "string" || source instanceof URL) {
      const file = readFile(new URL(source, globalThis.location?.href));
      return await (file ? WebAssembly.compile(file) : compileResponse(await fetch(source)));
    }
    return await compileResponse(source);
  } catch (cause) {
    throw new HyrouteError("module", `hyroute.wasm can not be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw new Error(`${response.url || "the server"} answered ${response.status}`);
  // Streaming insists on the type, which a plain file server may not know.
  if (response.headers.get("content-type")?.split(";")[0]?.trim() === "application/wasm") return WebAssembly.compileStreaming(response);
  return response.arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
}

// Node's fetch does not read files.
function readFile(url: URL): Bytes | undefined {
  if (url.protocol !== "file:") return undefined;
  const node = (globalThis as { process?: { getBuiltinModule?: (name: string) => { readFileSync: (url: URL) => Bytes } } }).process;
  return node?.getBuiltinModule?.("node:fs").readFileSync(url);
}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  abi_version(): number;
  reserve(mib: number): void;
  input(size: number): number;
  output(): number;
  open(length: number): number;
  step(length: number): number;
  step_packed(length: number): number;
  snapshot(): number;
  restore(length: number): number;
}

const decoder = new TextDecoder();

/** One instance of the module: the doors of wasm/ABI.md. Each call throws Refused or Trap; after a Trap, only Trap. */
export class Door {
  readonly #exports: Exports;
  readonly #wasi: Wasi;
  #dead = false;

  private constructor(exports: Exports, wasi: Wasi) {
    this.#exports = exports;
    this.#wasi = wasi;
  }

  /** Makes an instance. `reserve` MiB of memory are taken at once, so that it need not grow in mid traffic. */
  static async make(module: WebAssembly.Module, reserve: number): Promise<Door> {
    const wasi = new Wasi(module);
    const instance = await WebAssembly.instantiate(module, wasi.imports);
    const exports = instance.exports as unknown as Exports;
    wasi.attach(exports.memory);
    const door = new Door(exports, wasi);
    return door.#guard(() => {
      exports._initialize();
      const version = exports.abi_version();
      if (version !== abiVersion) throw new HyrouteError("module", `hyroute.wasm speaks version ${version} of its door, this package ${abiVersion}`);
      exports.reserve(reserve);
      return door;
    });
  }

  /** Makes the machine. Returns the effects of its start. */
  open(line: string): string {
    return this.#text(() => this.#exports.open(this.#writeText(line)));
  }

  /** Steps the machine with one frame. Returns its effects. */
  step(frame: string): string {
    return this.#text(() => this.#exports.step(this.#writeText(frame)));
  }

  /** Steps the machine with a packed frame. Returns its packed effects, good until the next call. */
  stepPacked(frame: Bytes): Bytes {
    return this.#guard(() => {
      this.#input(frame.length).set(frame);
      return this.#output(this.#exports.step_packed(frame.length));
    });
  }

  /** The machine's whole state. */
  snapshot(): Bytes {
    return this.#guard(() => this.#output(this.#exports.snapshot()).slice());
  }

  /** Makes the machine from its whole state. */
  restore(snapshot: Bytes): void {
    this.#guard(() => {
      this.#input(snapshot.length).set(snapshot);
      this.#output(this.#exports.restore(snapshot.length));
    });
  }

  #text(call: () => number): string {
    return this.#guard(() => decoder.decode(this.#output(call())));
  }

  // The view is taken after input(), which may grow the memory.
  #input(size: number): Bytes {
    const at = this.#exports.input(size) >>> 0;
    if (at === 0) throw new Refused(`${size} bytes are more than the machine takes at once`);
    return new Uint8Array(this.#exports.memory.buffer as ArrayBuffer, at, size);
  }

  // Lines are ASCII, and a loop over them beats TextEncoder.
  #writeText(text: string): number {
    const view = this.#input(text.length);
    for (let i = 0; i < text.length; i++) view[i] = text.charCodeAt(i);
    return text.length;
  }

  #output(length: number): Bytes {
    const at = this.#exports.output() >>> 0;
    const bytes = new Uint8Array(this.#exports.memory.buffer as ArrayBuffer, at, Math.abs(length));
    if (length < 0) throw new Refused(decoder.decode(bytes));
    return bytes;
  }

  #guard<T>(call: () => T): T {
    if (this.#dead) throw new Trap("the machine broke before");
    try {
      return call();
    } catch (error) {
      if (error instanceof Refused || error instanceof HyrouteError) throw error;
      this.#dead = true;
      throw new Trap(`the machine broke: ${error instanceof Error ? error.message : String(error)} ${this.#wasi.said}`.trim(), { cause: error });
    }
  }
}
