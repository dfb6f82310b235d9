/** Charts as SVG that fills its width, each with its figures in a table. */
import { count, type Html, html, nothing, table } from "./Html.ts"

/** A value at a time, or for a day or a month. */
export interface Point {
  readonly at: string
  readonly value: number
}

/** The units of the drawing, which is stretched. */
const width = 1000
const height = 100

const framed = (title: string, about: string, shapes: Html, points: ReadonlyArray<Point>, top: number): Html =>
  points.length === 0 ? nothing : html`<figure><figcaption><strong>${title}</strong> ${about}</figcaption>
<div class="top">${count(top)}</div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${title}: ${about}">${shapes}</svg>
<div class="axis"><span>${points[0]?.at.slice(0, 10) ?? ""}</span><span>${
    points.at(-1)?.at.slice(0, 10) ?? ""
  }</span></div>
<details><summary>Figures</summary>${
    table(["Time", "Value"], points.map(({ at, value }) => [at.slice(0, 16).replace("T", " "), value]))
  }</details></figure>`

/** Bars of counts for consecutive days or months. */
export const bars = (title: string, points: ReadonlyArray<Point>): Html => {
  const most = points.reduce((most, point) => point.value > most.value ? point : most, { at: "", value: 0 })
  const total = points.reduce((sum, { value }) => sum + value, 0)
  const each = width / points.length
  const shapes = points.map(({ at, value }, index) => {
    const up = value / Math.max(1, most.value) * height
    return html`<rect x="${(index * each).toFixed(2)}" y="${(height - up).toFixed(2)}" width="${
      (each * 0.9).toFixed(2)
    }" height="${up.toFixed(2)}"><title>${at}: ${count(value)}</title></rect>`
  })
  return framed(
    title,
    `${count(total)} in all, at most ${count(most.value)} (${most.at})`,
    html`${shapes}`,
    points,
    most.value
  )
}

/** A line through values over time. */
export const line = (title: string, points: ReadonlyArray<Point>): Html => {
  if (points.length < 2) return nothing
  const values = points.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const times = points.map(({ at }) => Date.parse(at))
  const [from = 0, to = 1] = [times[0], times.at(-1)]
  const path = points.map(({ value }, index) =>
    `${(((times[index] ?? from) - from) / Math.max(1, to - from) * width).toFixed(1)},${
      (height - 2 - (value - low) / Math.max(1, high - low) * (height - 4)).toFixed(1)
    }`
  ).join(" ")
  const about = `${count(values.at(-1) ?? 0)} now, ${count(low)} to ${count(high)}`
  return framed(title, about, html`<polyline points="${path}" vector-effect="non-scaling-stroke"/>`, points, high)
}

/** Counts by day or month, with zeros for those between that have none. */
export const filled = (counts: ReadonlyArray<Point>): ReadonlyArray<Point> => {
  const known = new Map(counts.map(({ at, value }) => [at, value]))
  const [first, last] = [counts[0]?.at ?? "", counts.at(-1)?.at ?? ""]
  const points: Array<Point> = []
  const day = new Date(first)
  for (let at = first; at !== "" && at <= last; at = day.toISOString().slice(0, first.length)) {
    points.push({ at, value: known.get(at) ?? 0 })
    if (first.length === 7) day.setUTCMonth(day.getUTCMonth() + 1)
    else day.setUTCDate(day.getUTCDate() + 1)
  }
  return points
}
