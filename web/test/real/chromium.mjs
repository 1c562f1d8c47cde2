// A real Chromium.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

function executable() {
  const folders = process.env["PATH"].split(delimiter);
  const found = ["chromium", "chromium-browser", "google-chrome"].flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (!found) throw new Error("no Chromium in PATH: install it, or say where it is by CHROMIUM=path");
  return found;
}

/** Starts Chromium with a profile of its own, and with `more` arguments, `without` some of those that Playwright gives. */
export function browser(more = [], without = []) {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] || executable(),
    ignoreDefaultArgs: without,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", ...more],
  });
}
