// Bundles what pages load beside the bench's own scripts: dist/subjects/, the subjects that need libraries, and dist/cold/, each
// subject with its library as a user would ship it, in brotli. Run it after hyroute itself is built.
import { build } from 'esbuild'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const file = (path) => new URL(path, import.meta.url).pathname
const web = file('../web/dist/')
const own = ['channel', 'hyroute', 'websocket'] // need no library, or one that the site serves

rmSync(file('dist'), { recursive: true, force: true })
mkdirSync(file('dist/cold'), { recursive: true })

// What the subjects import by the paths of the site.
const served = { name: 'served', setup: (build) => void build.onResolve({ filter: /^\/hyroute\.js$/ }, () => ({ path: `${web}hyroute.js` })) }

const common = {
  bundle: true, minify: true, format: 'esm', platform: 'browser', target: 'es2022', legalComments: 'none', logLevel: 'warning',
  define: { global: 'globalThis', 'process.env.NODE_ENV': '"production"' },
}
const names = readdirSync(file('page/subjects')).map((name) => basename(name, '.js'))
for (const name of names) {
  const source = file(`page/subjects/${name}.js`)
  if (!own.includes(name)) await build({ ...common, entryPoints: [source], outfile: file(`dist/subjects/${name}.js`) })
  await build({
    ...common, entryPoints: [file('page/cold.js')], outfile: file(`dist/cold/${name}.js`),
    alias: { subject: source }, plugins: [served], external: name === 'hyroute' ? ['./ed25519.js'] : [],
  })
}
for (const name of ['hyroute.wasm', 'ed25519.js']) copyFileSync(web + name, file(`dist/cold/${name}`))

for (const name of readdirSync(file('dist/cold'))) {
  const bytes = readFileSync(file(`dist/cold/${name}`))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  writeFileSync(file(`dist/cold/${name}.br`), brotliCompressSync(bytes, { params }))
}
