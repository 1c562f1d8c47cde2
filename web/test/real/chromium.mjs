// A real Chromium, and a place to serve pages from.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

function executable() {
  const folders = process.env["PATH"].split(delimiter);
  const found = ["chromium", "chromium-browser", "google-chrome"].flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (!found) throw new Error("no Chromium in PATH: install it, or say where it is by CHROMIUM=path");
  return found;
}

/** Starts Chromium with a profile of its own. */
export function browser(more = []) {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] || executable(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", ...more],
  });
}

/** Serves these files, by path: `{ type, body, headers }`. What is not there answers 404. */
export async function serve(files) {
  const server = createServer((request, response) => {
    const file = files[new URL(request.url, "http://localhost").pathname];
    if (!file) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": file.type, ...file.headers }).end(file.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://localhost:${server.address().port}/`, close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
