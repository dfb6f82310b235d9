/** The picture of the core's rooms: a floor for each level, and an arrow for each import that no other arrow implies. */
import { globSync, readFileSync } from "node:fs"
import { posix } from "node:path"

const root = new URL("../../packages/core/", import.meta.url)

const read = (path: string): string => readFileSync(new URL(path, root), "utf8")

/** The rooms, bottom first. */
export const rooms: ReadonlyArray<string> = JSON.parse(read("rooms.json"))

const roomOf = (path: string): string => path.replace(/(\.ts|\/.*)$/, "")

/** The rooms that each room imports. */
const importsOf = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const imports = new Map(rooms.map((room) => [room, new Set<string>()]))
  for (const file of globSync("**/*.ts", { cwd: new URL("src/", root) })) {
    for (const [, target = ""] of read(`src/${file}`).matchAll(/ from "(\.[^"]+)"/g)) {
      const room = roomOf(posix.join(posix.dirname(file), target))
      if (room !== roomOf(file)) imports.get(roomOf(file))?.add(room)
    }
  }
  return imports
}

/** A room on its floor, or the place where an arrow passes a floor. */
interface Node {
  readonly floor: number
  readonly width: number
  readonly name?: string
  readonly above: Array<Node>
  readonly below: Array<Node>
  /** The distance of its centre from the left edge of the picture. */
  x: number
}

const [width, floorHeight, boxHeight, gap] = [720, 58, 28, 28]

/** The rooms on their floors, with the passing places of arrows that are longer than a floor. Bottom first. */
const floorsOf = (imports: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyArray<Array<Node>> => {
  const floors: Array<Array<Node>> = []
  const nodes = new Map<string, Node>()
  const place = (floor: number, width: number, name?: string): Node => {
    const node: Node = { floor, width, above: [], below: [], x: 0, ...(name === undefined ? {} : { name }) }
    ;(floors[floor] ??= []).push(node)
    return node
  }
  const reaches = (from: string, to: string): boolean =>
    [...imports.get(from) ?? []].some((room) => room === to || reaches(room, to))
  for (const room of rooms) {
    const targets = [...imports.get(room) ?? []]
    const below = targets.map((target) => nodes.get(target) ?? fail(`${room} imports ${target}, which is not below it`))
    const node = place(Math.max(-1, ...below.map(({ floor }) => floor)) + 1, room.length * 7.8 + 24, room)
    nodes.set(room, node)
    for (const target of below) {
      if (targets.some((other) => other !== target.name && reaches(other, target.name ?? ""))) continue
      let upper = node
      for (let floor = node.floor - 1; floor >= target.floor; floor--) {
        const lower = floor === target.floor ? target : place(floor, 8)
        upper.below.push(lower)
        lower.above.push(upper)
        upper = lower
      }
    }
  }
  return floors
}

const fail = (message: string): never => {
  throw new Error(`${message} (rooms.json)`)
}

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Gives the nodes of a floor their places: as near to what they are connected with as their widths allow. */
const arrange = (floor: Array<Node>, neighbours: (node: Node) => ReadonlyArray<Node>): void => {
  const wanted = new Map(floor.map((node) => {
    const connected = neighbours(node)
    return [node, connected.length === 0 ? node.x : mean(connected.map(({ x }) => x))]
  }))
  const wish = (node: Node) => wanted.get(node) ?? node.x
  floor.sort((one, other) => wish(one) - wish(other))
  // Nodes that would overlap become a group around the mean of their wishes.
  const groups: Array<{ readonly nodes: Array<Node>; start: number; readonly size: () => number }> = []
  for (const node of floor) {
    const nodes = [node]
    const size = () => nodes.reduce((sum, { width }) => sum + width + gap, -gap)
    groups.push({ nodes, size, start: wish(node) - node.width / 2 })
    for (let last = groups.at(-1), before = groups.at(-2); last && before; before = groups.at(-2)) {
      if (before.start + before.size() + gap <= last.start) break
      before.nodes.push(...last.nodes)
      groups.pop()
      let offset = 0
      const starts = before.nodes.map((node) => {
        const start = wish(node) - node.width / 2 - offset
        offset += node.width + gap
        return start
      })
      before.start = mean(starts)
      last = before
    }
  }
  for (const { nodes, start } of groups) {
    let left = start
    for (const node of nodes) {
      node.x = left + node.width / 2
      left += node.width + gap
    }
  }
}

const style = `
.room { fill: #ffffff; stroke: #5b6b8c }
.arrow { fill: none; stroke: #8a97b3 }
.head { fill: #8a97b3 }
text { fill: #16203a; font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; text-anchor: middle }
@media (prefers-color-scheme: dark) {
  .room { fill: #1d2433; stroke: #7f8fb3 }
  .arrow { stroke: #66759a }
  .head { fill: #66759a }
  text { fill: #e6eaf5 }
}`

/** The picture, as SVG for light and dark pages. */
export const picture = (): string => {
  const floors = floorsOf(importsOf())
  for (const floor of floors) floor.forEach((node, i) => node.x = (i + 1) * width / (floor.length + 1))
  for (let sweep = 0; sweep < 12; sweep++) {
    for (const floor of floors) arrange(floor, ({ below }) => below)
    for (const floor of floors.toReversed()) arrange(floor, ({ above }) => above)
  }
  for (const floor of floors) arrange(floor, ({ above, below }) => [...above, ...below])
  const all = floors.flat()
  const left = Math.min(...all.map(({ width, x }) => x - width / 2))
  const right = Math.max(...all.map(({ width, x }) => x + width / 2))
  const scale = Math.min(1, (width - 4) / (right - left))
  const shift = (width - (right - left) * scale) / 2
  const xOf = ({ x }: Node) => Math.round((x - left) * scale + shift)
  const yOf = ({ floor }: Node) => (floors.length - 1 - floor) * floorHeight + boxHeight / 2 + 2
  const half = (node: Node) => node.name === undefined ? 0 : boxHeight / 2
  const arrows = all.flatMap((upper) =>
    upper.below.map((lower) => {
      const [x, y, toX, toY] = [xOf(upper), yOf(upper) + half(upper), xOf(lower), yOf(lower) - half(lower)]
      const middle = (y + toY) / 2
      const end = lower.name === undefined ? "" : ` marker-end="url(#head)"`
      return `<path class="arrow" d="M${x} ${y}C${x} ${middle} ${toX} ${middle} ${toX} ${toY}"${end}/>`
    })
  )
  const boxes = all.flatMap((node) => {
    if (node.name === undefined) return []
    const [x, y, width] = [xOf(node), yOf(node), Math.round(node.width * scale)]
    return [
      `<rect class="room" x="${x - width / 2}" y="${
        y - boxHeight / 2
      }" width="${width}" height="${boxHeight}" rx="5"/>`,
      `<text x="${x}" y="${y + 4}">${node.name}</text>`
    ]
  })
  const height = (floors.length - 1) * floorHeight + boxHeight + 4
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>The rooms of @postwire/core</title>
<style>${style}</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>
${[...arrows, ...boxes].join("\n")}
</svg>
`
}
