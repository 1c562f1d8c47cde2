// Loaded only with `keep`: a bundle of its own.
import { concat, fromUtf8, utf8, type Bytes } from "./bytes.ts";
import type { Content } from "./content.ts";
import type { HyrouteError } from "./errors.ts";
import type { Event, Path } from "./lines.ts";
import { acquire } from "./lock.ts";
import type { Loop } from "./loop.ts";
import type { Message } from "./message.ts";
import type { Outbox, Posted, Sent } from "./outbox.ts";

// A page that goes has only what it says at once. Chromium takes a value of 64 KiB or more by way of a blob, whose bytes it asks the
// page for later, when there is none.
const partSize = 60_000;
// A page that is being replaced lets go when it is gone, which takes its time on a busy machine.
const reloadWait = 3000;
// Two lives never start in the same tick of the clock that incarnations are made of: 16 ms.
const tick = 16;

/** A message that the former life of a runtime sent, and whose outcome it did not live to hear. */
export interface Restored {
  readonly from: string;
  readonly to: string;
  /** Undefined for a request that was delivered and still waits for its answer. */
  readonly value: unknown;
  /** What becomes of it, as `send` and `request` say it. Nobody has to listen: it is never an unhandled rejection. */
  readonly outcome: Promise<Sent | Message>;
}

/** What the former life of a runtime left. */
export interface Former {
  readonly now: number;
  /** Empty: its machine was never there. */
  readonly snapshot: Bytes;
  /** What that machine was to be told of messages. */
  readonly early: readonly Event[];
  readonly next: number;
  readonly nextId: number;
  readonly posted: Map<number, Posted>;
}

/** What is not bundled twice. */
export interface Tools {
  HyrouteError: typeof HyrouteError;
  decodeContent(bytes: Bytes): Content | undefined;
}

// What stands under the runtime's id. Without `final` the state is that of a life which is at work, or died without a last act.
interface Head {
  life: string;
  wall: number;
  final?: number; // so many parts
}

// What stands before the bytes of the snapshot and of the contents.
interface Index {
  runtime: string;
  now: number;
  next: number;
  nextId: number;
  snapshot: number;
  early: Event[];
  posted: { msg: number; from: string; to: string; id?: number | undefined; path?: Path | undefined; settled: boolean; size?: number | undefined }[];
}

/**
 * The last act of a page (session.md 3.5): when it goes or is put away, its whole state is stored and marked final, and nothing is stepped after that. A
 * page that comes back takes the mark away before its first step, and so does the next life, which goes on from that state. A state
 * without the mark is never used. All of it is one transaction, so half a state does not exist.
 */
export class LastAct {
  /** Undefined: this life starts anew. */
  former: Former | undefined;
  /** What the former life had under way. */
  readonly restored: Restored[] = [];
  /** The wall clock, but above that of the former life. */
  readonly wall: number;

  readonly #id: string;
  readonly #life = crypto.randomUUID();
  readonly #database: IDBDatabase;
  readonly #release: () => void;
  readonly #tools: Tools;
  readonly #stay = stay();
  #runtime = "";
  #raw: Bytes | undefined; // what is to be stored while nothing was stepped since: before there is a runtime, and at rest
  #rawWall = 0;
  #stepped = false;
  #resting = false;
  #loop!: Loop;
  #outbox!: Outbox;
  #hide!: () => void;
  #woken!: () => void;
  #end: ((error: HyrouteError) => void) | undefined;
  #lost = false;

  /** Opens the state of the runtime with that id. Rejects with `bad-option` where nothing can be kept, and with `superseded` where another page has it. */
  static async open(id: string, tools: Tools): Promise<LastAct> {
    const { HyrouteError } = tools;
    const locks = globalThis.navigator?.locks;
    if (!globalThis.indexedDB || !locks) {
      throw new HyrouteError("bad-option", "keep: a session is kept by IndexedDB and Web Locks, which a page has on a secure origin only");
    }
    let self: LastAct | undefined;
    let lost = false;
    const take = (options: LockOptions) =>
      acquire(locks, `hyroute runtime ${id}`, options, () => {
        lost = true;
        if (self) self.#lose();
      });
    const release = (await take({ ifAvailable: true })) ?? (await take({ signal: AbortSignal.timeout(reloadWait) }));
    if (!release) throw new HyrouteError("superseded", "keep: another page has this runtime");
    try {
      const database = await openDatabase();
      const [head, bytes] = await read(database, id);
      self = new LastAct(id, database, release, tools, head, bytes);
      if (lost) self.#lose();
      return self;
    } catch (cause) {
      release();
      throw new HyrouteError("bad-option", `keep: IndexedDB can not be used here: ${cause}`, { cause });
    }
  }

