/** What a body of parts holds, by name, read without our own code. */
export const partsOf = (contentType: string, body: string): Readonly<Record<string, string>> => {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(contentType)?.[1]
  const [preamble, ...parts] = body.split(`--${boundary}`)
  if (boundary === undefined || preamble !== "" || parts.pop() !== "--\r\n") throw new Error("no body of parts")
  return Object.fromEntries(parts.map((part) => {
    const [, name, content] = /^\r\ncontent-disposition: form-data; name="(\w+)"[^]*?\r\n\r\n([^]*)\r\n$/.exec(part) ??
      []
    if (name === undefined || content === undefined) throw new Error(`no part: ${part}`)
    return [name, content]
  }))
}
