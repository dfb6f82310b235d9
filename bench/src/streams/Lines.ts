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

/** As many digits as an id has. */
export const idLength = 19

/** Stands where the id is to be written. */
export const placeholder = "#".repeat(idLength)

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

/** A thousand lines with the field names of a wire, and placeholders. */
export const make = (wire: Wire.Wire["name"]): ReadonlyArray<string> => {
  const inWords = Wire.named[wire].fromNeutral(ResponseDecoder.envelope(Response.one(Post)))
  return Array.from({ length: 1_000 }, (_, i) => {
    const body = inWords({ data: post(i), includes: { users: [user] } })
    const rules = [{ id: "1273026480692322304", tag: "cats with images" }]
    return `${JSON.stringify({ ...Object(body), matching_rules: rules })}\r\n`
  })
}
