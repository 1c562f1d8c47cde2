import { domainOf, readAddress, readRuntime } from "./address.ts";
import type { Bytes } from "./bytes.ts";
import { HyrouteError, type Warning } from "./errors.ts";
import { cutFrame, readEnvelope } from "./frame.ts";
import type { Identity } from "./identity.ts";
import { answerCode, answerText, isObject, readJson, type Json } from "./json.ts";
import type { Event, Status } from "./lines.ts";
import { Outflow } from "./outflow.ts";

const subprotocol = "hyroute.1";
const attemptTime = 15_000;
const goodbye = 1_000;
const maxQuestions = 4096;
// On each socket: the re-open, the open, and from then on the questions of jobs.
const reopenId = 1;
const openId = 2;
const firstId = 3;

/** Who opens at a node, and as what. */
export interface Opening {
  /** The domain that the node must be of. A proof is for that one alone. */
  domain: string;
  runtime: string;
  identity: Identity;
}

/** What a node stub starts from. */
export interface NodeStubOptions {
  url: string;
  WebSocket: typeof WebSocket;
  opening: Promise<Opening>;
  /** Something for the machine, once there is one. */
  push(make: (stub: number) => Event, payload?: Bytes): void;
  /** A JSON message that answers no question of this stub. */
  received(json: Json, stub: NodeStub): void;
  /** The node names servers that help to set up peer connections: when it takes an open, and before their credentials run out. */
  opened(iceServers: unknown[]): void;
  warn(warning: Warning): void;
}

interface Link {
  socket: WebSocket;
  out: Outflow;
  timer: ReturnType<typeof setTimeout>;
  opening: Opening | undefined;
  nonce: string;
  state: "connecting" | "re-opening" | "live";
  nextId: number;
  questions: Map<number, { job: number; read: boolean }>;
}

/**
 * The stub of one domain's Message Node: a WebSocket with its signed open and its questions (docs/protocol.md sections 2 to 4). It
 * moves bytes and reports what it sees; when to connect again is the machine's to say.
 */
export class NodeStub {
  /** The domain that the node says it is of. Rejects if the first attempt ends before that. */
  readonly handshake: Promise<string>;

  readonly #options: NodeStubOptions;
  #link: Link | undefined;
  #token = "";
  #runtime = "";
  #domain = "";
  #shaken!: (domain: string) => void;
  #notShaken!: (error: Error) => void;

  constructor(options: NodeStubOptions) {
    this.#options = options;
    this.handshake = new Promise((resolve, reject) => {
      this.#shaken = resolve;
      this.#notShaken = reject;
    });
    this.handshake.catch(() => undefined);
  }

