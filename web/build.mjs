// Builds what is published and what is served: web/dist.
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { brotliCompressSync, constants } from "node:zlib";

const here = new URL(".", import.meta.url);
const file = (path) => new URL(path, here).pathname;
const dist = file("dist/");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);

// What is a file of its own: loaded when it is needed, and shared by page and package.
const apart = (names) => ({
  name: "apart",
  setup(build) {
    for (const [source, target] of names) build.onResolve({ filter: source }, () => ({ path: target, external: true }));
  },
});

const common = { absWorkingDir: file("."), bundle: true, minify: true, format: "esm", platform: "browser", target: "es2022", legalComments: "none", logLevel: "warning" };

await build({ ...common, entryPoints: ["src/index.ts"], outfile: "dist/hyroute.js", plugins: [apart([[/\/ed25519\.ts$/, "./ed25519.js"], [/\/peer\.ts$/, "./peer.js"], [/\/keystore\.ts$/, "./keystore.js"], [/\/trace\.ts$/, "./trace.js"], [/\/stats\.ts$/, "./stats.js"], [/\/last-act\.ts$/, "./last-act.js"]])] });
await build({ ...common, entryPoints: ["src/ed25519.ts"], outfile: "dist/ed25519.js" });
await build({ ...common, entryPoints: ["src/keystore.ts"], outfile: "dist/keystore.js" });
await build({ ...common, entryPoints: ["src/peer.ts"], outfile: "dist/peer.js" });
await build({ ...common, entryPoints: ["src/stats.ts"], outfile: "dist/stats.js" });
await build({ ...common, entryPoints: ["src/last-act.ts"], outfile: "dist/last-act.js" });
await build({ ...common, entryPoints: ["src/stay.ts"], outfile: "dist/stay.js", format: "iife" });
await build({ ...common, entryPoints: ["src/trace.ts"], outfile: "dist/trace.js" });
await build({ ...common, entryPoints: ["page/page.ts"], outfile: "dist/page.js", plugins: [apart([[/\/src\/index\.ts$/, "./hyroute.js"]])] });
await build({ ...common, format: undefined, entryPoints: ["page/page.css"], outfile: "dist/page.css" });
copyFileSync(file("../index.html"), dist + "index.html");
copyFileSync(file("../LICENSE"), dist + "LICENSE");
copyFileSync(file("../bin/hyroute.wasm"), dist + "hyroute.wasm");

const tsc = createRequire(import.meta.url).resolve("typescript/package.json").replace(/package\.json$/, "bin/tsc");
execFileSync(process.execPath, [tsc, "-p", file("tsconfig.types.json")], { stdio: "inherit" });

for (const name of readdirSync(dist)) {
  if (!/\.(js|css|html|wasm)$/.test(name) || !statSync(dist + name).isFile()) continue;
  const bytes = readFileSync(dist + name);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${dist}${name}.br`, brotliCompressSync(bytes, { params }));
}
