import * as postwire from "@postwire/web"
import { scenario, settingsOf } from "./scenario.mjs"

export default {
  fetch: async (_request, environment) => Response.json(await scenario(postwire, settingsOf(environment)))
}
