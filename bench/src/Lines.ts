/** Lines of a stream as a service sends them: posts with who wrote them and the rules that they match, some 1.2 kB each. */
import { Post } from "@postwire/core/schema/models/Post"
import * as Response from "@postwire/core/schema/Response"
import * as ResponseDecoder from "@postwire/core/wire/ResponseDecoder"
import * as Wire from "@postwire/core/wire/Wire"

const texts = [
  "Look at this cute cat! It sat on the mat all day and #looked at me https://t.co/abcdefghij",
  "Great news everyone 🎉 the release is out, see @effect for what is new in it",
  "今日はとても良い天気です。散歩に行きましょう #天気"
]

/** Stands where an id is to be written, and has as many digits. */
const placeholder = "#".repeat(19)

const post = (i: number) => ({
  id: placeholder,
  text: texts[i % 7 === 0 ? 2 : i % 3 === 0 ? 1 : 0],
  edit_history_post_ids: [placeholder],
  author_id: "9876543210",
  created_at: "2026-01-15T10:35:00.000Z",
  lang: "en",
  conversation_id: placeholder,
  possibly_sensitive: false,
  reply_settings: "everyone",
  public_metrics: {
    repost_count: 0,
    reply_count: 0,
    like_count: 3,
    quote_count: 0,
    bookmark_count: 0,
    impression_count: 120
  },
  entities: {
    urls: [{
      start: 67,
      end: 90,
      url: "https://t.co/abcdefghij",
      expanded_url: "https://example.com/some/long/path/of/an/article",
      display_url: "example.com/some/long/path"
    }],
    hashtags: [{ start: 49, end: 56, tag: "looked" }]
  },
  ...(i % 4 === 0 ? { referenced_posts: [{ type: "quoted", id: "1780000000000000000" }] } : {}),
  ...(i % 3 === 0
    ? {
      context_annotations: [{
        domain: { id: "46", name: "Business Taxonomy", description: "Categories within Brand Verticals" },
        entity: { id: "1557696940178935808", name: "Gaming Business" }
      }]
    }
    : {})
})

const user = {
  id: "9876543210",
  name: "Cat Person",
  username: "catperson",
  created_at: "2015-01-01T00:00:00.000Z",
  verified: false,
  description: "I like cats and other animals, too",
  public_metrics: { followers_count: 12, following_count: 8, post_count: 90, listed_count: 0 }
}

const lines = 1_000

/** A thousand lines with the field names of a wire, in HTTP chunks, with placeholders; each post matches so many rules. */
export const framed = (wire: Wire.Wire["name"], rules: number, isLineByLine: boolean): Buffer => {
  const inWords = Wire.named[wire].fromNeutral(ResponseDecoder.envelope(Response.one(Post)))
  const matching_rules = Array.from({ length: rules }, (_, i) => ({
    id: String(1273026480692322304n + BigInt(i)),
    tag: "cats with images"
  }))
  const texts = Array.from({ length: lines }, (_, i) => {
    const body = inWords({ data: post(i), includes: { users: [user] } })
    return Buffer.from(`${JSON.stringify({ ...Object(body), matching_rules })}\r\n`)
  })
  const all = Buffer.concat(texts)
  const size = 64 * 1024
  const blocks = isLineByLine
    ? texts
    : Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.subarray(i * size, (i + 1) * size))
  return Buffer.concat(
    blocks.flatMap((block) => [Buffer.from(`${block.length.toString(16)}\r\n`), block, Buffer.from("\r\n")])
  )
}

/** Gives every post an id of its own; one that a block cuts keeps its placeholder. */
export const filler = (template: Buffer): () => Buffer => {
  const places: Array<readonly [at: number, line: number]> = []
  const before = `"data":{"id":"`
  for (let at = template.indexOf(before), line = 0; at >= 0; at = template.indexOf(before, at + 1), line++) {
    const id = at + before.length
    if (template.toString("latin1", id, id + placeholder.length) === placeholder) places.push([id, line])
  }
  let sent = 0
  return () => {
    const copy = Buffer.from(template)
    for (const [at, line] of places) copy.write(String(1_800_000_000_000_000_000n + BigInt(sent + line)), at, "latin1")
    sent += lines
    return copy
  }
}
