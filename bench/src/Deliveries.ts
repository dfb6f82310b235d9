/** Sends deliveries as the service does, from a process of its own: signed, each with an id of its own, over connections that stay. */
import { createHmac } from "node:crypto"
import { connect, type Socket } from "node:net"
import * as Child from "./Child.ts"

/** The consumer secret of the app. */
export const secret = "S".repeat(50)

/** So many deliveries, over so many connections, to a port of this machine. */
export interface Burst {
  readonly port: number
  readonly count: number
  readonly inFlight: number
}

/** Each number comes twice. */
const metrics = (counts: Readonly<Record<string, number>>): object =>
  Object.fromEntries(Object.entries(counts).flatMap(([name, count]) => [[name, count], [`${name}_str`, String(count)]]))

const user = (id: string, username: string) => ({
  id,
  username,
  name: username,
  created_at: "2020-01-01T00:00:00.000Z",
  verified: false,
  description: "A lighthouse keeper, who writes about ships, storms and engines.",
  public_metrics: metrics({ followers_count: 1200, following_count: 80, tweet_count: 700, listed_count: 3 })
})

/** A mention, as the service has it. */
const bodyOf = (uuid: number): string => {
  const id = String(1_900_000_000_000_000_000n + BigInt(uuid))
  return JSON.stringify({
    data: {
      event_uuid: String(uuid),
      filter: { user_id: String(uuid % 500) },
      event_type: "post.mention.create",
      tag: "mentions",
      payload: {
        id,
        text: "@lighthouse are you open on Sunday? We would like to come with the whole class, some 25 children.",
        author_id: "77",
        conversation_id: id,
        in_reply_to_user_id: "42",
        created_at: new Date().toISOString(),
        lang: "en",
        edit_history_tweet_ids: [id],
        entities: { mentions: [{ start: 0, end: 11, username: "lighthouse", id: "42" }] },
        public_metrics: metrics({
          like_count: 0,
          reply_count: 0,
          retweet_count: 0,
          quote_count: 0,
          bookmark_count: 0,
          impression_count: 1
        })
      }
    },
    includes: { users: [user("77", "ada"), user("42", "lighthouse")] }
  })
}

const requestOf = (uuid: number): string => {
  const body = bodyOf(uuid)
  const signature = createHmac("sha256", secret).update(body).digest("base64")
  return [
    "POST /hook HTTP/1.1",
    "host: localhost",
    "content-type: application/json",
    `x-twitter-webhooks-signature: sha256=${signature}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "",
    body
  ].join("\r\n")
}

/** Sends requests one after the other, until there are none left. The answers have no body. */
const sendAll = (socket: Socket, next: () => string | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const send = () => {
      const request = next()
      if (request === undefined) return resolve()
      socket.write(request)
    }
    let answer = ""
    socket.setEncoding("latin1").removeAllListeners("data").removeAllListeners("error").on("error", reject).on(
      "data",
      (piece: string) => {
        answer += piece
        if (!answer.endsWith("\r\n\r\n")) return
        if (!answer.startsWith("HTTP/1.1 200 ")) return reject(new Error(answer))
        answer = ""
        send()
      }
    )
    send()
  })

if (process.argv[1] === import.meta.filename) {
  const sockets: Array<Socket> = []
  // A store knows those of an earlier sender.
  let uuid = Date.now() * 1_000
  Child.answer("ready", async ({ count, inFlight, port }: Burst) => {
    while (sockets.length < inFlight) sockets.push(connect(port, "127.0.0.1").setNoDelay())
    const requests = Array.from({ length: count }, () => requestOf(++uuid))
    const next = () => requests.pop()
    const begun = performance.now()
    await Promise.all(sockets.slice(0, inFlight).map((socket) => sendAll(socket, next)))
    return performance.now() - begun
  })
}
