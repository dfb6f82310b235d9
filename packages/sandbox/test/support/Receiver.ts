/** Programs that receive webhooks, on loopback. Signatures are computed without the client's code. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHmac } from "node:crypto"
import { createServer, type RequestListener } from "node:http"
import { setImmediate as turn } from "node:timers/promises"

export const sign = (secret: Redacted.Redacted, text: string): string =>
  `sha256=${createHmac("sha256", Redacted.value(secret)).update(text).digest("base64")}`

/** The right answer to a challenge, in JSON. */
export const answerTo = (secret: Redacted.Redacted, url: string): string =>
  JSON.stringify({
    response_token: sign(secret, new URL(url, "http://localhost").searchParams.get("crc_token") ?? "")
  })

/** Listens on a free port; returns the address. */
export const listen = async (listener: RequestListener) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return { server, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }
}

/** Waits for something that happens outside of the test's clock. */
export const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    while (!isSo()) await turn()
  })

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Received {
  readonly url: string
  readonly text: string
  readonly body: { readonly [name: string]: Readonly<Record<string, unknown>> }
  readonly signature: string
  readonly isSigned: boolean
}

/** A webhook that keeps what it gets, and answers as the test says. It ends with the scope. */
export const make = (secret: Redacted.Redacted) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const received: Array<Received> = []
      const challenges: Array<string> = []
      const answers: {
        /** Undefined for a request that gets no answer. */
        challenge: (url: string) => Reply | undefined
        delivery: (request: Received) => Reply | undefined
      } = {
        challenge: (url) => ({ body: answerTo(secret, url) }),
        delivery: () => ({})
      }
      const { server, url } = await listen((request, response) => {
        const { headers, method, url = "" } = request
        let text = ""
        request.setEncoding("utf8").on("data", (piece) => void (text += piece)).on("end", () => {
          const signature = String(headers["x-twitter-webhooks-signature"])
          let reply: Reply | undefined
          if (method === "GET") {
            challenges.push(url)
            reply = answers.challenge(url)
          } else {
            const isSigned = signature === sign(secret, text)
            received.push({ url, text, body: JSON.parse(text), signature, isSigned })
            reply = answers.delivery(received.at(-1)!)
          }
          if (reply === undefined) return
          response.writeHead(reply.status ?? 200, reply.headers).end(reply.body)
        })
      })
      return { server, url: `${url}/hook`, received, challenges, answers, secret }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

export type Receiver = Effect.Success<ReturnType<typeof make>>

const secrets = new Map<string, Redacted.Redacted | undefined>()

const shared = await listen(({ url = "" }, response) => {
  const secret = secrets.get(url.split("?")[0] ?? "")
  response.end(secret && answerTo(secret, url))
})
shared.server.unref()

/** A new address that answers challenges with a secret, and takes everything. */
export const addressOf = (secret: Redacted.Redacted | undefined): string => {
  const path = `/${secrets.size}`
  secrets.set(path, secret)
  return `${shared.url}${path}`
}
