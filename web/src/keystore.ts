import { acquire } from "./lock.ts";
import type { Bytes } from "./bytes.ts";
import type { KeyPair, Scheme } from "./scheme.ts";
import type { Warning } from "./errors.ts";

const reloadWait = 300;
const held = new Set<number>();

/** A key, and how to let others use it. */
export interface Claim extends Key {
  release(): void;
}

/** A key pair with its id, and the scheme that it is of. */
interface Key {
  readonly scheme: Scheme;
  readonly pair: KeyPair;
}

/** What this file takes from the one that loads it. */
export interface Cryptography {
  readonly webCrypto: Scheme;
  pickScheme(): Promise<Scheme>;
  fingerprint(scheme: Scheme, key: Bytes): Promise<string>;
}

/**
 * Takes a key of this origin that nobody uses: two tabs must never open the same runtime. Each key has a number and is used under a
 * Web Lock of that number; a tab that is loaded again finds the one it had. Where keys can not be kept, or tabs can not be told
 * apart, the key lives as long as the page. `lost` is called if another page takes the key away.
 */
export async function claimKey(cryptography: Cryptography, warn: (warning: Warning) => void, lost: () => void): Promise<Claim> {
  if (globalThis.isSecureContext === false) {
    const text = "this page is not served over https: its key is handled in plain code, and its address changes when it is loaded again";
    warn({ code: "insecure-origin", text });
  }
  const locks = globalThis.navigator?.locks;
  const [database, taken] = await Promise.all([opened, locks && takeSlot(locks, lost)]);
  if (!taken || !database) {
    taken?.release();
    if (globalThis.isSecureContext) {
      const [code, text] = database ? ["no-web-locks", "this browser has no Web Locks"] as const : ["key-not-kept", "IndexedDB can not be used here"] as const;
      warn({ code, text: `${text}: the address of this page changes when it is loaded again` });
    }
    return { ...(await keyOf(cryptography)), release() {} };
  }
  const { slot, release } = taken;
  const notKept = (cause: unknown): void =>
    warn({ code: "key-not-kept", text: "the key could not be stored: the address of this page changes when it is loaded again", cause });
  let kept: KeyPair | undefined;
  try {
    kept = await read<KeyPair>(database, "keys", slot);
  } catch (cause) {
    notKept(cause);
    return { ...(await keyOf(cryptography)), release };
  }
  const key = await keyOf(cryptography, kept);
  if (key.pair !== kept) write(database, "keys", slot, key.pair).catch(notKept); // nobody waits for the disk
  return { ...key, release };
}

// A key of WebCrypto that was kept shows that its scheme is there: it need not be tried, which takes as long as all the rest.
async function keyOf({ webCrypto, pickScheme, fingerprint }: Cryptography, kept?: KeyPair): Promise<Key> {
  const proven = kept && !(kept.secret instanceof Uint8Array);
  const scheme = proven ? webCrypto : await pickScheme();
  const pair = kept && (proven || scheme.plain) ? kept : await scheme.generate();
  return { scheme, pair: pair.id ? pair : { ...pair, id: await fingerprint(scheme, pair.public) } };
}

/** The domain that the node at `url` was last seen to be of. */
export async function recallDomain(url: string): Promise<string | undefined> {
  const database = await opened;
  return database && read<string>(database, "domains", url).catch(() => undefined);
}

/** Remembers the domain of the node at `url`. */
export async function rememberDomain(url: string, domain: string): Promise<void> {
  const database = await opened;
  if (database) await write(database, "domains", url, domain).catch(() => undefined);
}

async function takeSlot(locks: LockManager, lost: () => void): Promise<{ slot: number; release: () => void }> {
  const last = lastSlot();
  // The one that this tab had, then all from the first.
  for (let i = -1; ; i++) {
    const slot = i < 0 ? last : i;
    if (held.has(slot)) continue;
    const name = `hyroute key ${slot}`;
    // The page that this one replaces may not have let go yet.
    const release =
      (await acquire(locks, name, { ifAvailable: true }, lost)) ??
      (i < 0 && cameBack() ? await acquire(locks, name, { signal: AbortSignal.timeout(reloadWait) }, lost) : undefined);
    if (!release) continue;
    held.add(slot);
    keepSlot(slot);
    return {
      slot,
      release() {
        held.delete(slot);
        release();
      },
    };
  }
}

// Session storage belongs to a tab and outlives a reload. A duplicated tab gets a copy, and then finds the lock taken.
function lastSlot(): number {
  try {
    return Number(sessionStorage.getItem("hyroute key") ?? 0);
  } catch {
    return 0;
  }
}

function cameBack(): boolean {
  try {
    return sessionStorage.getItem("hyroute key") !== null;
  } catch {
    return false;
  }
}

function keepSlot(slot: number): void {
  try {
    sessionStorage.setItem("hyroute key", String(slot));
  } catch {
    // a worker, or storage is switched off
  }
}

// Whoever loads this file needs it.
const opened = openDatabase();

function openDatabase(): Promise<IDBDatabase | undefined> {
  return new Promise((resolve) => {
    try {
      const request = indexedDB.open("hyroute", 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("keys");
        request.result.createObjectStore("domains");
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}

function read<T>(database: IDBDatabase, store: string, key: IDBValidKey): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const request = database.transaction(store).objectStore(store).get(key);
    request.onsuccess = () => resolve(request.result as T | undefined);
    request.onerror = () => reject(request.error);
  });
}

function write(database: IDBDatabase, store: string, key: IDBValidKey, value: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(store, "readwrite");
    transaction.objectStore(store).put(value, key);
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });
}
