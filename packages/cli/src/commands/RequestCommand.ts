/** `postwire request METHOD PATH`: requests any path of the service. */
import { Client } from "@postwire/core/client/Client"
import * as RawRequest from "@postwire/core/client/RawRequest"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as UndeclaredFlags from "../flags/UndeclaredFlags.ts"
import * as Args from "../terminal/Args.ts"
import * as CallCommand from "./CallCommand.ts"
import { lines } from "./Lines.ts"

const flags = {
  method: Argument.Literals("method", RawRequest.methods).pipe(Argument.withDescription("The method, in capitals")),
  path: Argument.String("path").pipe(
    Argument.withDescription("The path from the root of the service, such as /2/widgets/1, without a query")
  ),
  query: UndeclaredFlags.query("query"),
  body: UndeclaredFlags.body("body", "The body"),
  userAuth: Args.toggle("user-auth", "Sign with the user's OAuth 1.0a credential (default false)"),
  effect: Flag.Literals("effect", ["read", "toggle", "create"]).pipe(
    Args.optional("The effect of sending it twice; a create is not retried (default: read for GET, else create)")
  ),
  ...CallCommand.outputFlags
}

export const command = Command.make("request", flags, (given) => run(given)).pipe(
  Args.help(
    "Request any path of the service, with the credentials and limits of every call. Names are the service's own: " +
      "nothing is renamed in either direction.",
    lines.request,
    {
      "postwire request GET /2/users/me --query user.fields=verified": "A read",
      "postwire request POST /2/widgets --body @widget.json --user-auth": "A write"
    }
  )
)

const run = Effect.fnUntraced(
  function*(
    { body, effect, method, path, query, userAuth, ...output }: Command.Command.Config.Infer<typeof flags>
  ) {
    const request: RawRequest.Request = {
      method,
      path,
      query: yield* UndeclaredFlags.queryOf("query", query),
      body: Option.isNone(body) ? undefined : yield* UndeclaredFlags.bodyOf("body", body.value),
      user_auth: userAuth,
      effect: Option.getOrUndefined(effect)
    }
    const checked = RawRequest.check(request)
    yield* CallCommand.answer(
      RawRequest.infoOf(checked),
      Effect.flatMap(Client, (client) => RawRequest.send(client, request, checked, undefined)),
      output
    )
  }
)
