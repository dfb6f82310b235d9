/** The owner of a record in the journal: a key belongs to one user and one content. */
import * as Effect from "effect/Effect"
import { Client } from "../../client/Client.ts"
import { dataOf } from "../../client/DataOf.ts"
import { invalidParameter } from "../../errors/Errors.ts"
import { getMe } from "../../operations/Users.ts"

/** The part of a record that names its owner. */
export interface Owned {
  /** A hash of what is published. */
  readonly contents: string
  readonly authorId: string
  /** The fingerprint of the credential that last published it. */
  readonly credential: string
}

/** A use of a key. */
export interface Use {
  readonly operation: string
  readonly key: string
  readonly user_auth: boolean | undefined
  /** For messages. */
  readonly noun: "thread" | "article"
  readonly contents: string
}

/** Finds the owner of a use, and refuses a key that belongs to another one. `after` is a post of the author from before. */
export const find = Effect.fnUntraced(function*(known: Owned | undefined, use: Use) {
  const { contents, key, noun, operation, user_auth } = use
  const credential = yield* (yield* Client).credential(user_auth ?? true)
  const refuse = (whose: string) => invalidParameter(operation, "key", `belongs to ${whose}. Choose another key`, key)
  if (known !== undefined && known.contents !== contents) {
    return yield* refuse(noun === "thread" ? "a thread of other posts" : "an article with other content")
  }
  if (known?.credential === credential && credential !== "none") return { ...known, after: undefined }
  const author = yield* dataOf("getMe", getMe({ user_fields: ["most_recent_post_id"], user_auth }))
  if (known !== undefined && known.authorId !== author.id) {
    return yield* refuse(`${noun === "thread" ? "a thread" : "an article"} of another user`)
  }
  return { contents, authorId: author.id, credential, after: author.most_recent_post_id }
})
