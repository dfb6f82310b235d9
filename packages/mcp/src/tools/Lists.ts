import {
  getFollowedLists,
  getList,
  getListFollowers,
  getListMembers,
  getListMemberships,
  getListPosts,
  getOwnedLists,
  getPinnedLists
} from "@postwire/core/operations/Lists"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

const ofUser = {
  owned: getOwnedLists.definition,
  followed: getFollowedLists.definition,
  memberships: getListMemberships.definition
}

const ofList = {
  list: getList.definition,
  posts: getListPosts.definition,
  members: getListMembers.definition,
  followers: getListFollowers.definition
}

/** `lists`: the lists of a user, and what is in one. */
export const tool = Tool.make({
  name: "lists",
  title: "Read lists",
  description:
    "Reads the lists of a user (owned, followed, memberships; pinned are the account's), or one list by id (list, posts, members, followers).",
  toolset: "lists",
  effect: "read",
  operations: [...Object.values(ofUser), ...Object.values(ofList), getPinnedLists.definition],
  inputs: {
    show: Parameters.choice(["owned", "followed", "memberships", "pinned", "list", "posts", "members", "followers"]),
    id: Parameters.id,
    user: Parameters.text(64),
    ...Inputs.listing
  },
  run: ({ detail, id, rows, show = id === undefined ? "owned" : "posts", user }) =>
    Effect.gen(function*() {
      if (show === "pinned") return yield* Page.read(getPinnedLists.definition, {}, { detail, rows })
      if (show === "owned" || show === "followed" || show === "memberships") {
        return yield* Page.read(ofUser[show], { id: yield* Page.userIdOf(user) }, { detail, rows })
      }
      if (id === undefined) {
        return yield* new Refused({
          reason: `id: is required to show ${show}.`,
          advice: "Find the list's id with show: owned or show: followed."
        })
      }
      return yield* Page.read(ofList[show], { id }, { detail, rows })
    })
})
