/** `postwire archive serve`: a page on this machine to read and search a copy. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Page from "@postwire/archive/page/Page"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import { createServer } from "node:http"
import * as Target from "../archive/Target.ts"
import * as Args from "../terminal/Args.ts"
import * as Report from "../terminal/Report.ts"
import { lines } from "./Lines.ts"

const serve = Command.make(
  "serve",
  {
    ...Target.flags,
    port: Args.int("port", 0, 65_535).pipe(Args.withDefault("Port on 127.0.0.1; 0 takes any free one", 0)),
    json: Report.jsonWhenReady
  },
  Effect.fnUntraced(
    function*({ json, port, ...flags }) {
      const { layer, name } = yield* Target.reader(flags)
      const token = Page.makeToken()
      const http = createServer()
      return yield* Effect.gen(function*() {
        const server = yield* NodeHttpServer.make(() => http, { port, host: "127.0.0.1" })
        // Browsers keep connections open.
        yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
        yield* server.serve(Page.answer(name, token))
        const url = Page.urlWith(HttpServer.formatAddress(server.address), token)
        yield* Report.part(json, { url }, [
          `The page of ${name} is ready. Ctrl-C ends it. Anyone who has this address reads the copy:`,
          "",
          `  ${url}`,
          ""
        ])
        return yield* Effect.never
      }).pipe(Effect.provide(layer))
    },
    Effect.scoped
  )
).pipe(
  Args.help(
    "Serve a page on this machine that shows and searches the copy. It requests nothing from elsewhere.",
    "Read and search it in a browser",
    {
      "postwire archive serve": "The copy that postwire.sync.json names",
      "postwire archive serve --db own.sqlite --port 8123": "Another one, on a given port"
    }
  )
)

export const command = Command.make("archive").pipe(
  Command.withSubcommands([serve]),
  Args.help("Read a copy in a browser.", lines.archive)
)
