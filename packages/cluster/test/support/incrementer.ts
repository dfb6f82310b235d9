import * as Database from "@postwire/cluster/Database"
import * as PostgresTokenStore from "@postwire/cluster/PostgresTokenStore"
import { Layer, Redacted } from "effect"
import { increment } from "../../../node/test/support/Incrementing.ts"

const [url = "", times] = process.argv.slice(2)

await increment(
  Layer.provide(PostgresTokenStore.layer, Database.layerPostgres({ url: Redacted.make(url) })),
  Number(times)
)
