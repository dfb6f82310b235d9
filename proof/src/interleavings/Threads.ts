/** Processes that publish one thread, one after another as each is killed: a post appears late among those of its author. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { publishThread } from "@postwire/core/publishing/Thread"
import * as Journal from "@postwire/core/storage/Journal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Files from "./Files.ts"
import * as Network from "./Network.ts"
import type { Place, Scenario, Subject } from "./Schedule.ts"

const parts = 4
const processes = 2

/** A post appears within this time. */
const lagMillis = 60_000

interface Posted {
  readonly id: number
  readonly text: string
  readonly parent: string | undefined
  readonly visibleAt: number
}

const shown = ({ id, parent, text }: Posted) => ({
  id: String(id),
  text,
  author_id: "1",
  ...(parent === undefined ? {} : { referenced_posts: [{ type: "replied_to", id: parent }] })
})

/** A service that has the posts of one author. */
class Posts {
  readonly all: Array<Posted> = []
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
  }

  answer({ body, method, path, query }: Network.Received): Network.Answer {
    const { draw, world } = this.#place
    if (method === "POST") {
      const { reply, text } = JSON.parse(body)
      const id = 1_000 + this.all.length
      this.all.push({
        id,
        text,
        parent: reply?.in_reply_to_post_id,
        visibleAt: world.now + (draw.chance(0.7) ? 0 : draw.below(lagMillis - 5_000))
      })
      return { status: 201, body: { data: { id: String(id), text } } }
    }
    if (path.endsWith("/users/me")) return { body: { data: { id: "1", name: "Ada", username: "ada" } } }
    const since = Number(query.get("since_id") ?? 0)
    const posts = this.all.filter(({ id, visibleAt }) => id > since && visibleAt <= world.now).reverse()
    return { body: { data: posts.map(shown), meta: { result_count: posts.length } } }
  }
}

const prepare = (place: Place): Scenario => {
  const { faults } = place
  const posts = new Posts(place)
  const files = new Files.Files(place)
  const failed: Array<string> = []
  const texts = Array.from({ length: parts }, (_, part) => ({ text: `Part ${part + 1}` }))
  return {
    processes,
    main: (actor) =>
      publishThread(texts, { key: "thread", user_auth: false, lag: lagMillis }).pipe(
        Effect.retry({ schedule: Schedule.upTo(Schedule.spaced(2_000), { times: 15 }) }),
        Effect.catch((error) => Effect.sync(() => void failed.push(`${error._tag}: ${error.message}`))),
        Effect.provide(Layer.fresh(
          Client.layer({ baseUrl: Network.baseUrl, retries: 1 }).pipe(
            Layer.provide([
              Credentials.layer({ bearerToken: "one" }),
              Network.layer(place, actor, (request) => posts.answer(request))
            ])
          )
        )),
        Effect.provideService(Journal.Journal, files.texts(actor, "journal"))
      ),
    broken: () => {
      const sent = posts.all.map(({ text }) => text)
      const isChain = posts.all.every(({ parent }, index) =>
        parent === (index === 0 ? undefined : String(posts.all[index - 1]?.id))
      )
      return [
        ...sent.length > new Set(sent).size ? [`posted twice: ${sent.join()}`] : [],
        ...failed.slice(0, 2),
        ...failed.length === 0 && (sent.length !== parts || !isChain) ? [`posted: ${sent.join()}`] : [],
        ...faults.total === 0 && failed.length > 0 ? ["it failed without a fault"] : []
      ]
    }
  }
}

export const subject: Subject = {
  name: "threads",
  holds: "every part is posted once, in reply to the one before, however often its publishers are killed",
  prepare
}
