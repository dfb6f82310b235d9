import { getUsersFollowers, getUsersFollowing } from "@postwire/core/operations/Follows"
import { getLikedPosts } from "@postwire/core/operations/Likes"
import { getUsersMentions, getUsersPosts } from "@postwire/core/operations/Timelines"
import { getMe, getUser } from "@postwire/core/operations/Users"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

const about = {
  posts: getUsersPosts.definition,
  mentions: getUsersMentions.definition,
  likes: getLikedPosts.definition,
  followers: getUsersFollowers.definition,
  following: getUsersFollowing.definition
}

/** `read_user`: a profile, and what belongs to it. */
export const tool = Tool.make({
  name: "read_user",
  title: "Read a user",
  description:
    "Reads a user by handle or id: the profile, or their posts, mentions, likes, followers, or whom they follow.",
  toolset: "users",
  effect: "read",
  operations: [getUser.definition, ...Object.values(about)],
  inputs: {
    user: Parameters.text(64),
    show: Parameters.choice(["profile", "posts", "mentions", "likes", "followers", "following"]),
    ...Inputs.listing
  },
  hints: { user: "Default: the account itself" },
  run: ({ detail, rows, show = "profile", user }) =>
    Effect.gen(function*() {
      if (show === "profile") {
        return yield* user === undefined
          ? Page.read(getMe.definition, {}, { detail })
          : Page.read(
            getUser.definition,
            /^\d{1,19}$/.test(user) ? { id: user } : { username: user.replace(/^@/, "") },
            { detail }
          )
      }
      return yield* Page.read(about[show], { id: yield* Page.userIdOf(user) }, { detail, rows })
    })
})
