import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Query from "../src/query/Query.ts"

/** The tree as a string with a group around each combination. */
const shown = (node: Query.Node): string => {
  switch (node._tag) {
    case "All":
      return `(${node.nodes.map(shown).join(" ")})`
    case "Any":
      return `(${node.nodes.map(shown).join(" OR ")})`
    case "Not":
      return `-${shown(node.node)}`
    case "Text":
      return `${node.isQuoted ? `"${node.text}"` : node.text}${node.within === undefined ? "" : `~${node.within}`}`
    case "Operation":
      return `${node.name}=${JSON.stringify(node.value)}`
    default:
      return `${node._tag}=${node.name}`
  }
}

const read = (read: Result.Result<Query.Query, Query.QuerySyntaxError>): string =>
  Result.match(read, {
    onFailure: ({ end, message, position, source }) => `${source.slice(position, end)}: ${message}`,
    onSuccess: ({ node }) => shown(node)
  })

const parse = (source: string, dialect: Query.Dialect = "rule") => read(Query.parse(source, { dialect }))
const check = (source: string, dialect: Query.Dialect = "rule") => read(Query.check(source, { dialect }))

describe("Query.parse", () => {
  it("binds spaces before OR, and groups before both", () => {
    for (
      const [source, tree] of [
        ["apple OR iphone ipad", "(apple OR (iphone ipad))"],
        ["ipad iphone OR android", "((ipad iphone) OR android)"],
        ["iphone (ipad OR android) -windows", "(iphone (ipad OR android) -windows)"],
        ["well-known OR don't", "(well-known OR don't)"],
        ["#＃", "#＃: #＃ is not a hashtag"],
        ["#Tag ＃型 $ACME $brk.b @Ada", "(Hashtag=Tag Hashtag=型 Cashtag=ACME Cashtag=brk.b Mention=Ada)"]
      ] as const
    ) assert.strictEqual(parse(source), tree, source)
  })

  it("parses operators in both namings", () => {
    for (
      const [source, tree] of [
        ["from:@ada", "from=\"ada\""],
        ["retweets_of:ada OR REPOSTS_OF:ada", "(reposts_of=\"ada\" OR reposts_of=\"ada\")"],
        ["retweets_of_tweet_id:007", "reposts_of_post_id=\"7\""],
        ["is:retweet is:Repost has:video_link", "(is=\"repost\" is=\"repost\" has=\"videos\")"],
        ["bio:\"data engineer\"", "bio=\"data engineer\""],
        [
          "followers_count:10..200 tweets_count:5",
          "(followers_count={\"least\":10,\"most\":200} posts_count={\"least\":5})"
        ],
        ["context:47.*", "context={\"domain\":\"47\"}"],
        [
          "point_radius:[2.355128 48.861118 16km] cat",
          "(point_radius={\"longitude\":2.355128,\"latitude\":48.861118,\"kilometres\":16} cat)"
        ],
        ["bounding_box:[-1 2 3 4.5]", "bounding_box={\"west\":-1,\"south\":2,\"east\":3,\"north\":4.5}"],
        [
          "embedding:\"climate change\" embedding_threshold:.45",
          "(embedding=\"climate change\" embedding_threshold=0.45)"
        ],
        ["\"social media\"~5 sample:15", "(\"social media\"~5 sample=15)"]
      ] as const
    ) assert.strictEqual(parse(source), tree, source)
  })

  it("reports errors with their positions", () => {
    for (
      const [source, problem] of [
        ["", ": The rule is empty"],
        ["cat (dog", "(: This ( has no )"],
        ["cat \"dog ", "\"dog : This \" has no partner"],
        ["cat form:ada", "form:: form: is not an operator (did you mean from:?)"],
        ["cat from:a-b", "a-b: a-b is not a username"],
        ["cat list:1", "list:: list: is only available in searches"],
        ["cat is:nice dog", "nice: is: must be one of reply, repost, quote, verified, nullcast, retweet, not nice"],
        ["cat sample:0", "0: 0 is not a whole number from 1 to 100"],
        ["cat followers_count:9..1", "9..1: 9..1 is not a number or a range such as 10..100"],
        ["\"a b\"~7", "~7: A ~ after a phrase needs a number from 1 to 6"],
        ["point_radius:[1 2 90mi]", "[1 2 90mi]: [1 2 90mi] is not a circle such as [2.355128 48.861118 16km]"],
        ["-cat -dog", "-cat -dog: The rule only excludes posts; it needs at least one term to search for"]
      ] as const
    ) assert.strictEqual(parse(source), problem, source)
    assert.strictEqual(parse("cat bio:ada", "search"), "bio:: bio: is only available in rules of the filtered stream")
    // Searches have no distance: the text after a phrase is a separate term.
    assert.strictEqual(parse("\"a b\"~7", "search"), "(\"a b\" ~7)")
  })
})

describe("Query.check", () => {
  it("refuses and accepts the same queries as the service", () => {
    const beside = (noun: string) => `This matches too much for a ${noun}: combine it with a word, a user or a hashtag`
    const group = "A group cannot be negated: put a - before each of its parts"
    for (
      const [source, answer] of [
        [
          "\"X data\" has:mentions (has:media OR has:links)",
          "(\"X data\" has=\"mentions\" (has=\"media\" OR has=\"links\"))"
        ],
        ["#nowplaying -is:nullcast", "(Hashtag=nowplaying -is=\"nullcast\")"],
        ["skiing -snow -day", "(skiing -snow -day)"],
        ["has:media", `has:media: ${beside("rule")}`],
        ["-cat (has:links OR is:retweet)", `has:links: ${beside("rule")}`],
        ["embedding_threshold:0.4", `embedding_threshold:0.4: ${beside("rule")}`],
        ["skiing -(snow OR day)", `-(snow OR day): ${group}`],
        ["cat -sample:5", "sample:5: sample: cannot be negated"],
        ["cat -embedding:\"a dog\"", "embedding:\"a dog\": embedding: cannot be negated"],
        ["cat is:nullcast", "is:nullcast: is:nullcast must be negated: -is:nullcast"],
        ["x".repeat(2_050), "xx: A rule has at most 2,048 characters, not 2,050"]
      ] as const
    ) assert.strictEqual(check(source), answer, source)
    assert.strictEqual(check("lang:en", "search"), `lang:en: ${beside("query")}`)
  })
})
