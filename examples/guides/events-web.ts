// #region workers
import { webhook } from "@postwire/web/Webhook"

const hook = webhook({ secrets: "...", onEvent: async (event) => console.log(event.event_uuid, event.event_type) })

export default { fetch: hook }
// #endregion
