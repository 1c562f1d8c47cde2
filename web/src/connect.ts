import { canonical, domainOf } from "./address.ts";
import { hex } from "./bytes.ts";
import { FirstStub } from "./carriers.ts";
import { decodeContent } from "./content.ts";
import { HyrouteError, type Warning } from "./errors.ts";
import { Emitter } from "./events.ts";
import { Identity } from "./identity.ts";
import { Machine } from "./machine.ts";
import { checkAllowed, compile, Refused, type ModuleSource } from "./module.ts";
import type { Opening } from "./node-stub.ts";
import { Runtime } from "./runtime.ts";
import { encodeOpen } from "./wire.ts";

// What the machine's memory starts with, so that it does not grow in mid traffic.
const reserve = 4;

// A machine that waits for its runtime, by its module.
const spare = new WeakMap<WebAssembly.Module, ReturnType<typeof Machine.prepare>>();

/** How a runtime is made. */
export interface ConnectOptions {
  /** The last part of the runtime's address, or a whole one. Without it the runtime's id is the name. */
  name?: string;
  /** The node's domain. Needed where it is not the host of the URL or a parent of it; the node is refused if it is of another. */
  domain?: string;
  /** Message Nodes of further domains that may be used: WebSocket URLs by domain. */
  nodes?: Readonly<Record<string, string>>;
  /** False: no peer connections. Without it, there are if this environment has RTCPeerConnection. */
  direct?: boolean;
  /** Where hyroute.wasm comes from, or what `load` gave. Without it: beside this script. */
  module?: ModuleSource;
  /** A secret of 32 bytes that the key is made from. Without it a page keeps one in IndexedDB; others get a new one each time. */
  seed?: Uint8Array;
  /**
   * Keeps the session over a reload: when the page goes, it stores where each stream stands and what is under way, and the next page
   * with this key goes on from there (see `Runtime.restored`). Needs IndexedDB and Web Locks. Nothing is sent after the page was hidden.
   */
  keep?: boolean;
  /** Servers that help to set up peer connections, instead of those that the node names. */
  iceServers?: RTCIceServer[];
  /** `"relay"` keeps to TURN servers: peers do not learn this machine's addresses. */
  ice?: RTCIceTransportPolicy;
  /** Gives up connecting. */
  signal?: AbortSignal;
  /** Hears of warnings from the start; `on("warning")` comes too late for the first ones. */
  warning?: (warning: Warning) => void;
  /** Hears what the machine is told and answers, line by line: together they are a scenario, which can be played again anywhere. */
  trace?: (line: string) => void;
  /** Instead of the ones of this environment. */
  WebSocket?: typeof WebSocket;
  RTCPeerConnection?: typeof RTCPeerConnection;
}

/**
 * Makes a runtime that is reached through the Message Node at `url`.
 *
 * Resolves when the node said who it is; if it can not be reached, with the domain it was last seen to be of, or else with its host
 * name. It never waits for the module: what is sent before is sent then. Rejects with `wasm-unsafe-eval` where the page forbids
 * WebAssembly, `other-domain`, `bad-option`, `bad-address`, or `aborted`.
 */
