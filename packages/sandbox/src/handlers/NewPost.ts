/** Validates the parameters of a new post that do not depend on the state. */
import * as PostText from "@postwire/core/text/PostText"
import * as Problem from "../http/Problem.ts"
import type { Parameters } from "./Handler.ts"

/** The maximum text length of a verified author, in characters. */
const maximumLength = 25_000

/** Mutually exclusive parameters. */
const alone = ["card_uri", "media_ids", "poll_options", "quote_post_id"] as const

/** Web pages that media link to. */
const pages = ["media_visit_site_url", "media_watch_now_url"] as const

/** The first violated rule. */
export const refusal = (parameters: Parameters<"createPost">, isVerified: boolean): Problem.Problem | undefined => {
  const { media_ids = [], text = "" } = parameters
  const { invalidRequest } = Problem
  if (text === "" && media_ids.length === 0) {
    return invalidRequest("The text of a post without media can not be empty.", { text })
  }
  if (parameters.card_uri !== undefined && parameters.direct_message_deep_link !== undefined) {
    return invalidRequest("A post has a card or a direct message deep link.", { card_uri: parameters.card_uri })
  }
  const together = alone.filter((name) => parameters[name] !== undefined)
  if (together.length > 1) {
    return invalidRequest(
      "A post has one of a card, media, a poll and a quoted post.",
      Object.fromEntries(together.map((name) => [name, String(parameters[name])]))
    )
  }
  for (const name of pages) {
    const address = parameters[name]
    if (address !== undefined && !(URL.canParse(address) && new URL(address).protocol === "https:")) {
      return invalidRequest("Media lead to an https address.", { [name]: address })
    }
  }
  if (isVerified ? Array.from(text).length > maximumLength : !PostText.fits(text)) {
    return invalidRequest("The text of the post is too long.", { text }, {
      onX:
        "Your Tweet text is too long. For more information on how Twitter determines text length see https://github.com/twitter/twitter-text."
    })
  }
  return undefined
}
