import * as FileTokenStore from "@postwire/node/FileTokenStore"
import { increment } from "./Incrementing.ts"

const [place = "", times] = process.argv.slice(2)

await increment(FileTokenStore.layer({ folder: place }), Number(times))
