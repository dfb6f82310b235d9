/** Community notes on posts: notes on previously published media, and suggestions for note requests. */
import type { Notes } from "../store/Post.ts"
import type { Random } from "../text/random.ts"

// The shares among posts with media, and among all posts.
const matchedShare = 0.2
const requestedShare = 0.01

/** The notes on a post; rarely any. */
export const notesOn = (hasMedia: boolean, random: Random): Notes => ({
  ...(hasMedia && random.chance(matchedShare) && {
    matched_media_notes: [{ note_id: idOf(random), match_status: random.pick(["matched", "unmatched"]) }]
  }),
  ...(random.chance(requestedShare) && {
    note_request_suggestions: [{
      suggestion_id: idOf(random),
      suggestion: "Say where this comes from.",
      source_link: `https://example.com/sources/${random.below(1_000)}`
    }]
  })
})

const idOf = (random: Random): string => String(10 ** 15 + random.below(10 ** 9))
