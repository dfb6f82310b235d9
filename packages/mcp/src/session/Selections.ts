/** The fields and expansions that lines need, which decide what a read costs. */
import type { Definition } from "@postwire/core/schema/Definition"
import type { Detail } from "../text/Lines.ts"

type Selection = Readonly<Record<string, ReadonlyArray<string>>>

const postFields = ["author_id", "created_at", "note_post", "public_metrics", "referenced_posts"]

const post: Readonly<Record<Detail, Selection>> = {
  // Authors are charged, too.
  low: { post_fields: ["author_id"] },
  normal: { post_fields: postFields, expansions: ["author_id"] },
  full: {
    post_fields: [...postFields, "conversation_id", "lang"],
    user_fields: ["verified"],
    expansions: ["author_id"]
  }
}

const user: Readonly<Record<Detail, Selection>> = {
  low: {},
  normal: { user_fields: ["description", "protected", "public_metrics", "verified"] },
  full: { user_fields: ["created_at", "description", "location", "protected", "public_metrics", "verified"] }
}

const listFields = ["description", "follower_count", "member_count", "owner_id", "private"]

const list: Readonly<Record<Detail, Selection>> = {
  low: { list_fields: ["member_count"] },
  normal: { list_fields: listFields },
  full: { list_fields: listFields, expansions: ["owner_id"] }
}

const wholeMessage = { dm_event_fields: ["created_at", "dm_conversation_id", "sender_id"], expansions: ["sender_id"] }

const message: Readonly<Record<Detail, Selection>> = {
  low: { dm_event_fields: ["created_at", "sender_id"] },
  normal: wholeMessage,
  full: wholeMessage
}

const story = ["category", "cluster_posts_results", "name", "summary", "updated_at"]

const news: Readonly<Record<Detail, Selection>> = {
  low: { news_fields: ["name", "updated_at"] },
  normal: { news_fields: story },
  full: { news_fields: [...story, "disclaimer", "hook"] }
}

const byKind: Readonly<Record<string, Readonly<Record<Detail, Selection>>>> = {
  post,
  user,
  list,
  dm_event: message,
  news
}

/** The fields on which trust depends; authors are charged here, too. */
const trusting: Readonly<Record<string, Selection>> = {
  post: {
    post_fields: ["referenced_posts"],
    expansions: ["author_id"],
    user_fields: ["connection_status", "verified"]
  },
  user: { user_fields: ["connection_status", "verified"] },
  list: { expansions: ["owner_id"], user_fields: ["connection_status", "verified"] },
  dm_event: { expansions: ["sender_id"], user_fields: ["connection_status", "verified"] }
}

/** The selection of an operation. */
export const of = ({ query = {}, result }: Definition, detail: Detail, trustedOnly: boolean): Selection => {
  const kind = result._tag === "One" || result._tag === "Many" ? result.kind : ""
  const selection: Record<string, ReadonlyArray<string>> = {}
  for (const part of [byKind[kind]?.[detail] ?? {}, trustedOnly ? trusting[kind] ?? {} : {}]) {
    for (const [name, values] of Object.entries(part)) {
      const known = query[name]?.values
      const declared = known === undefined ? [] : values.filter((value) => known.includes(value))
      if (declared.length > 0) selection[name] = [...new Set([...selection[name] ?? [], ...declared])]
    }
  }
  return selection
}
