import * as FileTokenStore from "@postwire/node/FileTokenStore"
import * as RedisTokenStore from "@postwire/node/RedisTokenStore"
import { increment } from "./Incrementing.ts"

const [place = "", times] = process.argv.slice(2)

await increment(
  place.startsWith("redis:")
    ? RedisTokenStore.layerUrl({ url: place, lease: 500 })
    : FileTokenStore.layer({ folder: place }),
  Number(times)
)
