/** `postwire chat` of two users against a sandbox. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { type Cause, Effect, Layer, Option, Queue, Redacted, Stdio } from "effect"
import * as Input from "effect/Terminal"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { needsLibrary } from "../../chat/test/support/Needs.ts"
import { postwire } from "../../core/test/support/ProgramFile.ts"
import { Environment } from "../src/connection/Variables.ts"
import { Terminal } from "../src/terminal/Terminal.ts"
import * as Commands from "./Commands.ts"

const scene = Effect.fnUntraced(function*() {
  const sandbox = yield* Sandbox.Sandbox
  sandbox.reset()
  const home = yield* Commands.folder
  const person = (username: string) => {
    const user = sandbox.user({ username })
    const variables = {
      POSTWIRE_TOKEN_STORE: join(home, "accounts"),
      POSTWIRE_BASE_URL: sandbox.baseUrl,
      POSTWIRE_BEARER_TOKEN: user.settings().bearerToken,
      POSTWIRE_APP_BEARER_TOKEN: Redacted.value(sandbox.seeded.appBearerToken)
    }
    return {
      id: user.id,
      variables,
      run: (...args: ReadonlyArray<string>) => Commands.runWith(variables, "chat", ...args),
      with: (more: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
        Commands.runWith({ ...variables, ...more }, "chat", ...args)
    }
  }
  return { ada: person("ada1"), ben: person("ben1") }
})

layer(Sandbox.layerServer({ posts: 0 }), { excludeTestServices: true })("postwire chat", (it) => {
  needsLibrary()

  it.effect("sets two users up, who write to each other and read it", () =>
    Effect.gen(function*() {
      const { ada, ben } = yield* scene()
      for (const { run } of [ada, ben]) {
        assert.match((yield* run("setup", "--no-passcode")).errors, /^postwire: User \d+ can chat/)
      }
      assert.match((yield* ada.run("send", ben.id, "Hello, Ben")).output, /^\d+$/)
      assert.strictEqual((yield* ben.run("send", ada.id, "Hello, Ada")).code, 0)
      const { output } = yield* ada.run("read", ben.id)
      assert.match(output, new RegExp(`^\\S+ \\S+  ${ada.id}: Hello, Ben\\n\\S+ \\S+  ${ben.id}: Hello, Ada$`))
      const accepted = yield* ada.run("accept", ben.id)
      assert.include(accepted.errors, `postwire: The keys of user ${ben.id} are accepted.`)
      // Each shows the same two fingerprints.
      const lines = accepted.output.split("\n").toSorted()
      for (const line of lines) assert.match(line, /^\d+: ([\da-f]{4} ?){8}$/)
      assert.deepStrictEqual((yield* ben.run("accept", ada.id)).output.split("\n").toSorted(), lines)
      assert.include((yield* ada.run("accept", "g1")).errors, "getChatConversation")
      const { output: listed } = yield* ben.run("list")
      assert.match(listed, new RegExp(`^\\d+-\\d+  one_to_one  ${ada.id}$`))
    }))

  it.effect("says what to do before keys are registered, and shows no secret", () =>
    Effect.gen(function*() {
      const { ada } = yield* scene()
      const fresh = yield* ada.run("list")
      assert.strictEqual(fresh.code, 1)
      assert.include(fresh.errors, "Register keys, once: postwire chat setup.")
      const blob = "c2VjcmV0IGtleSBibG9i"
      for (const secret of [{ POSTWIRE_CHAT_PASSCODE: "8642 secret" }, { POSTWIRE_CHAT_KEYS: blob }]) {
        yield* ada.run("setup", "--no-passcode")
        const { code, errors, output } = yield* ada.with(secret, "list", "--debug")
        assert.strictEqual(code, 1)
        for (const text of [errors, output]) assert.notMatch(text, /8642|c2Vjc/)
      }
    }))

  it.effect("reads a passcode from a prompt, and shows it nowhere", () =>
    Effect.gen(function*() {
      const { ada } = yield* scene()
      let shown = ""
      const screen = { isTerminal: true, columns: 80, write: (text: string) => void (shown += text) }
      const keys = [..."86422x\b passcode\r"].map((char) => ({
        input: Option.some(char),
        key: {
          name: char === "\r" ? "return" : char === "\b" ? "backspace" : char,
          ctrl: false,
          meta: false,
          shift: false
        }
      }))
      const readInput = Effect.tap(Queue.make<Input.UserInput, Cause.Done>(), (queue) => Queue.offerAll(queue, keys))
      const services = Layer.mergeAll(
        NodeServices.layer,
        Stdio.layerTest({ stdinIsTerminal: Effect.succeed(true) }),
        Layer.effect(Input.Terminal, Effect.map(Input.Terminal, (terminal) => Input.make({ ...terminal, readInput })))
          .pipe(Layer.provide(NodeServices.layer))
      )
      const { code, errors, output } = yield* Commands.parseOn(services, "chat", "setup").pipe(
        Effect.provideService(Terminal, { output: screen, errors: screen }),
        Effect.provideService(Environment, ada.variables)
      )
      // The sandbox keeps no backups.
      assert.strictEqual(code, 1)
      assert.include(errors, "their backup does not respond")
      assert.match(shown, /^A passcode that backs your keys up: \n/)
      for (const text of [shown, errors, output]) assert.notInclude(text, "8642")
    }))

  it.effect("names the command that installs the library where it is missing", () =>
    Effect.gen(function*() {
      const { ada } = yield* scene()
      const env = { ...process.env, ...ada.variables }
      // The bundle is in a folder from where the library cannot be found, as after an installation of the command alone.
      const ended = yield* Effect.flip(Effect.tryPromise({
        try: () => promisify(execFile)(process.execPath, [postwire, "chat", "list"], { env }),
        catch: (error) => error as { readonly code: number; readonly stderr: string }
      }))
      assert.strictEqual(ended.code, 1)
      assert.include(ended.stderr, "@xdevplatform/chat-xdk")
      assert.include(ended.stderr, "npm install @xdevplatform/chat-xdk juicebox-sdk")
    }))
})
