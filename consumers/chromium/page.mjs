import * as postwire from "@postwire/web"
import { scenario } from "./scenario.mjs"

// The proxy has the credential.
const settings = { baseUrl: location.origin, bearerToken: "of-the-page" }
const body = JSON.stringify(await scenario(postwire, settings).catch(String))
await fetch("/result", { method: "POST", body })
