// No `await` outside of functions: programs in CommonJS have none.
import * as postwire from "@postwire/node"
import { scenario, settingsOf } from "./scenario.mjs"

const main = async () => console.log(JSON.stringify(await scenario(postwire, settingsOf(process.env))))
main()