export async function connect(url: string | URL, options: ConnectOptions = {}): Promise<Runtime> {
  const nodeUrl = readUrl(url);
  const { signal } = options;
  if (signal?.aborted) throw new HyrouteError("aborted", "the caller gave up", { cause: signal.reason });
  const socket = options.WebSocket ?? globalThis.WebSocket;
  if (!socket) throw new HyrouteError("bad-option", "there is no WebSocket here: pass one as an option");
  const emitter = new Emitter();
  if (options.warning) emitter.on("warning", options.warning);
  const warn = (warning: Warning) => emitter.emit("warning", warning);

  // All at once: the socket, whose way is the longest, the key, and the module.
  let opening!: (value: Opening) => void;
  const first = new FirstStub({ url: nodeUrl.href, WebSocket: socket, warn, opening: new Promise<Opening>((resolve) => (opening = resolve)) });
  first.stub.connect();
  let me: Runtime | undefined;
  const loaded = Identity.load(options.seed, warn, () => void me?.end(new HyrouteError("superseded", "another page took the key of this runtime")));
  const kept = options.keep
    ? loaded.then(async ({ id }) => (await import("./last-act.ts")).LastAct.open(id, { HyrouteError, decodeContent }))
    : undefined;
  const ready = compile(options.module ?? beside()).then((code) => {
    const prepared = spare.get(code);
    spare.delete(code);
    return prepared ?? Machine.prepare(code, reserve);
  });
  ready.catch(() => undefined);
  try {
    checkAllowed(options.module);
    const [identity, domain, act] = await orAborted(Promise.all([loaded, findDomain(first, nodeUrl, options.domain), kept]), signal);
    const runtime = canonical(`runtime://${domain}/${identity.id}`);
    act?.name(runtime);
    opening({ domain, runtime, identity });
    const rtc = options.direct === false ? undefined : (options.RTCPeerConnection ?? globalThis.RTCPeerConnection);
    const nodes = new Map(Object.entries(options.nodes ?? {}));
    const made = me = new Runtime({
      runtime, identity, domain, first, WebSocket: socket, RTCPeerConnection: rtc, iceServers: options.iceServers, ice: options.ice, emitter,
      act, address: options.name ?? identity.id,
      nodeUrl: (of) => (of === domain ? nodeUrl.href : (nodes.get(of) ?? `${nodeUrl.protocol}//${of}/ws`)),
    });
    const wall = act?.wall ?? Date.now();
    const seed = hex(crypto.getRandomValues(new Uint8Array(8)));
    const life = { wall, seed, domains: [...nodes.keys()], direct: rtc !== undefined };
    const line = encodeOpen({ runtime, ...life });
    Promise.all([ready, act?.begin(), options.trace && import("./trace.ts")])
      .then(([open, , tracing]) => {
        act?.begun();
        const trace = tracing && tracing.lines(options.trace!);
        if (act?.former?.snapshot.length) {
          try {
            const { snapshot, now } = act.former;
            const [machine] = open(snapshot);
            return made.run(machine, "# It goes on from a stored state, so it can not be played alone.\n", "", trace, { verb: "restored", ...life }, now);
          } catch (error) {
            if (!(error instanceof Refused)) throw error;
            act.forget(); // made by another version
          }
        }
        const [machine, effects] = open(line);
        made.run(machine, line, effects, trace);
      })
      .catch((cause) => made.fail(cause instanceof HyrouteError ? cause : new HyrouteError("module", String(cause), { cause })));
    return me;
  } catch (error) {
    void first.stub.close();
    void kept?.then((act) => act.close()).catch(() => undefined);
    void loaded.then((identity) => identity.release()).catch(() => undefined);
    throw error;
  }
}

/**
 * Loads what `connect` will need, for a page that connects later than it starts: `const module = load()` first, and then
 * `connect(url, { module })`. The same may serve several. Rejects with `module`.
 */
export async function load(module: ModuleSource = beside()): Promise<WebAssembly.Module> {
  import("./keystore.ts").catch(() => undefined); // it is tried again when it is needed
  const code = await compile(module);
  const prepared = Machine.prepare(code, reserve);
  prepared.catch(() => undefined); // connect hears of it
  spare.set(code, prepared);
  return code;
}

const beside = () => new URL("hyroute.wasm", import.meta.url);

function readUrl(url: string | URL): URL {
  let read: URL;
  try {
    read = new URL(url, globalThis.location?.href);
  } catch (cause) {
    throw new HyrouteError("bad-option", `${JSON.stringify(String(url))} is no URL`, { cause });
  }
  if (read.protocol.startsWith("http")) read.protocol = read.protocol.replace("http", "ws");
  if (!/^wss?:$/.test(read.protocol)) throw new HyrouteError("bad-option", `a Message Node is at ws: or wss:, not at ${read.protocol}`);
  if (read.pathname === "/") read.pathname = "/ws";
  read.hash = "";
  return read;
}

/** The domain of the node: what it says, if that can be believed; without an answer, the best guess. */
async function findDomain(first: FirstStub, url: URL, wanted: string | undefined): Promise<string> {
  let domain: string;
  try {
    domain = await first.stub.handshake;
  } catch {
    return wanted ?? (await (await import("./keystore.ts")).recallDomain(url.href)) ?? url.hostname;
  }
  if (wanted === undefined ? !belongs(domain, url) : domain !== wanted) {
    const text = wanted === undefined
      ? `the node at ${url.href} says that it is of ${domain}: if that is right, pass { domain: ${JSON.stringify(domain)} }`
      : `the node at ${url.href} is of ${domain}, not of ${wanted}`;
    throw new HyrouteError("other-domain", text);
  }
  void import("./keystore.ts").then((store) => store.rememberDomain(url.href, domain), () => undefined);
  return domain;
}

// A node is handed a proof that opens this runtime at its domain. One that claims to be of another domain could pass it on there.
function belongs(domain: string, url: URL): boolean {
  const host = domainOf(`domain://${url.hostname}`);
  if (domain === url.host || domain === url.hostname || url.hostname.endsWith(`.${domain}`)) return true;
  return host === "localhost" || host.endsWith(".localhost") || /^[\d.]+$|^\[/.test(host);
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new HyrouteError("aborted", "the caller gave up", { cause: signal.reason })), { once: true });
    promise.then(resolve, reject);
  });
}
