// Bundles the Worker for browsers, which have nothing of Node either, and runs it in workerd.
import { build } from "esbuild"
import { Miniflare } from "miniflare"

const { outputFiles } = await build({
  entryPoints: ["worker.mjs"],
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  write: false
})
const { POSTWIRE_BASE_URL, POSTWIRE_BEARER_TOKEN } = process.env
const worker = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: "2026-01-01",
  bindings: { POSTWIRE_BASE_URL, POSTWIRE_BEARER_TOKEN }
})
console.log(await (await worker.dispatchFetch("http://worker.example/")).text())
await worker.dispose()
