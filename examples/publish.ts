// Posts every picture of a folder once, however often it is started and wherever it was interrupted:
//   node publish.ts <folder>
// The text of lighthouse.png is in lighthouse.txt; what the picture shows may be in lighthouse.alt.txt.
import { createClient, InvalidParameters, MediaProcessingFailed } from "@postwire/node"
import { readdir, readFile } from "node:fs/promises"
import { join, parse } from "node:path"

const [folder = "."] = process.argv.slice(2)
const stop = new AbortController()
process.once("SIGINT", () => stop.abort())

await using client = createClient()

const textBeside = (name: string) => readFile(join(folder, name), "utf8").then((text) => text.trim(), () => undefined)

const pictures = (await readdir(folder)).filter((file) => /\.(png|jpe?g|gif|webp|mp4)$/i.test(file)).sort()
for (const picture of pictures) {
  const { name } = parse(picture)
  const [text = name, alt] = await Promise.all([textBeside(`${name}.txt`), textBeside(`${name}.alt.txt`)])
  const post = { text, media: [{ file: join(folder, picture), alt }] }
  try {
    // The journal knows the key: what was posted under it is not posted again.
    const { posts: [posted], resumed } = await client.publishThread([post], {
      key: `pictures ${picture}`,
      signal: stop.signal,
      onProgress: (step) => {
        if (step.phase === "processing") console.log(`${picture}: ${Math.round(step.fraction * 100)}% processed`)
      }
    })
    console.log(resumed ? "was posted before:" : "posted:", picture, posted?.id)
  } catch (error) {
    // A fault of one picture does not stop the others.
    if (!(error instanceof InvalidParameters || error instanceof MediaProcessingFailed)) throw error
    console.log(`not posted: ${picture}: ${error.message}`)
  }
}
