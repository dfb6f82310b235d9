// #region blocking
import { createClientSync } from "@postwire/sync"

using client = createClientSync()

const { id } = client.publish({ text: "The harbour", media: [{ file: "harbour.mp4" }] }, {
  onProgress: (step) => {
    if ("fraction" in step) console.log(step.phase, `${Math.round(step.fraction * 100)}%`)
  }
})
console.log("posted", id)
// #endregion
