import * as postwire from "@postwire/web"
import process from "node:process"
import { scenario, settingsOf } from "./scenario.mjs"

console.log(JSON.stringify(await scenario(postwire, settingsOf(process.env))))
