/**
 * Names of parameters that people bring from the service's documentation and from other libraries. The compiler and the errors of
 * calls suggest the same names instead.
 */

/**
 * The names that stand for a foreign one, by its plain spelling. Only those that no rule finds: `tweet_fields`, `tweetFields` and
 * `tweet.fields` are `post_fields` spelled otherwise.
 */
export const foreignNames = {
  count: ["max_results"],
  limit: ["max_results"],
  media: ["media_ids"],
  poll: ["poll_options"],
  postid: ["id"],
  reply: ["in_reply_to_post_id"],
  userid: ["id", "target_user_id"]
} as const

/** A name without the differences between spellings. */
export const plainOf = (name: string): string => name.replace(/tweet/gi, "post").replace(/[._]/g, "").toLowerCase()

type Replaced<Name extends string, A extends string, B extends string> = Name extends
  `${infer Before}${A}${infer After}` ? `${Before}${B}${Replaced<After, A, B>}`
  : Name

/** The type of {@link plainOf}. */
type Plain<Name extends string> = Replaced<Replaced<Replaced<Lowercase<Name>, "_", "">, ".", "">, "tweet", "post">

/** Tests whether two names differ by no more letters than `Left` has. */
type IsNear<A extends string, B extends string, Left extends string> = A extends `${infer First}${infer As}`
  ? B extends `${First}${infer Bs}` ? IsNear<As, Bs, Left>
  : Left extends `-${infer Less}` ?
    true extends IsNear<As, B, Less> | IsNear<A, Tail<B>, Less> | IsNear<As, Tail<B>, Less> ? true : false
  : false
  : B extends "" ? true
  : Left extends `-${infer Less}` ? IsNear<A, Tail<B>, Less>
  : false

type Tail<Name extends string> = Name extends `${string}${infer Rest}` ? Rest : Name

type Near<Name extends string, Known, Left extends string> = Known extends string
  ? IsNear<Plain<Name>, Plain<Known>, Left> extends true ? Known : never
  : never

type Listed<Plain> = Plain extends keyof typeof foreignNames ? (typeof foreignNames)[Plain][number] : never

type First<A, B> = [A] extends [never] ? B : A

/** The names among `Known` that a name may stand for. */
export type Meant<Name extends string, Known> = First<
  Near<Name, Known, "">,
  First<
    Near<Name, Known, "-">,
    First<
      Name extends `${infer _}${infer _}${infer _}${infer _}` ? Near<Name, Known, "--"> : never,
      Listed<Plain<Name>> & Known
    >
  >
>
