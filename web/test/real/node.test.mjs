// The body in Node, against the real Message Node, in a process of its own.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort, startNode } from "./message-node.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));

let node;
before(async () => (node = await startNode(await freePort())));
after(() => node.stop());

test("two runtimes in Node talk, keep a seed's address, and let the process end", async () => {
  const program = `
    import { connect } from ${JSON.stringify(`${root}web/dist/hyroute.js`)};
    const url = ${JSON.stringify(node.url)};
    const seed = new Uint8Array(32).fill(7);
    const a = await connect(url, { seed });
    const b = await connect(url, { name: "bob" });
    b.on("message", (m) => m.reply({ twice: m.value * 2 }));
    const answer = await a.request(b.address, 21);
    const bytes = new Promise((resolve) => a.on("message", (m) => resolve(m.value)));
    await b.send(a.address, new Uint8Array([1, 2, 255]));
    console.log(JSON.stringify([a.address, b.address, answer.value, answer.path, [...(await bytes)]]));
    await a.close();
    const again = await connect(url, { seed });
    console.log(JSON.stringify([again.address]));
    await connect(url, { keep: true }).catch(({ code, message }) => console.log(JSON.stringify([code, message])));
    await Promise.all([b.close(), again.close()]);
  `;
  const { stdout } = await run(process.execPath, ["--experimental-websocket", "--no-warnings", "--input-type=module", "-e", program], { timeout: 30_000 });
  const lines = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.match(lines[0][0], new RegExp(`^hyperty://${node.domain}/[a-z2-7]{32}$`));
  assert.deepEqual(lines[0].slice(1), [`hyperty://${node.domain}/bob`, { twice: 42 }, "relay", [1, 2, 255]]);
  assert.equal(lines[1][0], lines[0][0]);
  assert.equal(lines[2][0], "bad-option");
  assert.match(lines[2][1], /IndexedDB and Web Locks/);
});
