import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer, Redacted, Stdio, Stream } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as MediaBytes from "../../core/test/support/MediaBytes.ts"
import { type Screen, Terminal } from "../src/terminal/Terminal.ts"
import * as Commands from "./Commands.ts"
import { ended, start } from "./support/Processes.ts"

/** A folder with files, and commands whose journal is in it. */
const desk = Effect.fnUntraced(function*(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  replaced: Readonly<Record<string, string | undefined>> = {}
) {
  yield* (yield* sandbox).forget
  const folder = yield* Commands.folder
  const variables = yield* Commands.variables({ POSTWIRE_JOURNAL: join(folder, "journal"), ...replaced })
  const credentials = yield* Commands.credentials(variables)
  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content)
  for (const [name, content] of Object.entries(files)) write(name, content)
  /** Words that begin with `./` are files of the folder. */
  const inFolder = (args: ReadonlyArray<string>) => [
    ...args.map((arg) => arg.startsWith("./") ? join(folder, arg) : arg),
    "--credentials",
    credentials
  ]
  return {
    write,
    variables,
    run: (...args: ReadonlyArray<string>) => Commands.parse(...inFolder(args)),
    /** Runs a command that reads this. */
    reading: (text: string, ...args: ReadonlyArray<string>) =>
      Commands.parseOn(
        Layer.merge(NodeServices.layer, Stdio.layerTest({ stdin: Stream.make(new TextEncoder().encode(text)) })),
        ...inFolder(args)
      ),
    start: (...args: ReadonlyArray<string>) => start(inFolder(args))
  }
})

/** A segment of a JPEG that no decoder looks at. */
const comment = (size: number, seed: number) => {
  const bytes = new Uint8Array(size + 4).fill(seed + 1)
  bytes.set([0xff, 0xfe, (size + 2) >> 8, (size + 2) & 0xff])
  return bytes
}

const fileAdvice = /^ {2}Change the file, then run the same command again; nothing was sent\.$/

const sandbox = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const { journal, store } = sandbox
  const paths = (): ReadonlyArray<string> => journal.entries().map(({ method, path }) => `${method} ${path}`)
  return {
    ...sandbox,
    paths,
    /** How many posts there are of this text. */
    count: (text: string) => {
      const { items } = store.overview.list("posts", { limit: 1_000 })
      return items.filter((post) => post["text"] === text).length
    },
    mediaOf: (id: string) => {
      const { items } = store.overview.list("uploads", { limit: 1_000 })
      return items.find((upload) => upload["id"] === id)
    },
    bytesOf: (id: string) => {
      const content = store.uploads.content(id)
      return content && Buffer.concat([...content.read(0, content.size)])
    },
    forget: Effect.sync(() => {
      journal.clear()
      sandbox.faults.clear()
    })
  }
})

/** Two lines: what failed, and what to do. */
const assertTold = ({ code, errors }: Commands.Ended, what: RegExp, advice: RegExp) => {
  assert.strictEqual(code, 1, errors)
  const [first = "", second = "", ...more] = errors.split("\n").slice(-2)
  assert.match(first, what)
  assert.match(second, advice)
  assert.deepStrictEqual(more, [])
  assert.notMatch(errors, /\n +at /)
}

