/** Looks up the object of an operation, or returns the error for it. */
import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import type { Reply } from "../projection/Reply.ts"
import type { List } from "../store/Lists.ts"
import type { Post } from "../store/Post.ts"
import type { Space } from "../store/Spaces.ts"
import type { User } from "../store/Users.ts"
import * as Caller from "./Caller.ts"
import type { Call } from "./Handler.ts"

type About = Call<{ readonly id: string }>

/** A listing about a user whose posts the caller may see. */
export const ofUser = (
  { caller, parameters: { id }, store }: About,
  list: (user: User) => Reply
): Effect.Effect<Reply> => {
  const user = store.users.byId(id)
  const named = { kind: "user", id, parameter: "id" }
  return Effect.succeed(
    user === undefined || user.suspended
      ? { errors: [unseenUser(user, named)] }
      : store.users.isOpenTo(id, caller)
      ? list(user)
      : { errors: [Problem.notAuthorized(named)] }
  )
}

/** A listing about a post that the caller may see. */
export const ofPost = (call: About, list: (post: Post) => Reply): Effect.Effect<Reply> => {
  const [post] = call.store.posts.byIds([call.parameters.id], call.caller)
  return Effect.succeed(
    post === undefined ? { errors: [unseen(call, call.parameters.id, "id")] } : list(post)
  )
}

/** A listing about a list that the caller may see. */
export const ofList = (call: About, list: (list: List) => Reply): Effect.Effect<Reply> => {
  const { id } = call.parameters
  const found = seenList(call, id)
  return Effect.succeed(
    found === undefined ? { errors: [Problem.notFound({ kind: "list", id, parameter: "id" })] } : list(found)
  )
}

/** A list that the caller may see: a private one is visible to its owner only. */
const seenList = ({ caller, store }: Pick<Call<unknown>, "caller" | "store">, id: string): List | undefined => {
  const found = store.lists.byId(id)
  return found?.private === true && found.owner_id !== caller.userId ? undefined : found
}

/** A list owned by the caller. */
export const ownList = Effect.fnUntraced(function*(call: About) {
  const { userId } = yield* Caller.user(call.caller)
  const { id } = call.parameters
  const list = seenList(call, id)
  if (list === undefined) return yield* Problem.missing(Problem.notFound({ kind: "list", id, parameter: "id" }))
  if (list.owner_id !== userId) return yield* Problem.forbidden("You are not the owner of this List.")
  return list
})

/** The caller and the list to follow or pin. */
export const listFor = Effect.fnUntraced(function*(call: Call<{ readonly list_id: string }>) {
  const { userId } = yield* Caller.user(call.caller)
  const { list_id: id } = call.parameters
  const list = seenList(call, id)
  if (list === undefined) return yield* Problem.missing(Problem.notFound({ kind: "list", id, parameter: "list_id" }))
  return { list, userId }
})

/** A listing about a space. */
export const ofSpace = <E>(
  { now, parameters: { id }, store }: About,
  list: (space: Space) => Effect.Effect<Reply, E>
): Effect.Effect<Reply, E> => {
  const [space] = store.spaces.byIds([id], now)
  return space === undefined
    ? Effect.succeed({ errors: [Problem.notFound({ kind: "space", id, parameter: "id" })] })
    : list(space)
}

/** The error for a post that does not exist or that the caller may not see. */
export const unseen = ({ store }: Pick<Call<unknown>, "store">, id: string, parameter: string): Problem.Entry =>
  (store.posts.byId(id) === undefined ? Problem.notFound : Problem.notAuthorized)({ kind: "post", id, parameter })

/** The error for a user who does not exist or is suspended. */
export const unseenUser = (user: User | undefined, named: Problem.Named): Problem.Entry =>
  (user === undefined ? Problem.notFound : Problem.suspended)(named)

/** The post that an action applies to. */
export const post = (
  { caller, store }: Pick<Call<unknown>, "caller" | "store">,
  id: string,
  parameter: string
): Effect.Effect<Post, Problem.Problem> => {
  const [found] = store.posts.byIds([id], caller)
  if (found !== undefined) return Effect.succeed(found)
  return Effect.fail(
    store.posts.byId(id) === undefined
      ? Problem.missing(Problem.notFound({ kind: "post", id, parameter }))
      : Problem.forbidden("You are not authorized to see this post.")
  )
}

/** The caller and the user that an action applies to. */
export const other = Effect.fnUntraced(function*(
  { caller, parameters: { target_user_id: id }, store }: Call<{ readonly target_user_id: string }>
) {
  const { userId } = yield* Caller.user(caller)
  const target = store.users.byId(id)
  if (target === undefined) {
    return yield* Problem.missing(Problem.notFound({ kind: "user", id, parameter: "target_user_id" }))
  }
  if (target.suspended) return yield* Problem.forbidden(`User has been suspended: [${id}].`)
  if (id === userId) {
    return yield* Problem.invalidRequest("You cannot do this to yourself.", { target_user_id: id })
  }
  return { userId, target }
})