  private constructor(id: string, database: IDBDatabase, release: () => void, tools: Tools, head: Head | undefined, bytes: Bytes | undefined) {
    this.#id = id;
    this.#database = database;
    this.#release = release;
    this.#tools = tools;
    this.wall = Math.max(Date.now(), head ? head.wall + 2 * tick : 0);
    if (!head || !bytes) return;
    this.#raw = bytes;
    this.#rawWall = head.wall;
    const [index, body] = split(bytes);
    this.#runtime = index.runtime;
    const snapshot = body(index.snapshot);
    const posted = new Map(index.posted.map((p) => [p.msg, this.#post(p, p.size === undefined ? undefined : body(p.size))]));
    this.former = { now: index.now + Math.max(0, Date.now() - head.wall), snapshot, early: index.early, next: index.next, nextId: index.nextId, posted };
  }

  /** Says who this is. A state of another runtime (the node changed its domain) is of no use. */
  name(runtime: string): void {
    if (this.#runtime !== runtime) this.forget();
    this.#runtime = runtime;
  }

  /** Gives the former state up: what it had under way may have arrived. */
  forget(): void {
    const cause = new this.#tools.HyrouteError("session-reset", "the state of the former page can not be used (it may have been delivered all the same)", { maybe: true });
    for (const posted of this.former?.posted.values() ?? []) posted.reject(cause);
    this.former?.posted.clear();
    this.former = undefined;
    this.#raw = undefined;
  }

  /** Takes the mark away: from now on the stored state is not used again. To be waited for before the first step. */
  async begin(): Promise<void> {
    const head: Head = { life: this.#life, wall: this.wall };
    await write(this.#database, this.#id, head, [], "strict");
  }

  /** The first step is near: the state is this life's now. */
  begun(): void {
    this.#stepped = true;
    if (!this.#resting) this.#raw = undefined;
  }

  /** Watches the page. `hide` is to say goodbye, step all that waits, and call `save`; `woken`, to go on where the page lives on. */
  attach(loop: Loop, outbox: Outbox, hide: () => void, woken: () => void, end: (error: HyrouteError) => void): void {
    this.#loop = loop;
    this.#outbox = outbox;
    this.#hide = hide;
    this.#woken = woken;
    this.#end = end;
    for (const event of this.former?.early ?? []) loop.push(event);
    globalThis.addEventListener("pageshow", this.#wake);
    globalThis.document?.addEventListener("freeze", hide);
    globalThis.document?.addEventListener("resume", this.#wake);
    if (this.#lost) this.#lose();
  }

  /** Stores the state, all at once, and ends stepping until the page comes back. */
  save(): void {
    if (this.#resting) return;
    if (!this.#stepped) {
      // What was posted waits for the machine, whose former state is the latest there is.
      const early = this.#loop.waiting.filter((event) => event?.verb === "message-posted" || event?.verb === "answer-received") as Event[];
      this.#keep(this.former?.now ?? 0, this.former?.snapshot ?? new Uint8Array(), early);
    }
    if (!this.#raw) {
      const state = this.#loop.rest();
      if (!state) return;
      this.#keep(state.now, state.snapshot, []);
    }
    this.#resting = true;
    this.#loop.pause(); // a machine that comes yet takes no step
    const bytes = this.#raw!;
    const parts: Bytes[] = [];
    for (let at = 0; at < bytes.length; at += partSize) parts.push(bytes.slice(at, at + partSize));
    write(this.#database, this.#id, { life: this.#life, wall: this.#rawWall, final: parts.length }, parts, "relaxed").catch(() => undefined);
  }

  /** Lets another page have the runtime. */
  close(): void {
    globalThis.removeEventListener("pageshow", this.#wake);
    globalThis.document?.removeEventListener("freeze", this.#hide);
    globalThis.document?.removeEventListener("resume", this.#wake);
    this.#end = undefined;
    this.#stay?.port.close();
    this.#database.close();
    this.#release();
  }

  // The page lives on. If somebody else has gone on from the state meanwhile, this life is over.
  readonly #wake = async (): Promise<void> => {
    if (!this.#resting) return;
    this.#resting = false;
    try {
      const [head] = await read(this.#database, this.#id);
      if (head && head.life !== this.#life) return this.#lose();
      if (this.#resting) return; // it went again, and the mark stands for good
      await this.begin();
    } catch (cause) {
      return this.#lose(cause);
    }
    if (this.#resting) return;
    if (this.#stepped) this.#raw = undefined;
    this.#woken();
  };

  #lose(cause?: unknown): void {
    this.#lost = true;
    this.#end?.(new this.#tools.HyrouteError("superseded", "another page took over this runtime", { cause }));
  }

  #post({ from, to, id, path, settled }: Index["posted"][number], content: Bytes | undefined): Posted {
    let [resolve, reject]: [(value: never) => void, (error: HyrouteError) => void] = [() => {}, () => {}];
    if (!settled) {
      const outcome = new Promise<never>((...both) => ([resolve, reject] = both as [typeof resolve, typeof reject]));
      outcome.catch(() => undefined);
      this.restored.push({ from, to, value: content && this.#tools.decodeContent(content)?.value, outcome });
    }
    return { from, to, id, content, at: 0, size: content?.length ?? 0, path, fault: undefined, settled, resolve, reject, forget: undefined };
  }

  #keep(now: number, snapshot: Bytes, early: Event[]): void {
    this.#rawWall = Date.now();
    this.#raw = this.#join(now, snapshot, early);
  }

  #join(now: number, snapshot: Bytes, early: Event[]): Bytes {
    const { posted, next, nextId } = this.#outbox.state();
    const index: Index = {
      runtime: this.#runtime, now, next, nextId, snapshot: snapshot.length, early,
      posted: [...posted].map(([msg, { from, to, id, path, settled, content, size }]) => ({ msg, from, to, id, path, settled, size: content && size })),
    };
    const text = utf8(JSON.stringify(index));
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, text.length);
    return concat([length, text, snapshot, ...[...posted.values()].map((p) => p.content?.subarray(p.at, p.at + p.size) ?? new Uint8Array())]);
  }
}

// When Firefox closes the last page of a process it ends the process's scripts at once, in the middle of `pagehide` too. A process with a
// shared worker lives until that one is gone, and it goes after the page.
function stay(): SharedWorker | undefined {
  if (!/ Gecko\//.test(navigator.userAgent) || !globalThis.SharedWorker) return undefined;
  const url = new URL("stay.js", import.meta.url);
  try {
    return new SharedWorker(url.origin === location.origin ? url : URL.createObjectURL(new Blob([], { type: "text/javascript" })), "hyroute stay");
  } catch {
    return undefined; // the last act is tried all the same
  }
}

/** Reads the index, and gives what takes the bytes behind it, one piece after the other. */
function split(bytes: Bytes): [Index, (size: number) => Bytes] {
  let at = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const index = JSON.parse(fromUtf8(bytes.subarray(4, at))!) as Index;
  return [index, (size) => bytes.slice(at, (at += size))];
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("hyroute states", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("states");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

const partsOf = (id: string): IDBKeyRange => IDBKeyRange.bound([id, 0], [id, Infinity]);

/** Reads the head, and the bytes of a final state. */
function read(database: IDBDatabase, id: string): Promise<[Head | undefined, Bytes | undefined]> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction("states");
    const store = transaction.objectStore("states");
    const head = store.get(id);
    const parts = store.getAll(partsOf(id));
    transaction.oncomplete = () => {
      const found = head.result as Head | undefined;
      const whole = found?.final === parts.result.length && found.final > 0;
      resolve([found, whole ? concat(parts.result as Bytes[]) : undefined]);
    };
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Writes head and parts in the place of what was there. It asks for everything at once: the page may be gone the next moment. */
function write(database: IDBDatabase, id: string, head: Head, parts: Bytes[], durability: IDBTransactionDurability): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction("states", "readwrite", { durability });
    const store = transaction.objectStore("states");
    store.delete(partsOf(id));
    parts.forEach((part, i) => store.put(part, [id, i]));
    store.put(head, id);
    transaction.commit();
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}