layer(Sandbox.layerServer({ posts: 60 }), { excludeTestServices: true })("publishing", (it) => {
  describe("postwire post", () => {
    it.effect("posts a text, and prints its id", () =>
      Effect.gen(function*() {
        const { reading, run } = yield* desk()
        const { store } = yield* sandbox
        const first = yield* run("post", "Good morning")
        assert.deepStrictEqual([first.code, first.errors], [0, "postwire: Posted."])
        assert.match(first.output, /^\d{18,19}$/)
        const read = yield* reading("Of two\nlines\n\n", "post", "-", "--reply-to", first.output, "--json")
        const { id, media, text } = JSON.parse(read.output)
        assert.deepStrictEqual([text, media], ["Of two\nlines", []])
        const posted = store.overview.list("posts", { limit: 1 }).items[0]
        assert.deepInclude(posted, { id, reply_to: first.output, text: "Of two\nlines" })
        const poll = yield* run("post", "Tea?", "--poll", "Yes, please", "--poll", "No", "--poll-minutes", "60")
        assert.strictEqual(poll.code, 0, poll.errors)
        const quote = yield* run("post", "See", "--quote", first.output)
        assert.deepInclude(store.overview.list("posts", { limit: 1 }).items[0], {
          id: quote.output,
          quote_of: first.output
        })
      }))

    it.effect("speaks with a bearer token where that is all there is", () =>
      Effect.gen(function*() {
        const { grants } = yield* sandbox
        const { accessToken } = grants.make({ scopes: ["tweet.read", "tweet.write", "users.read", "media.write"] })
        const { run } = yield* desk({ "a.jpg": MediaBytes.jpeg(), "a.md": "![A](a.jpg)\nBorne" }, {
          POSTWIRE_BEARER_TOKEN: Redacted.value(accessToken),
          POSTWIRE_ACCESS_TOKEN: undefined
        })
        for (const args of [["upload", "./a.jpg"], ["post", "By a bearer"], ["thread", "./a.md"]]) {
          const { code, errors } = yield* run(...args)
          assert.strictEqual(code, 0, errors)
        }
      }))

    it.effect("says that a post may have been posted whose answer was lost", () =>
      Effect.gen(function*() {
        const { run } = yield* desk()
        const { faults } = yield* sandbox
        faults.add({ operation: "createPost", reset: "after" })
        const { code, errors } = yield* run("post", "Lost?")
        assert.strictEqual(code, 1)
        assert.match(
          errors,
          /^postwire: createPost: .* It may have happened\.\n {2}Check with getUsersPosts before sending it/
        )
      }))

    it.effect("refuses what does not fit before anything is sent, and says what to do", () =>
      Effect.gen(function*() {
        const { reading, run } = yield* desk()
        const { paths } = yield* sandbox
        const long = `${"0123456789 ".repeat(25)}and https://a.com/${"b".repeat(100)} end`
        assertTold(
          yield* run("post", long),
          /^postwire: The text weighs 306, and 280 fit\. The excess is "https:\/\/a\.com\/b+…"$/,
          /^ {2}Shorten it by 26, or post it in parts: postwire thread FILE --split$/
        )
        assertTold(yield* reading(long, "post", "-"), /weighs 306/, /postwire thread - --split$/)
        const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp, RegExp]> = [
          [["a", "--alt", "b"], /There are 0 --media and 1 --alt/, /one --alt for each --media/],
          [["a", "--poll", "One"], /--poll .*2 to 4/, /Correct it; nothing was sent/],
          [["a", "--reply-to", "x1"], /--reply-to must be/, /Correct it/],
          [
            ["a", "--quote", "1", "--poll", "a", "--poll", "b"],
            /--quote cannot be given together with poll/,
            /Correct/
          ],
          [["a", "--poll", "b", "--poll", "c".repeat(26)], /--poll .*25/, /Correct/],
          [[], /There is no text$/, /Write one, - to read it/]
        ]
        for (const [args, what, advice] of cases) assertTold(yield* run("post", ...args), what, advice)
        assert.deepStrictEqual(paths(), [])
        const fits = yield* run("post", long, "--max-weight", "1000", "--media-id", "1")
        assertTold(fits, /\(4\d\d\)/, /\w/)
      }))
  })

  describe("postwire post --media", () => {
    it.effect("uploads, describes, and posts", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({ "a.jpg": MediaBytes.jpeg(), "b.png": MediaBytes.png() })
        const { bytesOf, mediaOf } = yield* sandbox
        const files = ["--media", "./a.jpg", "--alt", "A cat", "--media", "./b.png", "--alt", ""]
        const { code, errors, output } = yield* run("post", ...files, "--json")
        assert.deepStrictEqual([code, errors], [0, "postwire: Posted, with a.jpg, b.png."])
        const { id, media } = JSON.parse(output)
        assert.deepStrictEqual(media.map(({ id }: { id: string }) => mediaOf(id)?.["alt_text"]), ["A cat", null])
        assert.isTrue(bytesOf(media[1].id)?.equals(MediaBytes.png()))
        const post = yield* run("call", "getPost", "--id", id, "--expansions", "attachments.media_keys")
        assert.deepStrictEqual(
          JSON.parse(post.output).includes.media.map(({ media_key }: { media_key: string }) => media_key),
          media.map(({ media_key }: { media_key: string }) => media_key)
        )
      }))

    it.effect("posts nothing when a file cannot be uploaded", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({ "a.jpg": MediaBytes.jpeg(), "b.gif": MediaBytes.gif({ frames: 2 }) })
        const { count, faults } = yield* sandbox
        faults.add({ operation: "finalizeMediaUpload", processing: "failed" })
        assertTold(
          yield* run("post", "Never", "--media", "./b.gif"),
          /^postwire: The service cannot process media \d+ \(InvalidMedia: .+\)/,
          /^ {2}The file may be damaged/
        )
        const mixed = ["--media", "./a.jpg", "--media", "./b.gif"]
        assertTold(
          yield* run("post", "Never", ...mixed),
          /--media must be at most 4 images, or 1 GIF/,
          /nothing was sent/
        )
        assert.strictEqual(count("Never"), 0)
      }))
  })

  it.effect("explains why a reply was refused", () =>
    Effect.gen(function*() {
      const { run } = yield* desk({})
      const { faults } = yield* sandbox
      faults.add({ operation: "createPost", status: 403 })
      const refused = yield* run("post", "Hello", "--reply-to", "1460323737035677698")
      assertTold(
        refused,
        /^postwire: createPost: .*\(403\)/,
        /^ {2}On self-serve plans .* must mention the replying user/
      )
    }))

  describe("postwire upload", () => {
    /** A picture of three segments, which is not processed. */
    const large = MediaBytes.jpeg({}, ...Array.from({ length: 40 }, (_, i) => comment(65_000, i)))

    it.effect("prints a media id, goes on where it was interrupted, and gives what is there already", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({ "large.jpg": large })
        const { bytesOf, faults, mediaOf, paths, forget } = yield* sandbox
        faults.add({ operation: "appendMediaUpload", nth: 2, status: 403 })
        const failed = yield* run("upload", "./large.jpg")
        assertTold(failed, /appendMediaUpload: .*\(403\)/, /\w/)
        yield* forget
        const resumed = yield* run("upload", "./large.jpg")
        assert.strictEqual(resumed.code, 0, resumed.errors)
        assert.match(
          resumed.errors,
          /^postwire: Resumed: 1\.0 MB of 2\.6 MB were uploaded before\.\npostwire: large\.jpg is uploaded: image\/jpeg, 2\.6 MB, as tweet_image; use it within (1 d 0 h|23 h 59 min)\.$/
        )
        assert.match(resumed.output, /^\d{18,19}$/)
        assert.isTrue(bytesOf(resumed.output)?.equals(large))
        // A segment that was on its way when the first run failed may arrive during the second.
        assert.notInclude(paths(), "POST /2/media/upload/initialize")
        yield* forget
        const again = yield* run("upload", "./large.jpg", "--alt", "A picture", "--json")
        assert.match(again.errors, /^postwire: large\.jpg was uploaded before: /)
        assert.deepInclude(JSON.parse(again.output), { id: resumed.output, type: "image/jpeg", size: large.length })
        assert.strictEqual(mediaOf(resumed.output)?.["alt_text"], "A picture")
        const posted = yield* run("post", "--media-id", resumed.output)
        assert.strictEqual(posted.code, 0, posted.errors)
      }))

    it.effect("shows how far it is on a terminal of 80 columns", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({ "a.jpg": large })
        const written: Array<string> = []
        const errors: Screen = { isTerminal: true, columns: 80, write: (text) => void written.push(text) }
        const { code } = yield* Effect.provideService(run("upload", "./a.jpg"), Terminal, { output: errors, errors })
        assert.strictEqual(code, 0)
        assert.strictEqual(written.pop(), "\n")
        assert.match(written.at(-1) ?? "", /^\r█{19} {2}100% {2}2\.6 MB of 2\.6 MB {2}\d[^\n]+\/s\u001b\[K$/)
        for (const line of written) assert.isAtMost(displayWidth(line.replace(/\r|\u001b\[K/g, "")), 79)
      }))

    it.effect("takes subtitles and files for direct messages", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({ "a.mp4": MediaBytes.mp4(), "a.srt": MediaBytes.srt, "b.jpg": MediaBytes.jpeg() })
        const { mediaOf, store } = yield* sandbox
        const direct = yield* run("upload", "./b.jpg", "--for", "directMessage")
        assert.strictEqual(mediaOf(direct.output)?.["category"], "dm_image", direct.errors)
        const film = yield* run("upload", "./a.mp4", "--subtitles", "./a.srt", "--language", "DE")
        assert.strictEqual(film.code, 0, film.errors)
        assert.deepInclude(store.uploads.subtitlesOf(film.output)[0], { language_code: "DE", display_name: "Deutsch" })
        assertTold(
          yield* run("upload", "./a.mp4", "--subtitles", "./a.srt"),
          /1 file of subtitles and 0 lang/,
          /--language/
        )
      }))

    it.effect("says what is wrong with a file before anything is sent, and what to do", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({
          "big.jpg": MediaBytes.jpeg({}, ...Array.from({ length: 85 }, (_, i) => comment(65_000, i))),
          "notes.pdf": "%PDF-1.7\n",
          "notes.txt": "some text",
          "long.mp4": MediaBytes.mp4({ millis: 183_400 }),
          "a.jpg": MediaBytes.jpeg(),
          "empty.jpg": ""
        })
        const { paths, store, user } = yield* sandbox
        const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp, RegExp]> = [
          [["./big.jpg"], /big\.jpg must be at most 5 MiB as tweet_image\. Got 5,\d{3},\d{3} bytes\.$/, fileAdvice],
          [["./notes.pdf"], /notes\.pdf must be an image, a GIF or a video .*Got a PDF document\.$/, fileAdvice],
          [["./notes.txt"], /notes\.txt must be an image, /, fileAdvice],
          [["./long.mp4"], /long\.mp4 must last 0\.5 to 140 s as tweet_video\. Got 183\.4 s\.$/, fileAdvice],
          [["./empty.jpg"], /empty\.jpg must/, fileAdvice],
          [
            ["./nowhere.jpg"],
            /^postwire: Cannot upload nowhere\.jpg: there is no such file\.$/,
            /^ {2}Check the path\.$/
          ],
          [["./a.jpg", "--alt", "a".repeat(1_001)], /--alt must have at most 1,000 characters/, /Correct it; nothing/],
          [
            ["./a.jpg", "--subtitles", "./a.srt", "--language", "EN"],
            /--subtitles is allowed for videos/,
            /Correct/
          ]
        ]
        for (const [args, what, advice] of cases) assertTold(yield* run("upload", ...args), what, advice)
        assert.deepStrictEqual(paths(), [])
        const foreign = store.uploads.begin({
          ownerId: user({ username: "grace" }).id,
          additionalOwners: [],
          category: "tweet_image",
          mediaType: "image/jpeg",
          totalBytes: 1,
          createdAt: Date.now(),
          expiresAt: Date.now() + 60_000
        })
        assertTold(
          yield* run("post", "Not mine", "--media-id", foreign),
          /^postwire: createPost: .*\(400\): Your media IDs are invalid/,
          /^ {2}Media belongs to the user who uploaded it, .*: postwire upload FILE makes a new id\.$/
        )
      }))

    it.effect("begins anew by itself when the service no longer knows what was sent", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({ "large.jpg": large })
        const { bytesOf, faults, paths, forget } = yield* sandbox
        faults.add({ operation: "appendMediaUpload", nth: 2, status: 403 })
        yield* run("upload", "./large.jpg")
        yield* forget
        faults.add({ operation: "appendMediaUpload", status: 404 })
        const anew = yield* run("upload", "./large.jpg")
        assert.strictEqual(anew.code, 0, anew.errors)
        assert.match(
          anew.errors,
          /^postwire: Resumed: .*\npostwire: The service no longer has the earlier part; the/
        )
        assert.isTrue(bytesOf(anew.output)?.equals(large))
        assert.strictEqual(paths().filter((path) => path.endsWith("/append")).length, 4)
      }))

    it.effect("goes on after kill -9 and after Ctrl-C, which says so", () =>
      Effect.gen(function*() {
        const { run, start } = yield* desk({ "large.jpg": large })
        const { bytesOf, faults, forget } = yield* sandbox
        // What was sent is noted every second.
        faults.add({ operation: "appendMediaUpload", delay: "1100 millis" })
        faults.add({ operation: "appendMediaUpload", nth: 2, times: "always", delay: "1 minute" })
        const held = () => faults.list().at(-1)?.met ?? 0
        const running = (signal: "SIGKILL" | "SIGINT") =>
          Effect.promise(async () => {
            const child = start("upload", "./large.jpg")
            const end = ended(child)
            const before = held()
            while (held() === before) await new Promise((resolve) => setTimeout(resolve, 5))
            child.kill(signal)
            const { code, errors } = await end
            return { code, errors }
          })
        assert.deepStrictEqual(yield* running("SIGKILL"), { code: null, errors: "" })
        const { code, errors } = yield* running("SIGINT")
        assert.deepStrictEqual([code, errors.split("\n")], [130, [
          "postwire: Resumed: 1.0 MB of 2.6 MB were uploaded before.",
          "postwire: 1.0 MB of 2.6 MB are sent. The same command continues.",
          ""
        ]])
        yield* forget
        const rest = yield* run("upload", "./large.jpg")
        assert.match(rest.errors, /^postwire: Resumed: 1\.0 MB/)
        assert.isTrue(bytesOf(rest.output)?.equals(large))
      }), 60_000)
  })

  describe("postwire thread", () => {
    const boat = "A small boat.\n---\nThree weekends.\n---\nThe plans."

    it.effect("shows what it would post, and sends nothing", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({
          "boat.md": `![A boat](<a b.jpg>)\nA small boat. ${"word ".repeat(20)}\n---\n👩‍👩‍👧 weekends\n`,
          "a b.jpg": MediaBytes.jpeg()
        })
        const { paths } = yield* sandbox
        const shown = yield* run("thread", "./boat.md", "--dry-run", "--number")
        assert.deepStrictEqual([shown.code, shown.errors, paths()], [0, "", []])
        assert.match(
          shown.output,
          /^Part 1 \(line 1\): 117 of 280\n {4}A small boat\. (word ?)+\n {4}(word )+1\/2\n {4}\+ a b\.jpg \(image\/jpeg, \d+ B, as tweet_image\): A boat\n\nPart 2 \(line 4\): 15 of 280\n {4}👩‍👩‍👧 weekends 2\/2\n\n2 parts, 1 file\. Nothing was sent\.$/
        )
        for (const line of shown.output.split("\n")) assert.isAtMost(displayWidth(line), 80)
        const json = JSON.parse((yield* run("thread", "./boat.md", "--dry-run", "--json")).output)
        assert.deepInclude(json.parts[0].media[0], { path: "a b.jpg", alt: "A boat", category: "tweet_image" })
        assert.deepStrictEqual(json.parts[1], { text: "👩‍👩‍👧 weekends", weight: 11, media: [] })
      }))

    it.effect("posts each part once, in reply to the one before, however often it runs", () =>
      Effect.gen(function*() {
        const { run } = yield* desk({ "boat.md": boat })
        const { clock, count, paths, forget, store } = yield* sandbox
        const thread = yield* run("thread", "./boat.md")
        assert.strictEqual(thread.code, 0, thread.errors)
        const ids = thread.output.split("\n")
        assert.deepStrictEqual(thread.errors.split("\n"), [
          ...ids.map((id, i) => `postwire: Part ${i + 1} of 3 is posted: ${id}`),
          "postwire: The thread is posted: 3 parts."
        ])
        const posts = store.overview.list("posts", { limit: 3 }).items.toReversed()
        assert.deepStrictEqual(posts.map((post) => [post["id"], post["reply_to"]]), [
          [ids[0], null],
          [ids[1], ids[0]],
          [ids[2], ids[1]]
        ])
        yield* forget
        const again = yield* run("thread", "./boat.md", "--json")
        assert.deepStrictEqual(JSON.parse(again.output).posts.map(({ id }: { id: string }) => id), ids)
        assert.match(again.errors, /^postwire: The thread was posted before; nothing was sent\.\n {2}--again posts it/)
        assert.deepStrictEqual(paths(), [])
        yield* Effect.addFinalizer(() => Effect.sync(clock.reset))
        clock.advance("1 day")
        const more = yield* run("thread", "./boat.md", "--again")
        assert.strictEqual(more.code, 0, more.errors)
        assert.strictEqual(count("Three weekends."), 2)
      }))

    it.effect("goes on where it was interrupted, and refuses a file that was edited meanwhile", () =>
      Effect.gen(function*() {
        const text = "Begun. \n---\nInterrupted.\n---\nEnded."
        const { run, write } = yield* desk({ "a.md": text })
        const { count, faults, forget } = yield* sandbox
        faults.add({ operation: "createPost", nth: 2, times: "always", status: 403 })
        const failed = yield* run("thread", "./a.md")
        assert.match(
          failed.errors,
          /\npostwire: 1 of 3 parts are posted, the last one as \d+\. The same command continues\.\n/
        )
        assertTold(failed, /\(403\)/, /\w/)
        yield* forget
        write("a.md", text.replace("Ended", "The end"))
        assertTold(
          yield* run("thread", "./a.md"),
          /a\.md: it was changed since its thread was interrupted; 1 of 3 parts are posted$/,
          /Restore it to continue, or pass --again/
        )
        assertTold(yield* run("thread", "./a.md", "--abandon"), /The thread does not wait/, /Without --abandon/)
        write("a.md", text)
        const rest = yield* run("thread", "./a.md")
        assert.match(rest.errors, /^postwire: Resumed: 1 of 3 parts are posted already\.\npostwire: Part 2 of 3/)
        assert.strictEqual(rest.output.split("\n").length, 3)
        assert.deepStrictEqual(["Begun.", "Interrupted.", "Ended.", "The end."].map(count), [1, 1, 1, 0])
        // What was posted on purpose although another one was begun, is not posted once more by accident.
        const other = "Other.\n---\nParts."
        write("a.md", other)
        faults.add({ operation: "createPost", nth: 2, status: 403 })
        assert.strictEqual((yield* run("thread", "./a.md")).code, 1)
        write("a.md", other.replace("Other", "Another"))
        const posted = yield* run("thread", "./a.md", "--again")
        assert.strictEqual(posted.code, 0, posted.errors)
        assert.strictEqual((yield* run("thread", "./a.md")).output, posted.output)
        assert.deepStrictEqual(["Other.", "Another.", "Parts."].map(count), [1, 1, 1])
      }))

    it.effect("goes on with --again as well, and posts no part of that thread twice", () =>
      Effect.gen(function*() {
        const texts = ["Once more.", "From its start.", "To its end."]
        const { run } = yield* desk({ "a.md": texts.join("\n---\n") })
        const { count, faults } = yield* sandbox
        faults.add({ operation: "createPost", nth: 3, status: 403 })
        const interrupted = yield* run("thread", "./a.md", "--again")
        assert.match(interrupted.errors, /postwire: 2 of 3 parts are posted, .*The same command continues\.\n/)
        const rest = yield* run("thread", "./a.md", "--again")
        assert.match(rest.errors, /^postwire: Resumed: 2 of 3 parts are posted already\./)
        assert.deepStrictEqual(texts.map(count), [1, 1, 1])
      }))

    it.effect("says what it cannot tell, and does as it is told then", () =>
      Effect.gen(function*() {
        for (const [decision, posts] of [["--continue", [1, 1, 1]], ["--abandon", [1, 0, 0]]] as const) {
          const texts = ["First", "Unknown", "Last"].map((text) => `${text} of ${decision}.`)
          const { run } = yield* desk({ "a.md": texts.join("\n---\n") })
          const { count, faults } = yield* sandbox
          faults.add({ operation: "createPost", nth: 2, reset: "before" })
          faults.add({ operation: "getUsersPosts", times: "always", status: 403 })
          const undecided = yield* run("thread", "./a.md", "--key", `key of ${decision}`)
          assert.match(undecided.errors, /\npostwire: It is unknown whether part 2 was posted; looking for it\.\n/)
          assertTold(
            undecided,
            /Part 2 of 3 of thread "key of --\w+" may have been posted at .*cannot be read.* begins "Unknown of/,
            /^ {2}Look for it\. If it is not there, the same command with --continue sends it; with --abandon it keeps/
          )
          const decided = yield* run("thread", "./a.md", "--key", `key of ${decision}`, decision)
          assert.strictEqual(decided.code, 0, decided.errors)
          assert.match(
            decided.errors,
            decision === "--continue" ? /The thread is posted: 3 parts\.$/ : /kept as it is: 1 of 3 parts are posted\.$/
          )
          assert.deepStrictEqual(texts.map(count), [...posts])
        }
      }))

    it.effect("cuts a text that does not fit on request, and refuses files that cannot be a thread", () =>
      Effect.gen(function*() {
        const { reading, run } = yield* desk({
          "long.md": "word ".repeat(150),
          "empty.md": "a\n---\n\n---\nb",
          "front.md": "---\ntitle: x\n---\nb",
          "elsewhere.md": "a ![b](https://a.example/b.png)",
          "missing.md": "a\n---\nb ![c](c.png)",
          "latin1.md": Uint8Array.of(0xe9, 0x20, 0x61)
        })
        const { paths } = yield* sandbox
        const cases: ReadonlyArray<readonly [string, RegExp, RegExp]> = [
          [
            "./long.md",
            /Part 1 \(line 1\) weighs 749, and 280 fit/,
            /Shorten it by 469, put a line of --- into it, or/
          ],
          ["./empty.md", /empty\.md: part 2 \(line 3\) is empty/, /between the lines of ---/],
          ["./front.md", /front\.md: part 1 \(line 1\) is empty/, /\w/],
          [
            "./elsewhere.md",
            /the image https:\/\/a\.example\/b\.png of part 1 \(line 1\) is not a file/,
            /Download it/
          ],
          ["./missing.md", /Cannot upload c\.png: there is no such file/, /Check the path/],
          ["./latin1.md", /it is not text in UTF-8/, /a file of Markdown/],
          ["./nowhere.md", /there is no such file/, /a file of Markdown/]
        ]
        for (const [file, what, advice] of cases) assertTold(yield* run("thread", file), what, advice)
        assert.deepStrictEqual(paths().filter((path) => path.startsWith("POST")), [])
        const cut = yield* run("thread", "./long.md", "--split", "--number", "--dry-run", "--json")
        const { parts } = JSON.parse(cut.output)
        assert.deepStrictEqual(parts.map(({ text }: { text: string }) => text.slice(-3)), ["1/3", "2/3", "3/3"])
        for (const { weight } of parts) assert.isAtMost(weight, 280)
        const piped = yield* reading("one\n---\ntwo", "thread", "-")
        assert.strictEqual(piped.output.split("\n").length, 2, piped.errors)
      }))
  })
})
