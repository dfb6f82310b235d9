/** The media attached to a post or a message. */
import type { Purpose } from "@postwire/core/media/MediaRules"
import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as MediaCategories from "../media/MediaCategories.ts"
import * as Processing from "../media/Processing.ts"
import type { Call } from "./Handler.ts"

/** The keys of media that the user may attach, or a refusal that names the parameter. */
export const keysOf = (
  { now, store: { attachments, uploads } }: Pick<Call<unknown>, "now" | "store">,
  { ids, parameter, purpose, userId }: {
    readonly ids: ReadonlyArray<string>
    readonly parameter: string
    /** Default: any. */
    readonly purpose?: Purpose
    readonly userId: string
  }
): Effect.Effect<ReadonlyArray<string>, Problem.Problem> => {
  const refuse = (reason: string) =>
    Effect.fail(
      // X sends only the generic message.
      Problem.invalidRequest(`${refusal} ${reason}`, { [parameter]: ids.join(",") }, { onX: refusal })
    )
  for (const id of new Set(ids)) {
    const upload = uploads.byId(id)
    const [key] = attachments.mediaKeys([id], userId)
    const state = upload && Processing.stateOf(upload, now)
    if (upload !== undefined && key !== undefined && state !== "succeeded") {
      return refuse(
        `[${id}] ${state === "expired" ? "has expired" : state === "failed" ? "has failed" : "is not ready"}.`
      )
    }
    if (key === undefined) return refuse(`There are none of yours with the id [${id}].`)
    const meant = upload?.category === undefined ? undefined : MediaCategories.named(upload.category)?.shown?.purpose
    if (purpose !== undefined && meant !== undefined && meant !== purpose) {
      return refuse(`[${id}] is ${upload?.category}, which is not for this.`)
    }
  }
  const keys = attachments.mediaKeys(ids, userId)
  return keys.length > 1 && attachments.mediaByKeys(keys).some(({ type }) => type !== "photo")
    ? refuse("Photos are shown together; a video or an animated GIF is shown alone.")
    : Effect.succeed(keys)
}

const refusal = "Your media IDs are invalid."
