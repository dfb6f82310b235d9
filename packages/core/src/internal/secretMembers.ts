/** Members of responses that hold secrets: the tokens of a backup of private keys, and the token of a conversation. */
const secretMembers = /juicebox_config|conversation_token/

/** The replacement of their values in texts. */
export const marker = "<redacted>"

/** Tests whether a member, given by its name or its path, holds secrets. */
export const isSecret = (path: string): boolean => secretMembers.test(path)

/** The part of a text before the first of these members: it may be cut or escaped, so that the member's end is not known. */
export const before = (text: string): string => {
  const at = text.search(secretMembers)
  return at === -1 ? text : text.slice(0, at) + marker
}

/** A copy of a value whose own members hold no secrets. */
export const without = (value: unknown): unknown =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, isSecret(name) ? marker : member]))
