/** Where the catalogue differs from the service's published documents, and why that stays. */
import type { Wire } from "@postwire/core/WireNames"
import type { Accepted } from "./Drift.ts"

/** The differences of one reason. */
const because = (
  reason: string,
  ...differences: ReadonlyArray<string | Omit<Accepted, "reason">>
): ReadonlyArray<Accepted> =>
  differences.map((entry) => ({ ...(typeof entry === "string" ? { difference: entry } : entry), reason }))

/** Differences from documents in the words of one wire only. */
const on = (wire: Wire, ...groups: ReadonlyArray<ReadonlyArray<Accepted>>): ReadonlyArray<Accepted> =>
  groups.flat().map((entry) => ({ ...entry, wire }))

/** Every difference that is accepted. One that is no longer there is reported as stale. */
export const acceptedDrift: ReadonlyArray<Accepted> = [
  ...because(
    "Blocking is in the specification; the service's documents leave it out.",
    "route * /2/users/{}/blocking*"
  ),
  ...because(
    "The specification gives no bound; what is beyond the service's is its to refuse.",
    "body media.*maxItems",
    "body participant_ids minItems",
    "body poll.duration_minutes m*imum",
    "body poll.options m*",
    { difference: "query max_results m*imum", operations: ["getFollowedLists"] },
    { difference: "query query maxLength", operations: ["searchSpaces"] }
  ),
  ...because(
    "The bound is the specification's.",
    "body *text maxLength",
    "body participant_ids maxItems",
    { difference: "query query maxLength", operations: ["get*PostsCount", "search*Posts"] }
  ),
  ...because(
    "Ids that are not numeric have one rule, which is wider than the service's.",
    { difference: "path segment 1 pattern", operations: ["*DirectMessage*", "getSpace*"] },
    { difference: "query ids pattern", operations: ["getSpaces"] }
  ),
  ...because(
    "The specification takes an app's token, or a user's where the service may not.",
    { difference: "credential app", operations: ["getLikedPosts", "getLikingUsers"] },
    { difference: "credential user", operations: ["get*PostsCount", "searchAllPosts"] }
  ),
  ...because(
    "What an answer is known by must be there.",
    "result *.id required",
    "result media.media_key required"
  ),
  ...because("Refusals of before may have it.", "result problem.message"),
  ...because("These have no values.", "query search_count.fields"),
  ...because("Without a state all spaces are searched.", { difference: "query state=all", change: "new" }),
  ...because("A token is passed back as it came.", "query pagination_token minLength"),
  ...because("An answer of a write passes what it has besides untyped.", {
    difference: "result data.*",
    change: "new"
  }),
  ...on(
    "x-2026-02",
    because(
      "That document says of fewer ids that they are digits.",
      { difference: "path segment 1 pattern", operations: ["*"] }
    ),
    because("Members of problems that nothing depends on pass untyped.", {
      difference: "result problem.*",
      change: "new"
    }),
    because(
      "The service answers with them; that document leaves them out.",
      "result dm_event.entities",
      "result post.article",
      "result post.card_uri",
      "result post.media_metadata",
      "result space.topic_ids",
      "result user.confirmed_email",
      "result user.is_identity_verified",
      "result user.parody",
      "result user.subscription",
      "result user.verified_followers_count"
    ),
    because("A place has nothing but its id.", "body geo.place_id required"),
    because(
      "That document is older than these parameters.",
      { difference: "body folder_id", change: "gone", operations: ["bookmark"] },
      { difference: "body made_with_ai", change: "gone", operations: ["createPost"] },
      { difference: "body media.*", change: "gone", operations: ["createPost"] },
      { difference: "body paid_partnership", change: "gone", operations: ["createPost"] },
      { difference: "query pagination_token", change: "gone", operations: ["getSpacePosts"] }
    ),
    because("A token is passed back as it came.", "query pagination_token maxLength")
  ),
  ...on(
    "x",
    because(
      "Answers in the words of February have it, which are read on every wire.",
      "result dm_event.cashtags",
      "result dm_event.hashtags",
      "result dm_event.mentions",
      "result dm_event.urls",
      "result place.geo.geometry",
      "result *entities*.annotations",
      "result post.note_post.entities.urls[].*",
      "result space.topics"
    ),
    because("The service refuses ids that are none.", "body reply.exclude_reply_user_ids pattern"),
    because("The specification gives bookmarks to OAuth 2.0 user tokens only.", {
      difference: "credential oauth1",
      change: "new",
      operations: ["getBookmarks"]
    }),
    because(
      "Not declared yet: new in August, passed as an unlisted field and read untyped.",
      { difference: "query post.fields=*", change: "new" },
      { difference: "query user.fields=*", change: "new" },
      { difference: "result post.*", change: "new" },
      { difference: "result user.*", change: "new" }
    )
  )
]