  /** Makes one attempt; a connection that is there ends. What comes of it is reported as stub-changed. */
  connect(): void {
    this.#drop();
    this.#changed("in-progress");
    let socket: WebSocket;
    try {
      socket = new this.#options.WebSocket(this.#options.url, subprotocol);
    } catch (cause) {
      this.#options.warn({ code: "bad-input", text: `no WebSocket to ${this.#options.url} can be made`, cause });
      this.#notShaken(cause as Error);
      this.#changed("failed", "unsupported-node");
      return;
    }
    socket.binaryType = "arraybuffer";
    const link: Link = {
      socket,
      out: new Outflow(socket, (blocked) => this.#options.push((stub) => ({ verb: blocked ? "stub-blocked" : "stub-writable", stub }))),
      timer: setTimeout(() => this.#over(link, "disconnected", "timed-out"), attemptTime),
      opening: undefined,
      nonce: "",
      state: "connecting",
      nextId: firstId,
      questions: new Map(),
    };
    this.#link = link;
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.#link !== link) return;
      link.out.look();
      if (typeof data === "string") this.#text(link, data);
      else this.#binary(new Uint8Array(data));
    };
    socket.onclose = ({ code }) => this.#over(link, code === 4001 ? "failed" : "disconnected", closeReason(code, link.state));
  }

  /** Sends bytes: a relay envelope. What can not be sent now is lost, as on any carrier. */
  send(envelope: Bytes): void {
    const link = this.#link;
    if (link?.state !== "live" || link.socket.readyState !== 1) return;
    link.out.send(envelope);
  }

  /** Sends a JSON message. False if there is no connection now. */
  sendJson(json: Json): boolean {
    return this.sendText(JSON.stringify(json));
  }

  /** As sendJson, for a message that is text already. */
  sendText(text: string): boolean {
    const link = this.#link;
    if (link?.state !== "live" || link.socket.readyState !== 1) return false;
    link.out.send(text);
    return true;
  }

  /** Asks on behalf of a job. The answer is reported as registry-answered; if the connection ends first, there is none. */
  ask(job: number, type: string, to: string, body: Record<string, unknown>): void {
    const link = this.#link;
    if (link?.state !== "live") return;
    const id = link.nextId++;
    link.questions.set(id, { job, read: type === "read" });
    // The machine gives up on a job by itself and says nothing of it here, so the oldest makes room.
    if (link.questions.size > maxQuestions) link.questions.delete(link.questions.keys().next().value!);
    this.sendJson({ id, type, from: this.#asker, to, body });
  }

  /** Asks the node's Domain Registry. */
  askRegistry(job: number, type: string, body: Record<string, unknown>): void {
    this.ask(job, type, `domain://registry.${this.#domain}`, body);
  }

  /** Asks the node's subscription manager. */
  askSubscriptions(job: number, type: "subscribe" | "unsubscribe", addresses: string[]): void {
    this.ask(job, type, `domain://msg-node.${this.#domain}/sm`, { [type]: addresses });
  }

  /** Tells the node that this runtime goes away, and resolves when the socket is closed. */
  async close(): Promise<void> {
    const link = this.#link;
    this.#notShaken(new HyrouteError("closed", "this runtime is closed"));
    if (link?.state !== "live") {
      this.#drop();
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, goodbye);
      this.sendJson({ id: link.nextId, type: "close", from: this.#runtime, to: "mn:/session" });
      link.socket.onclose = () => {
        clearTimeout(timer);
        resolve();
      };
      link.socket.onmessage = null;
    });
    this.#drop();
  }

  get #asker(): string {
    return this.#runtime + "/sm";
  }

  #changed(status: Status, reason = "", resumed = false): void {
    this.#options.push((stub) => ({ verb: "stub-changed", stub, status, resumed, reason }));
  }

  #complain(text: string): void {
    this.#options.warn({ code: "bad-input", text: `from ${this.#options.url}: ${text}` });
  }

