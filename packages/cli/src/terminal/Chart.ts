/** Charts of counts: in block characters, as SVG, or as a web page. */
import type { CountBucket } from "@postwire/core/schema/models/CountBucket"
import * as Text from "./Text.ts"

/** Counts of consecutive spans of the same length. */
export interface Series {
  readonly query: string
  /** The length of a span. */
  readonly granularity: string
  /** Oldest first. */
  readonly buckets: ReadonlyArray<CountBucket>
}

export interface Bar {
  readonly start: string
  readonly end: string
  readonly count: number
}

export const totalOf = ({ buckets }: Series): number => buckets.reduce((sum, { post_count }) => sum + post_count, 0)

/** At most `maximum` bars. With more spans, each bar is the sum of several neighbours; the last may have fewer. */
export const barsOf = (
  { buckets }: Series,
  maximum: number
): { readonly each: number; readonly bars: ReadonlyArray<Bar> } => {
  const each = Math.max(1, Math.ceil(buckets.length / Math.max(1, maximum)))
  const bars: Array<Bar> = []
  for (let i = 0; i < buckets.length; i += each) {
    const group = buckets.slice(i, i + each)
    bars.push({
      start: group[0]!.start,
      end: group.at(-1)!.end,
      count: group.reduce((sum, { post_count }) => sum + post_count, 0)
    })
  }
  return { each, bars }
}

/** A round, even number that is at least the value. */
const roofOf = (value: number): number => {
  if (!(value > 2)) return 2
  const unit = 10 ** Math.floor(Math.log10(value))
  const steps = unit === 1 ? [2, 4, 6, 8, 10] : [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10]
  return Math.round((steps.find((step) => step * unit >= value) ?? 10) * unit)
}

/** The label of a bar's start, as exact as its granularity. Times are UTC, as the service sends them. */
const timeOf = (time: string, granularity: string): string => {
  const text = Text.oneLine(time)
  return granularity === "day" ? text.slice(0, 10) : text.slice(5, 16).replace("T", " ")
}

const spanOf = (each: number, granularity: string): string =>
  each === 1 ? `one ${granularity}` : Text.quantity(each, `${granularity}s`)

const highestOf = (bars: ReadonlyArray<Bar>): Bar | undefined =>
  bars.reduce<Bar | undefined>(
    (highest, bar) => highest === undefined || bar.count > highest.count ? bar : highest,
    undefined
  )

const wordsOf = (series: Series, { bars, each }: ReturnType<typeof barsOf>): ReadonlyArray<string> => {
  const highest = highestOf(bars)
  const total = totalOf(series)
  return highest === undefined ? ["No time span, so no posts."] : [
    `${Text.quantity(total, "posts")} from ${Text.minute(bars[0]!.start)} to ${Text.minute(bars.at(-1)!.end)} UTC.`,
    `Each bar is ${spanOf(each, series.granularity)}; the highest, ${Text.count(highest.count)}, starts ${
      Text.minute(highest.start)
    }.`
  ]
}

