/** `postwire help TOPIC`: explains what all commands share. `postwire help COMMAND` is `postwire COMMAND --help`. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { closestMatch } from "leven"
import * as Config from "../connection/Config.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Help from "../terminal/Help.ts"
import { Terminal } from "../terminal/Terminal.ts"
import { lines } from "./Lines.ts"

/** The topics, which are also sections of the man page. */
export const topics: Readonly<Record<string, Help.Section>> = {
  credentials: {
    title: "Credentials",
    texts: [
      "A command uses the first of these that exists; postwire doctor shows which. No secret is accepted as an argument, and " +
      "none is shown."
    ],
    rows: [
      { name: "--account NAME", text: "An account of postwire login" },
      { name: "--credentials FILE", text: "Variables in a file of mode 0600: POSTWIRE_ACCOUNT, else tokens" },
      { name: "environment", text: "POSTWIRE_ACCOUNT, else tokens such as POSTWIRE_BEARER_TOKEN" },
      { name: "config", text: "The account of postwire config" },
      { name: "default account", text: "The one of postwire accounts --default NAME, or the only one" }
    ]
  },
  environment: {
    title: "Environment",
    rows: [
      {
        name: "POSTWIRE_BASE_URL",
        text: "The address of the service (default: that of the account; with an x wire, the live service)"
      },
      { name: "POSTWIRE_WIRE", text: "The service's field names: neutral, x or x-2026-02 (default: neutral)" },
      { name: "POSTWIRE_ACCOUNT", text: "An account of postwire login" },
      { name: "POSTWIRE_BEARER_TOKEN", text: "A token: of a user (OAuth 2.0), or of an app" },
      { name: "POSTWIRE_APP_BEARER_TOKEN", text: "The token of the app, for streams, rules and compliance" },
      {
        name: "POSTWIRE_CONSUMER_KEY, POSTWIRE_CONSUMER_SECRET, POSTWIRE_ACCESS_TOKEN, POSTWIRE_ACCESS_TOKEN_SECRET",
        text: "The four parts of a user's OAuth 1.0a credential"
      },
      {
        name: "POSTWIRE_CLIENT_ID, POSTWIRE_CLIENT_SECRET",
        text: "The app of postwire login; a public app has no secret"
      },
      { name: "POSTWIRE_ASK_ABOVE", text: "The price in dollars above which a command asks (default 5)" },
      {
        name: "POSTWIRE_SPEND_PER_DAY, POSTWIRE_SPEND_PER_MONTH",
        text: "Dollars that all commands together may spend"
      },
      {
        name: "POSTWIRE_UNKNOWN_PRICE",
        text: "The most in dollars that a request without a published price costs; limits refuse it otherwise"
      },
      { name: "POSTWIRE_SPEND_STORE", text: "The record of spending: a file or redis://..." },
      {
        name: "POSTWIRE_SPEND_WITHOUT_STORE",
        text: "allow or refuse requests while that record cannot be used (default refuse)"
      },
      { name: "POSTWIRE_APP_OWNER", text: "The id of the user who owns the app: own posts cost less" },
      {
        name: "POSTWIRE_CHAT_PASSCODE, POSTWIRE_CHAT_KEYS",
        text: "The passcode of your chats' keys, or the keys themselves: secrets, as tokens are"
      },
      { name: "POSTWIRE_REDIS_URL", text: "A Redis that shares rate limits between machines" },
      { name: "POSTWIRE_TOKEN_STORE", text: "The store of accounts: a folder, redis://... or postgres://..." },
      { name: "POSTWIRE_JOURNAL", text: "The folder with the progress of uploads and threads" },
      { name: "POSTWIRE_CLUSTER_URL", text: "The database of --cluster environment" },
      { name: "NO_COLOR, FORCE_COLOR", text: "No colours; colours without a terminal" }
    ]
  },
  "exit-codes": {
    title: "Exit codes",
    rows: [
      { name: "0", text: "Done" },
      { name: "1", text: "Failed: a wrong flag, something refused, or doctor found something wrong" },
      {
        name: "3",
        text:
          "Done, but not with everything: the service reported errors for parts, hydrate found no ids, or events were not delivered"
      },
      { name: "130", text: "Ended by Ctrl-C or SIGTERM" },
      { name: "141", text: "The reader of standard output has closed it" }
    ]
  },
  settings: {
    title: "Settings",
    texts: [
      "postwire config keeps defaults in a file of yours, and in the nearest postwire.json of a project, which takes " +
      "precedence. Variables override them, and flags override variables. In a project's file there are only account, wire " +
      "and clientId: a project does not decide where tokens go and what may be spent. No file has secrets."
    ],
    rows: Config.settings.map(({ name, text, variable }) => ({ name, text: `${text} (${variable})` }))
  }
}

export const command = Command.make(
  "help",
  { topic: Argument.String("topic").pipe(Argument.withDescription(`A command, or ${Object.keys(topics).join(", ")}`)) },
  Effect.fnUntraced(function*({ topic }) {
    const section = topics[topic]
    if (section !== undefined) {
      const { output } = yield* Terminal
      return yield* Console.log(Help.render([section], output))
    }
    const known = [...Object.keys(lines), ...Object.keys(topics)]
    const meant = closestMatch(topic, known, { maxDistance: 3 })
    return yield* ErrorReport.refuse(
      `There is no topic "${topic}"`,
      `${meant === undefined ? "" : `Did you mean ${meant}? `}The topics are ${
        Object.keys(topics).join(", ")
      }, and all commands.`
    )
  })
).pipe(Args.help("Explain a command, or what all commands share.", lines.help, {
  "postwire help export searchRecentPosts": "The flags of an operation",
  "postwire help credentials": "Which token a command uses"
}))
