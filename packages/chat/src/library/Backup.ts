/** The backup of private keys by a passcode: realms of the service, which `juicebox-sdk` speaks to. */
import { ChatLibraryMissing } from "../errors/ChatErrors.ts"

/** A backup as the chat library uses it. */
export interface Backup {
  readonly register: (pin: Uint8Array, secret: Uint8Array, info: Uint8Array, guesses: number) => Promise<void>
  readonly recover: (pin: Uint8Array, info: Uint8Array) => Promise<Uint8Array>
  readonly delete: () => Promise<void>
}

/** The part of `juicebox-sdk` in use. */
interface Juicebox {
  readonly Client: new(configuration: object, previous: ReadonlyArray<object>) => Backup
  readonly Configuration: new(config: unknown) => object
}

/** The backup in realms, which a text or an object describes. */
export const loadBackup = async (realms: unknown): Promise<Backup> => {
  // The library panics without any.
  if (!/realms\W+\{/.test(JSON.stringify(realms))) throw new Error("The backup has no realms")
  const { Client, Configuration } = await loadJuicebox().catch((cause: unknown) => {
    throw new ChatLibraryMissing({ library: "juicebox-sdk", detail: cause instanceof Error ? cause.name : "unknown" })
  })
  return new Client(new Configuration(realms), [])
}

/** Its entry imports WebAssembly as a module, which needs a bundler or a flag of Node: here the two halves are joined by hand. */
const loadJuicebox = async (): Promise<Juicebox> => {
  const glue: Juicebox & { readonly __wbg_set_wasm: (exports: unknown) => void } = await import(
    // @ts-expect-error The package has no types of this file.
    "juicebox-sdk/juicebox-sdk_bg.js"
  )
  const { readFile } = process.getBuiltinModule("node:fs/promises")
  const file = new URL(import.meta.resolve("juicebox-sdk/juicebox-sdk_bg.wasm"))
  const { instance } = await WebAssembly.instantiate(await readFile(file), { "./juicebox-sdk_bg.js": { ...glue } })
  glue.__wbg_set_wasm(instance.exports)
  return glue
}
