import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import * as UndiciHttpClient from "../src/UndiciHttpClient.ts"

const loaded = (file: RegExp) => Object.keys(createRequire(import.meta.url).cache).some((path) => file.test(path))

it.effect("Undici is loaded by the first request, and only its Agent", () =>
  Effect.gen(function*() {
    const server = createServer((_, response) => void response.end("ok"))
    yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
    yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
    const address = server.address()
    assert(address !== null && typeof address === "object")
    assert.isFalse(loaded(/undici.lib/))
    yield* HttpClient.get(`http://127.0.0.1:${address.port}`)
    assert.isTrue(loaded(/undici.lib/))
    assert.isFalse(loaded(/undici.index/))
  }).pipe(Effect.provide(UndiciHttpClient.layer())))
