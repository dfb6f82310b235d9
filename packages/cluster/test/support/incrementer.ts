import * as Database from "@postwire/cluster/Database"
import * as PostgresTokenStore from "@postwire/cluster/PostgresTokenStore"
import { TokenStore } from "@postwire/core/storage/TokenStore"
import { Layer, Redacted } from "effect"
import { increment } from "../../../node/test/support/Incrementing.ts"

const [url = "", times] = process.argv.slice(2)

await increment(
  Layer.provide(
    Layer.effect(TokenStore, PostgresTokenStore.make(1_000)),
    Database.layerPostgres({ url: Redacted.make(url) })
  ),
  Number(times)
)
