import { Effect, Layer } from "effect"
import * as Storage from "../src/storage/Storage.ts"
import { Clients, suite } from "./support/Storages.ts"

const storage = Storage.makeMemory()

suite("in memory", Layer.succeed(Clients, Effect.succeed(storage)))