const eighths = ["", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/** The chart in block characters: lines of at most `width` columns (40 or more), with bars of `height` lines. */
export const terminal = (series: Series, width = 80, height = 10): ReadonlyArray<string> => {
  const space = Math.max(40, width)
  const roof = roofOf(Math.max(0, ...series.buckets.map(({ post_count }) => post_count)))
  // Labels may be as wide as those of the sums.
  const labels = Math.max(Text.count(roof).length, Text.count(roofOf(totalOf(series))).length)
  const room = space - labels - 2
  const drawn = barsOf(series, room)
  const { bars } = drawn
  const top = roofOf(Math.max(0, ...bars.map(({ count }) => count)))
  const each = Math.max(1, Math.min(8, Math.floor(room / Math.max(1, bars.length))))
  // Wide bars have a gap.
  const block = each > 2 ? each - 1 : each
  const rows = Array.from({ length: height }, (_, i) => {
    const floor = height - 1 - i
    const label = floor === height - 1 ? top : floor === Math.floor(height / 2) - 1 ? top / 2 : undefined
    const line = bars.map(({ count }) => {
      // A count above 0 is always visible.
      const level = count > 0 ? Math.max(1, Math.round(count / top * height * 8)) : 0
      const fill = Math.max(0, Math.min(8, level - floor * 8))
      return (fill === 0 ? " " : eighths[fill]!).repeat(block) + " ".repeat(each - block)
    }).join("")
    return `${(label === undefined ? "" : Text.count(label)).padStart(labels)} ${
      label === undefined ? "│" : "┤"
    }${line}`
      .trimEnd()
  })
  let axis = ""
  let times = ""
  for (const [i, { start }] of bars.entries()) {
    const at = i * each
    const label = timeOf(start, series.granularity)
    const fits = (times === "" || at >= times.length + 2) && at + label.length <= room
    axis += (fits ? "┬" : "─") + "─".repeat(each - 1)
    if (fits) times = times.padEnd(at) + label
  }
  return [
    Text.cut(`Posts that match ${Text.oneLine(series.query)}`, space),
    "",
    ...bars.length === 0 ? [] : [
      ...rows,
      `${"0".padStart(labels)} ┼${axis}`,
      `${" ".repeat(labels + 2)}${times}`,
      ""
    ],
    ...wordsOf(series, drawn).flatMap((words) => Text.wrap(words, space))
  ]
}

/** A value with its name and text. */
export interface Row {
  readonly name: string
  readonly value: number
  readonly text: string
}

/** Horizontal bars with names and values: lines of at most `width` columns (40 or more). */
export const rows = (all: ReadonlyArray<Row>, width = 80): ReadonlyArray<string> => {
  const space = Math.max(40, width)
  const texts = Math.max(0, ...all.map(({ text }) => Text.width(text)))
  const names = Math.min(Math.max(0, ...all.map(({ name }) => Text.width(name))), Math.max(8, space - texts - 16))
  const room = Math.min(40, space - names - texts - 6)
  const most = Math.max(0, ...all.map(({ value }) => value))
  return all.map(({ name, text, value }) => {
    const parts = value > 0 ? Math.max(1, Math.round(value / most * room * 8)) : 0
    const bar = "█".repeat(parts >> 3) + (leftEighths[parts & 7] ?? "")
    return `  ${Text.pad(Text.cut(Text.oneLine(name), names), names)}  ${Text.pad(text, texts, true)}  ${bar}`.trimEnd()
  })
}

const leftEighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

const escaped = (text: string): string =>
  Text.oneLine(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const style = `
    .chart { --ink: #1f2328; --line: #d0d7de; --bar: #0b62c4; --ground: #ffffff }
    @media (prefers-color-scheme: dark) {
      .chart { --ink: #e6edf3; --line: #3d444d; --bar: #6cb0ff; --ground: #0d1117 }
    }
    .chart text { fill: var(--ink); font: 12px system-ui, sans-serif }
    .chart .title { font-size: 16px; font-weight: 600 }
    .chart .line { stroke: var(--line) }
    .chart .bar { fill: var(--bar) }
    .chart .ground { fill: var(--ground) }`

/** The size of the drawing and its margins. */
const drawing = { width: 960, height: 400, left: 72, right: 16, top: 64, bottom: 48 }
const mostBars = 400

const digits = (value: number): string => String(Math.round(value * 100) / 100)

/** The chart as SVG, for light and dark mode, with a description for screen readers. */
export const svg = (series: Series): string => {
  const { bottom, height, left, right, top, width } = drawing
  const drawn = barsOf(series, mostBars)
  const { bars } = drawn
  const roof = roofOf(Math.max(0, ...bars.map(({ count }) => count)))
  const across = (width - left - right) / Math.max(1, bars.length)
  const up = (height - top - bottom) / roof
  const ground = height - bottom
  const words = wordsOf(series, drawn)
  const title = Text.cut(Text.oneLine(`Posts that match ${series.query}`), 96)
  // A label is about 80 units wide.
  const every = Math.max(1, Math.ceil(96 / across))
  const lines = [0, roof / 2, roof].map((value) => {
    const y = digits(ground - value * up)
    return `  <line class="line" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}"/>
  <text x="${left - 8}" y="${y}" text-anchor="end" dominant-baseline="middle">${Text.count(value)}</text>`
  })
  const shapes = bars.map(({ count, end, start }, i) => {
    const gap = across > 4 ? 1 : 0
    return `  <rect class="bar" x="${digits(left + i * across)}" y="${digits(ground - count * up)}" width="${
      digits(across - gap)
    }" height="${digits(count * up)}"><title>${escaped(Text.minute(start))} to ${escaped(Text.minute(end))}: ${
      Text.count(count)
    }</title></rect>`
  })
  const times = bars.flatMap(({ start }, i) =>
    i % every === 0 && left + i * across + 80 <= width
      ? [
        `  <text x="${digits(left + i * across)}" y="${ground + 20}">${
          escaped(timeOf(start, series.granularity))
        }</text>`
      ]
      : []
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
  <title id="title">Posts that match ${escaped(series.query)}</title>
  <desc id="description">${escaped(words.join(" "))}</desc>
  <style>${style}
  </style>
  <rect class="ground" width="${width}" height="${height}"/>
  <text class="title" x="${left}" y="28">${escaped(title)}</text>
  <text x="${left}" y="48">${escaped(words[0] ?? "")}</text>
${[...lines, ...shapes, ...times].join("\n")}
</svg>
`
}

/** The chart as a self-contained web page, with its figures in a table. */
export const html = (series: Series): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Posts that match ${escaped(series.query)}</title>
<style>
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 1rem system-ui, sans-serif }
svg { width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 0.25rem 1rem 0.25rem 0; text-align: left }
td:last-child { text-align: right }
</style>
</head>
<body>
<main>
${svg(series)}<details>
<summary>The figures</summary>
<table>
<thead><tr><th scope="col">From (UTC)</th><th scope="col">To</th><th scope="col">Posts</th></tr></thead>
<tbody>
${
    barsOf(series, mostBars).bars.map(({ count, end, start }) =>
      `<tr><td>${escaped(Text.minute(start))}</td><td>${escaped(Text.minute(end))}</td><td>${
        Text.count(count)
      }</td></tr>`
    ).join("\n")
  }
</tbody>
</table>
</details>
</main>
</body>
</html>
`
