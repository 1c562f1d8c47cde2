// What a message costs at the module's door in V8: two machines, a message from one to the other and its acknowledgement back. Both ends
// together, their half of the body included (packing events, reading effects), payload and sockets left out. In time of the processor, so
// that a busy machine changes little.
//
//   node bench/door.mjs [messages]
import { readFileSync } from "node:fs";
import { register } from "node:module";

register("../web/test/typescript.mjs", import.meta.url);
const { Machine } = await import("../web/src/machine.ts");
const { Packer, unpack } = await import("../web/src/packed.ts");

const messages = Number(process.argv[2] ?? 50_000);
const module = await WebAssembly.compile(readFileSync(new URL("../bin/hyroute.wasm", import.meta.url)));
const nothing = () => undefined;

// One machine, and a body that moves no bytes.
class Side {
  settled = 0;
  steps = 0;
  frames = 0;
  #machine;
  #packer = new Packer(256);
  #msg = 0;
  #frame = 0;

  constructor(id) {
    this.url = `runtime://a.example/${id}`;
    this.address = `hyperty://a.example/${id}`;
  }

  async open(other, seed) {
    this.other = other;
    this.performer = {
      transmit: (stub, handle, pad, head, parts) => {
        let size = pad;
        for (let i = 2; i < parts.length; i += 3) size += parts[i];
        this.frames++;
        other.push({ verb: "frame-received", stub: 1, handle: 1, frame: ++other.#frame, head: head.slice(), size });
      },
      hold: nothing,
      drop: nothing,
      deliver: (delivery) => this.push({ verb: "delivery-taken", delivery }),
      delivered: (first, count) => (this.settled += count),
      release: nothing,
      wake: nothing,
      other: (effect) => this.#do(effect),
    };
    const [machine] = await Machine.open(module, `open runtime=${this.url} wall=1700000000000 seed=${seed}\n`, 4);
    this.#machine = machine;
    this.push({ verb: "stub-changed", stub: 1, status: "live" });
    this.push({ verb: "endpoint-registered", address: this.address });
  }

  push(event) {
    this.#packer.add(event);
  }

  post(to) {
    this.push({ verb: "message-posted", msg: ++this.#msg, from: this.address, to, size: 200 });
  }

  step(now) {
    if (this.#packer.empty) return false;
    unpack(this.#machine.step(this.#packer.take(), now), this.#machine.names, this.performer);
    this.#machine.save();
    this.steps++;
    return true;
  }

  #do(effect) {
    if (effect.verb === "register-endpoint") this.push({ verb: "registry-answered", job: effect.job, code: 200 });
    else if (effect.verb === "name-handle") this.other.push({ verb: "handle-named", stub: 1, handle: 1, runtime: this.url });
    else if (effect.verb === "settle" && effect.outcome === "delivered") this.settled++;
  }
}

for (const together of [1, 8, 64]) {
  const [a, b] = [new Side("a".repeat(32)), new Side("b".repeat(32))];
  await a.open(b, "0000000000000001");
  await b.open(a, "0000000000000002");
  let now = 1;
  const rest = () => {
    for (let moved = true; moved; ) {
      const first = a.step(now);
      moved = b.step(now) || first;
    }
  };
  const run = (count) => {
    a.settled = a.steps = b.steps = a.frames = b.frames = 0;
    for (let sent = 0; sent < count; ) {
      for (let i = 0; i < together && sent < count; i++, sent++) a.post(b.address);
      rest();
      now += 30; // what waits to be acknowledged is
      a.push({ verb: "time-passed" });
      b.push({ verb: "time-passed" });
      rest();
    }
    if (a.settled !== count) throw new Error(`${a.settled} of ${count} messages were delivered`);
  };
  rest();
  run(Math.ceil(messages / 5)); // for the compiler
  const before = process.cpuUsage();
  run(messages);
  const { user, system } = process.cpuUsage(before);
  const each = (n) => (n / messages).toFixed(3);
  console.log(`${String(together).padStart(2)} together: ${each(user + system)} us a message, ${each(a.steps + b.steps)} steps, ${each(a.frames + b.frames)} frames`);
}
process.exit(0);
