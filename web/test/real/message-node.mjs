// A real Message Node: the command, as a user starts it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { root } from "../corpus.mjs";

/** A port that nobody uses now. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a node. Resolves when it answers. `stop` resolves when it is gone. */
export async function startNode(port, domain = "localhost") {
  const command = process.env["HYROUTE"] ?? `${root}bin/hyroute`;
  const child = spawn(command, ["serve", "--listen", `127.0.0.1:${port}`, "--domain", domain, "--web", `${root}web/dist`], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => (said = (said + text).slice(-4000)));
  const gone = once(child, "exit");
  const answers = async () => {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${port}/.well-known/protocolstub/default.json`).catch(() => undefined);
      if (response?.ok) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.race([answers(), gone.then(([code]) => Promise.reject(new Error(`the node ended with ${code}: ${said}`)))]);
  return {
    port,
    domain,
    url: `ws://localhost:${port}/ws`,
    async stop() {
      child.kill();
      await gone;
    },
  };
}
