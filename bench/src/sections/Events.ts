/** Events: deliveries through a webhook, beside a server that checks the signature and parses the body. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { existsSync } from "node:fs"
import * as Http from "node:http"
import { join } from "node:path"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import { type Burst, secret } from "../Deliveries.ts"
import * as Rounds from "../Rounds.ts"
import { withRedis } from "./Stores.ts"

/** Deliveries, of which so many are under way at a time. */
interface Batch extends Rounds.Task {
  readonly inFlight: number
}

/** A server that a sender of its own sends deliveries to. `handled` is called with each event. */
const serving =
  (listenerOf: (settings: Rounds.Settings, handled: () => void) => Promise<Http.RequestListener>) =>
  async (settings: Rounds.Settings) => {
    let left = 0
    let done = () => {}
    const listener = await listenerOf(settings, () => {
      if (--left === 0) done()
    })
    const server = Http.createServer(listener).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    if (typeof address !== "object" || address === null) throw new Error("a port has an address")
    const sender = await Child.start<Burst, number>("Deliveries.ts")
    return async ({ count, inFlight }: Batch): Promise<void> => {
      left = count
      const handled = new Promise<void>((resolve) => done = resolve)
      await sender.ask({ port: address.port, count, inFlight })
      await handled
    }
  }

const postwire = (storeOf: (settings: Rounds.Settings) => string | undefined) =>
  serving(async (settings, handled) => {
    const [{ webhook }] = await Checkout.modules(settings.folder)("@postwire/node/Webhook")
    const store = storeOf(settings)
    return webhook({ secrets: secret, onEvent: handled, ...(store === undefined ? {} : { store }) }).listener
  })

export const contenders: Rounds.Contenders<Batch> = {
  bare: serving(async (_, handled) => (request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece)).on("end", () => {
      const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
      const signature = Buffer.from(String(request.headers["x-twitter-webhooks-signature"]))
      const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("base64")}`)
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
        return response.writeHead(401).end()
      }
      const { data } = JSON.parse(body.toString())
      response.writeHead(200, { "content-length": 0 }).end()
      if (data !== undefined) handled()
    })
  }),
  postwire: postwire(() => undefined),
  "postwire SQLite": postwire(({ place }) => join(place, "events.db")),
  "postwire Redis": postwire(({ url }) => url)
}

const run = ({ before, ...others }: Rounds.Bench, seconds: number): Promise<void> =>
  withRedis(async (url) => {
    const isComparable = before !== undefined && existsSync(join(before.folder, "packages/node/src/Webhook.ts"))
    const bench = { ...others, before: isComparable ? before : undefined }
    const names = Rounds.select(bench, ["bare"], [
      "postwire",
      "postwire SQLite",
      ...url === undefined ? [] : ["postwire Redis"]
    ])
    const start = (name: string) => Rounds.start<Batch>(bench, "Events", name, { url: url ?? "" })
    await Rounds.withAll(names, start, (contenders) =>
      Rounds.compare(bench, {
        section: "events",
        contenders,
        scenarios: [1, 50].map((inFlight) => ({
          name: `a delivery, ${inFlight === 1 ? "one by one" : `${inFlight} in flight`}`,
          task: { count: 200, inFlight },
          batch: 60
        })),
        seconds,
        from: 0,
        share: 1
      }))
  })

export const section: Rounds.Section = { name: "events", seconds: 8, fullSeconds: 60, run }
