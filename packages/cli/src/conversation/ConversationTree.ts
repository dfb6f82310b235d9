/** A conversation as a tree of replies that fits the terminal. */
import type { Conversation, Node } from "@postwire/core/workflows/Conversation"
import * as Text from "../terminal/Text.ts"

/** The least width of texts, in columns. */
const narrowest = 44

export const render = ({ nodes }: Conversation, columns: number): ReadonlyArray<string> => {
  const guides = guidesOf(nodes)
  const levels = Math.max(1, Math.floor((columns - narrowest) / 3))
  return nodes.flatMap((node, i) => {
    const { depth } = node
    const goesOn = guides[i] ?? []
    // Of deeper branches, the last levels are drawn.
    const from = Math.max(1, depth - levels + 1)
    const above = goesOn.slice(from, depth).map((more) => more ? "│  " : "   ").join("")
    const cut = from > 1 ? "… " : ""
    const first = depth === 0 ? "" : `${cut}${above}${goesOn[depth] === true ? "├─ " : "└─ "}`
    const rest = depth === 0 ? "" : `${cut === "" ? "" : "  "}${above}${goesOn[depth] === true ? "│  " : "   "}`
    const below = `${rest}${node.replies > 0 ? "│ " : "  "}`.trimEnd()
    const width = Math.max(1, columns - Text.width(rest))
    return [
      `${first}${Text.cut(headOf(node), width)}`,
      ...textOf(node, Math.max(1, width - 2)).map((line) => `${below.padEnd(rest.length + 2)}${line}`)
    ]
  })
}

/** For each node, whether more follows at each level from the root to its own. */
const guidesOf = (nodes: ReadonlyArray<Node>): ReadonlyArray<ReadonlyArray<boolean>> => {
  const open: Array<boolean> = []
  const guides: Array<ReadonlyArray<boolean>> = []
  for (const { depth } of nodes.toReversed()) {
    guides.push(Array.from({ length: depth + 1 }, (_, level) => open[level] === true))
    open.length = depth + 1
    open[depth] = true
  }
  return guides.reverse()
}

const headOf = ({ author, depth, missing, post, unseen }: Node): string => {
  if (post === undefined) return missing === undefined ? "missing" : missing.reason
  const who = author === undefined ? `user ${post.author_id ?? "unknown"}` : `@${author.username}`
  const when = post.created_at === undefined ? "" : `  ${Text.minute(post.created_at)}`
  const more = unseen === 0 ? "" : `  ${Text.count(unseen)} more ${unseen === 1 ? "reply" : "replies"} not shown`
  return Text.oneLine(`${who}${when}${depth === 0 ? `  ${post.id}` : ""}`) + more
}

const textOf = ({ missing, post }: Node, width: number): ReadonlyArray<string> => {
  const text = Text.oneLine(post?.text ?? missing?.detail ?? "")
  return text === "" ? [] : Text.wrap(text, width)
}