  #drop(): void {
    const link = this.#link;
    if (!link) return;
    this.#link = undefined;
    clearTimeout(link.timer);
    link.out.stop();
    link.socket.onmessage = link.socket.onclose = null;
    link.socket.close();
  }

  #over(link: Link, status: Status, reason: string): void {
    if (this.#link !== link) return;
    this.#drop();
    this.#notShaken(new HyrouteError("no-message-node", `${this.#options.url}: ${reason}`));
    if (reason === "superseded") this.#options.warn({ code: "replaced", text: "another program opened this runtime with the same key" });
    this.#changed(status, reason);
  }

  #binary(bytes: Bytes): void {
    const push = this.#options.push;
    const envelope = readEnvelope(bytes);
    if (envelope?.kind === "forward") {
      const cut = cutFrame(envelope.frame);
      if (!cut) return this.#complain("a frame is shorter than its header says");
      const [head, payload] = cut;
      push((stub) => ({ verb: "frame-received", stub, handle: envelope.handle, frame: 0, head, size: payload.length }), payload);
    } else if (envelope?.kind === "name") {
      const runtime = readRuntime(envelope.runtime);
      if (!runtime) return this.#complain(`NAME of ${JSON.stringify(envelope.runtime.slice(0, 80))}, which is no runtime`);
      push((stub) => ({ verb: "handle-named", stub, handle: envelope.handle, runtime }));
    } else if (envelope) {
      push((stub) => ({ verb: "notice-received", stub, handle: envelope.handle, reason: envelope.reason, head: envelope.head }));
    } else {
      this.#complain("a binary message is no envelope");
    }
  }

  #text(link: Link, text: string): void {
    const json = readJson(text);
    if (typeof json === "string") return this.#complain(json);
    if (link.nonce === "") return this.#handshake(link, json);
    if (json.from === "mn:/session" && json.id === reopenId && link.state === "re-opening") return this.#reopened(link, json);
    if (json.from === "mn:/session" && json.id === openId && json.type === "response") return this.#opened(link, json);
    if (json.from === "mn:/session" && json.type === "update") return this.#named(json);
    if (json.from.startsWith("mn:")) {
      return this.#options.warn({ code: "node-complaint", text: `${json.from} says: ${answerText(json)}` });
    }
    if (json.type === "response" && json.to === this.#asker) return this.#answered(link, json);
    if (json.type === "update" && json.to.endsWith("/registration") && readAddress(json.from)?.startsWith("domain://registry.")) {
      return this.#notified(json);
    }
    this.#options.received(json, this);
  }

  #handshake(link: Link, json: Json): void {
    const { nonce, domain } = json.body ?? {};
    if (json.type !== "handshake" || typeof nonce !== "string" || !/^[A-Za-z0-9_-]{22,128}$/.test(nonce) || !isDomain(domain)) {
      this.#complain("the first message is no handshake");
      return this.#over(link, "failed", "unsupported-node");
    }
    link.nonce = nonce;
    this.#shaken(domain);
    void this.#options.opening.then(
      (opening) => this.#prove(link, opening, domain),
      () => this.#over(link, "failed", "bad-proof"),
    );
  }

  async #prove(link: Link, opening: Opening, domain: string): Promise<void> {
    if (this.#link !== link) return;
    link.opening = opening;
    this.#runtime = opening.runtime;
    this.#domain = opening.domain;
    if (domain !== opening.domain) {
      this.#options.warn({ code: "other-domain", text: `${this.#options.url} is the node of ${domain}, not of ${opening.domain}` });
      return this.#over(link, "failed", "wrong-domain");
    }
    const body = { key: opening.identity.key, signature: await opening.identity.signOpen(link.nonce, this.#runtime, domain), nonce: link.nonce };
    if (this.#link !== link) return;
    if (this.#token === "") return this.#open(link, body);
    link.state = "re-opening";
    link.out.send(JSON.stringify({ id: reopenId, type: "re-open", from: `${this.#runtime}/${this.#token}`, to: "mn:/session", body }));
  }

  // Live at once: all that follows on this socket is taken in order behind the open.
  #open(link: Link, body: Record<string, unknown>): void {
    link.out.send(JSON.stringify({ id: openId, type: "open", from: this.#runtime, to: "mn:/session", body }));
    this.#live(link, false);
  }

  #reopened(link: Link, json: Json): void {
    if (answerCode(json) === 200) {
      this.#named(json);
      return this.#live(link, true);
    }
    this.#token = "";
    void this.#prove(link, link.opening!, link.opening!.domain);
  }

  #live(link: Link, resumed: boolean): void {
    clearTimeout(link.timer);
    link.state = "live";
    this.#changed("live", "", resumed);
  }

  #opened(link: Link, json: Json): void {
    const code = answerCode(json);
    if (code === 200) {
      const { runtimeToken } = json.body ?? {};
      this.#token = typeof runtimeToken === "string" ? runtimeToken : "";
      return this.#named(json);
    }
    this.#options.warn({ code: "open-refused", text: `${this.#options.url} does not take this runtime: ${code} ${answerText(json)}` });
    const reason = new Map([[400, "malformed"], [401, "unauthorized"], [403, "forbidden"], [409, "taken"]]).get(code);
    this.#over(link, reason ? "failed" : "disconnected", reason ?? "refused");
  }

  #named(json: Json): void {
    const list = json.body?.["iceServers"];
    if (Array.isArray(list)) this.#options.opened(list);
  }

  #answered(link: Link, json: Json): void {
    const question = link.questions.get(json.id);
    if (!question) return; // of a job that was given up
    link.questions.delete(json.id);
    let code = answerCode(json);
    let runtime: string | undefined;
    let sessions = false;
    if (question.read && code === 200) {
      const value = json.body?.["value"];
      const entry = isObject(value) ? value : {};
      // An entry that is not live counts as one that is not there now.
      if ("status" in entry && entry["status"] !== "" && entry["status"] !== "live") {
        code = 408;
      } else {
        runtime = readRuntime(entry["runtime"]);
        sessions = runtime !== undefined && (entry["sessions"] === 1 || entry["sessions"] === true);
        if (!runtime) code = 500;
      }
    }
    this.#options.push(() => ({ verb: "registry-answered", job: question.job, code, runtime, sessions }));
  }

  #notified(json: Json): void {
    const address = readAddress(json.to.slice(0, -"/registration".length));
    const status = json.body?.["value"];
    if (!address || (status !== "live" && status !== "disconnected")) return this.#complain(`a notification of ${json.from} can not be read`);
    this.#options.push(() => ({ verb: "registration-notified", address, status }));
  }
}

function isDomain(value: unknown): value is string {
  return typeof value === "string" && value.length <= 256 && !value.includes("/") && readAddress(`domain://${value}`) !== undefined && domainOf(`domain://${value}`) !== "";
}

function closeReason(code: number, state: Link["state"]): string {
  const known = new Map([[1001, "node-closed"], [1009, "too-big"], [4001, "superseded"], [4002, "too-slow"]]).get(code);
  return known ?? (state === "live" ? "lost" : "unreachable");
}
