/** Emoji of several characters, which are shown as one. */

// An emoji, or several that are joined: at most four are.
const candidate =
  /\p{RI}\p{RI}|[#*0-9]\uFE0F?\u20E3|\p{Emoji}(?:\p{EMod}|\uFE0F|[\u{E0020}-\u{E007E}]{1,6}\u{E007F})?(?:\u200D\p{Emoji}(?:\p{EMod}|\uFE0F)?){0,3}/uy

// By what they are made of. Of flags, and of what is joined, only those are emoji that are listed.
const simple =
  /^(?:[#*0-9]\uFE0F?\u20E3|\p{Emoji_Modifier_Base}\p{EMod}|(?![#*0-9])(?=\p{Emoji})\P{Emoji_Presentation}\uFE0F)$/u

const composed = /\u200D|\p{RI}|\u{E007F}/u

let listed: RegExp | undefined

// As a literal it would be read with this module, and would keep a Node that is too old from being told so. Reading it takes
// some 30 ms.
const isListed = (text: string): boolean => (listed ??= new RegExp(String.raw`^\p{RGI_Emoji}$`, "v")).test(text)

/** Where an emoji of several characters ends that begins at a position, if one does. */
export const emojiEnd = (text: string, at: number): number | undefined => {
  candidate.lastIndex = at
  let emoji = candidate.exec(text)?.[0]
  while (emoji !== undefined) {
    if (simple.test(emoji) || composed.test(emoji) && isListed(emoji)) return at + emoji.length
    const shorter = emoji.replace(last, "")
    emoji = shorter === emoji ? undefined : shorter
  }
  return undefined
}

const last = /(?:\p{EMod}|\uFE0F|\u200D\p{Emoji})$/u
