// Records `npm start` in a terminal of 80 columns, and makes a picture of it that moves: `node scripts/recording.ts`.
// Needs `script` of util-linux, which gives the command a terminal.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const [columns, command] = [80, "npm start"]
const cell = { width: 8.4, height: 20 }
const [padding, bar] = [20, 34]

/** A piece of what the terminal received, with its time in seconds. */
export interface Chunk {
  readonly at: number
  readonly text: string
}

/** A line that was on the screen for a while; the last state of a row has no end. */
export interface Line {
  readonly row: number
  readonly text: string
  readonly from: number
  readonly to?: number
}

/** The lines that the chunks put on the screen, as a terminal understands them. */
export const linesOf = (chunks: ReadonlyArray<Chunk>): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  const screen: Array<string> = [""]
  let [row, column] = [0, 0]
  const put = (at: number) => {
    const text = screen[row]!.trimEnd()
    const before = lines.findLastIndex((line) => line.row === row)
    if ((lines[before]?.text ?? "") === text) return
    if (before >= 0) lines[before] = { ...lines[before]!, to: at }
    if (text !== "") lines.push({ row, text, from: at })
  }
  for (const { at, text } of chunks) {
    for (const [part] of text.matchAll(/\x1b\[[\d;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+/g)) {
      if (part === "\r") column = 0
      else if (part === "\n") {
        put(at)
        row += 1
        screen[row] ??= ""
      } else if (part.endsWith("K") && part.startsWith("\x1b")) screen[row] = screen[row]!.slice(0, column)
      else if (!part.startsWith("\x1b")) {
        const old = screen[row]!.padEnd(column)
        screen[row] = old.slice(0, column) + part + old.slice(column + part.length)
        column += part.length
      }
    }
    put(at)
  }
  return lines
}

const record = async (): Promise<ReadonlyArray<Chunk>> => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-recording-"))
  const main = fileURLToPath(new URL("../packages/cli/src/main.ts", import.meta.url))
  const inside = `stty cols ${columns} rows 24; exec '${process.execPath}' '${main}' demo`
  const child = spawn("script", ["-qfec", inside, "/dev/null"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] })
  const [start, chunks] = [performance.now(), new Array<Chunk>()]
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    chunks.push({ at: (performance.now() - start) / 1_000, text })
  })
  const [code] = await once(child, "close")
  rmSync(folder, { recursive: true })
  if (code !== 0) throw new Error(`the command ended with ${code}`)
  return chunks
}

/** The command as it is typed, then what it wrote, from half a second after. */
const withPrompt = (chunks: ReadonlyArray<Chunk>): ReadonlyArray<Chunk> => {
  const typed = Array.from(command, (text, i) => ({ at: 0.6 + i * 0.09, text }))
  const end = typed.at(-1)!.at + 0.5
  const output = chunks.map(({ at, text }) => ({ at: at + end, text }))
  return [{ at: 0, text: "$ " }, ...typed, { at: end, text: "\r\n" }, ...output, {
    at: output.at(-1)!.at,
    text: "\r\n$ "
  }]
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** A line, with the parts of a progress bar as boxes, since fonts differ in theirs. */
const drawn = ({ row, text }: Line): string => {
  const [x, y] = [padding, bar + padding + row * cell.height]
  const boxes = Array.from(text.matchAll(/█+|░+/g), ({ 0: part, index }) => {
    const [left, width] = [x + index * cell.width, part.length * cell.width]
    const kind = part.startsWith("█") ? "done" : "open"
    return `<rect class="${kind}" x="${left.toFixed(1)}" y="${y - 11}" width="${width.toFixed(1)}" height="12"/>`
  })
  // Every run of words has its own place, so that a font of another width does not shift what comes after.
  const words = Array.from(text.replaceAll(/[█░]/g, " ").matchAll(/\S+(?: \S+)*/g), ({ 0: part, index }) => {
    const kind = part.startsWith("$") ? ` class="prompt"` : ""
    return `<text${kind} x="${(x + index * cell.width).toFixed(1)}" y="${y}" textLength="${
      (part.length * cell.width).toFixed(1)
    }">${escaped(part)}</text>`
  })
  return [...boxes, ...words].join("")
}

/** The picture: every line is seen from its beginning to its end, again and again; where motion is unwanted, the last screen. */
export const picture = (lines: ReadonlyArray<Line>): string => {
  const length = Math.ceil(Math.max(...lines.map(({ from }) => from)) + 5)
  const percent = (seconds: number) => `${(100 * seconds / length).toFixed(2)}%`
  const rows = Math.max(...lines.map(({ row }) => row)) + 1
  const [width, height] = [Math.round(columns * cell.width + 2 * padding), bar + rows * cell.height + 2 * padding - 8]
  const frames = lines.map(({ from, to }, i) =>
    `@keyframes l${i}{0%{visibility:hidden}${percent(from)}{visibility:visible}${
      to === undefined ? "" : `${percent(to)}{visibility:hidden}`
    }}.l${i}{animation-name:l${i}}`
  )
  const style = `
rect.back{fill:#0c0e12;stroke:#2d323c}
circle{fill:#3a404c}
text{fill:#d9dee8;font:14px "IBM Plex Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.prompt{fill:#ff9a70}
.done{fill:#e8551f}
.open{fill:#343a46}
g{animation:${length}s step-end infinite;visibility:visible}
.gone{visibility:hidden}
${frames.join("\n")}
@media (prefers-reduced-motion:reduce){g{animation:none}}`
  const groups = lines.map((line, i) => `<g class="l${i}${line.to === undefined ? "" : " gone"}">${drawn(line)}</g>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${command}: a local service starts, and an export of some 20,000 posts from it takes seconds</title>
<style>${style}
</style>
<rect class="back" width="${width}" height="${height}" rx="10"/>
${[0, 1, 2].map((i) => `<circle cx="${24 + i * 18}" cy="20" r="5"/>`).join("")}
${groups.join("\n")}
</svg>
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lines = linesOf(withPrompt(await record()))
  writeFileSync(new URL("../docs/pictures/start.svg", import.meta.url), picture(lines))
}
