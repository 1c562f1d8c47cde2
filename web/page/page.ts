import { connect, HyrouteError, type Message, type Runtime } from "../src/index.ts";
import { Clock, now } from "./clock.ts";
import { Conversation, isText } from "./conversation.ts";
import { DirectSwitch } from "./direct-switch.ts";
import { byId, copy } from "./elements.ts";
import { Plot } from "./plot.ts";
import { isNumbered, Stream, Tally } from "./stream.ts";
import { Way } from "./way.ts";
import { failure, serverState } from "./words.ts";

const parameters = new URLSearchParams(location.search);
const server = byId("server");
const trouble = byId("trouble");
const to = byId<HTMLInputElement>("to");
const flow = byId<HTMLButtonElement>("flow");
const rate = byId<HTMLInputElement>("rate");

function complain(text: string): void {
  trouble.textContent = text;
  trouble.hidden = text === "";
}

/** The slider is even to the hand: from 1 to 500 a second. */
function perSecond(): number {
  return Math.max(1, Math.round(500 ** (Number(rate.value) / 100)));
}

async function start(): Promise<void> {
  const direct = new DirectSwitch();
  const node = parameters.get("node") ?? new URL("ws", location.href).href;
  const me = await connect(node, {
    ...(direct.RTCPeerConnection && { RTCPeerConnection: direct.RTCPeerConnection }),
    warning: ({ code, text }) => {
      if (code === "insecure-origin" || code === "other-domain" || code === "open-refused" || code === "replaced") complain(text);
      else console.warn(`hyroute: ${code}: ${text}`);
    },
  });
  me.on("status", (status) => {
    if (status.kind === "node") [server.dataset["state"], server.textContent] = serverState(status);
    else if (status.kind === "module" && status.status === "failed") complain(status.reason);
  });
  showAddress(me);
  converse(me, new Way(me, direct));
}

function showAddress(me: Runtime): void {
  const link = new URL(location.href);
  link.searchParams.set("to", me.address);
  byId("address").textContent = me.address;
  const second = byId<HTMLAnchorElement>("second");
  second.href = link.href;
  second.removeAttribute("aria-disabled");
  for (const [id, text] of [["copy", me.address], ["copy-link", link.href]] as const) {
    const button = byId<HTMLButtonElement>(id);
    button.disabled = false;
    button.onclick = () => void copy(button, text);
  }
}

function converse(me: Runtime, way: Way): void {
  const conversation = new Conversation();
  const plot = new Plot(byId("plot"));
  const tally = new Tally();
  let clock: Clock | undefined;
  let counting = false;

  const showCounts = () => {
    const numbers = { sent: stream.sent, confirmed: stream.confirmed, received: tally.received, missing: tally.missing, twice: tally.twice, disorder: tally.disorder };
    for (const [id, value] of Object.entries(numbers)) {
      byId(id).textContent = value.toLocaleString();
      byId(id).classList.toggle("bad", value > 0 && /missing|twice|disorder/.test(id));
    }
  };

  const count = () => {
    if (counting) return;
    counting = true;
    requestAnimationFrame(() => {
      counting = false;
      showCounts();
    });
  };

  const stream = new Stream(
    me,
    count,
    (path, delay) => {
      way.saw(path);
      plot.add(path, delay);
      count();
    },
    (error) => {
      complain(`The stream stopped: ${failure(error)}`);
      showFlow();
    },
  );

  const showFlow = () => {
    flow.textContent = stream.running ? "Stop" : "Start";
    flow.setAttribute("aria-pressed", String(stream.running));
    flow.disabled = to.value.trim() === "";
    byId("rate-value").textContent = String(perSecond());
  };

  const meet = (address: string) => {
    to.value = address;
    clock?.stop();
    clock = address === "" ? undefined : new Clock(me, address);
    stream.stop();
    showFlow();
  };

  const delayOf = (at: number) => (clock?.ahead === undefined ? undefined : Math.max(0, now() - (at - clock.ahead)));

  const take = (message: Message) => {
    const { value } = message;
    if (to.value.trim() === "") meet(message.from);
    if (message.from === to.value) way.saw(message.path);
    if (message.wantsReply) {
      const isClock = typeof value?.clock === "number";
      message.reply(isClock ? { clock: now() } : "this page answers no requests", { code: isClock ? 200 : 400 }).catch(() => undefined);
      return;
    }
    if (!isNumbered(value)) return conversation.receive(message, isText(value) ? delayOf(value.at) : undefined);
    tally.take(value);
    const delay = delayOf(value.at);
    if (delay !== undefined) plot.add(message.path, delay);
    count();
  };

  me.on("message", take);
  to.onchange = () => meet(to.value.trim());
  rate.oninput = showFlow;
  flow.onclick = () => {
    complain("");
    if (stream.running) stream.stop();
    else stream.start(to.value.trim(), perSecond);
    showFlow();
    showCounts(); // what a stopped stream has sent is final, whatever is not confirmed yet
  };
  byId<HTMLFormElement>("write").onsubmit = (event) => {
    event.preventDefault();
    const text = byId<HTMLInputElement>("text");
    const address = to.value.trim();
    if (address === "") return to.focus();
    if (text.value === "") return;
    void conversation.send(me, address, text.value, clock?.ahead !== undefined);
    text.value = "";
  };
  meet(parameters.get("to") ?? "");
}

start().catch((error: unknown) => {
  server.dataset["state"] = "bad";
  server.textContent = "Not connected";
  complain(error instanceof HyrouteError && error.code === "wasm-unsafe-eval" ? error.message : failure(error as HyrouteError));
});
