// Lets Node load the TypeScript sources as they are: `node --import ./test/typescript.mjs ...`.
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";
import { fileURLToPath } from "node:url";

export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const { transform } = await import("esbuild");
  const file = fileURLToPath(url);
  const { code } = await transform(await readFile(file, "utf8"), { loader: "ts", target: "es2022", sourcefile: file, sourcemap: "inline" });
  return { format: "module", source: code, shortCircuit: true };
}

if (isMainThread) register(import.meta.url);
