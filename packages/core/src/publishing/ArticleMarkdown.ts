/**
 * Markdown as the content of an article. Pure. It needs the package `markdown-it`, and only programs that import this module do.
 * Offsets and lengths are UTF-16 code units.
 *
 * @stability experimental
 */
import MarkdownIt, { type Env, type StateBlock, type StateInline, type Token } from "markdown-it"
import type { ArticleBlock, ArticleContent, ArticleEntity } from "../schema/models/Article.ts"

/** A picture of a text. */
export interface ArticleImage {
  /** Its address as written, by which `media` has it. */
  readonly name: string
  readonly alt: string
  /** Counted from 1. */
  readonly line: number
}

/** Something that an article shows differently, or not at all. */
export interface Difference {
  /** The line of the text, counted from 1. */
  readonly line: number
  /** The part of the text, such as `table`. */
  readonly what: string
  /** How the article shows it. */
  readonly shown: string
}

/** An uploaded picture: its media id, or the media with their category. */
export type ArticleMedia = string | { readonly id: string; readonly category: string }

/** Options of `articleFromMarkdown`. */
export interface MarkdownOptions {
  /** The uploaded pictures by name. A picture that is absent is shown as its alt text. */
  readonly media?: Readonly<Record<string, ArticleMedia>> | undefined
  /** The title. Without one, a heading of the first level at the very beginning is the title, and no part of the content. */
  readonly title?: string | undefined
}

/** An article made from Markdown. */
export interface MarkdownArticle {
  /** Absent if none was given and the text does not begin with one. */
  readonly title?: string
  readonly content_state: ArticleContent
  /** The pictures, each name once, in the order of the text. */
  readonly images: ReadonlyArray<ArticleImage>
  /** The parts that the article shows differently or not at all, by line. */
  readonly differences: ReadonlyArray<Difference>
  /** The length of all blocks and of the Markdown in them. */
  readonly length: number
}

/**
 * Makes an article from Markdown (CommonMark, tables and strikethrough). Accepts any text. Everything that an article cannot show is
 * reported in `differences`.
 *
 * ```ts
 * const { content_state, differences, title } = articleFromMarkdown("# Tea\n\nBoil *water*.")
 * ```
 */
export const articleFromMarkdown = (text: string, options: MarkdownOptions = {}): MarkdownArticle =>
  new Writer(text, options).article()

type BlockType = ArticleBlock["type"]

type BlockStyle = NonNullable<ArticleBlock["inline_style_ranges"]>[number]["style"]

type EntityType = ArticleEntity["value"]["type"]

type EntityData = ArticleEntity["value"]["data"]

const media_category = "tweet_image"

const styles: Readonly<Record<string, BlockStyle>> = { strong: "bold", em: "italic", s: "strikethrough" }

const headings: Readonly<Record<string, BlockType>> = { h1: "header-one", h2: "header-two", h3: "header-three" }

const containers: Readonly<Record<string, BlockType>> = {
  blockquote: "blockquote",
  bullet_list: "unordered-list-item",
  ordered_list: "ordered-list-item"
}

/** A post's address alone in a paragraph. */
const postAddress =
  /^<?https?:\/\/(?:www\.|mobile\.)?(?:x|twitter)\.com\/\w{1,15}\/status\/(\d{1,19})\/?(?:\?[^\s<>]*)?>?$/

/** Bounded, so that the time is linear. */
const footnote = /\[\^[^\][\s]{1,64}\]/

const definition = /^[\s>*+\-\d.)]*\[([^\]\\]{1,999})\]:/

/** A list or a quote around a block. */
interface Container {
  readonly name: "list" | "quote"
  readonly type: BlockType
  /** Its current item has a block. */
  isFilled: boolean
}

/** An open style or link. A link to anything but the web has no `url`. */
interface Mark {
  readonly style?: BlockStyle
  readonly url?: string
  /** The entity of a link. */
  key?: number
  /** Its offset in the current block. */
  from: number
  /** It has a picture, which no block can link. */
  hasPicture?: boolean
}

/** The part of a paragraph that becomes one block. */
interface Open {
  readonly type: BlockType
  /** It is the text of an item after a picture, which ended the item. */
  readonly isRest: boolean
  text: string
  readonly marks: Array<Mark>
  readonly inline_style_ranges: Array<{ offset: number; length: number; style: BlockStyle }>
  readonly entity_ranges: Array<{ key: number; offset: number; length: number }>
}

/** One conversion. */
class Writer {
  readonly #source: ReadonlyArray<string>
  readonly #options: MarkdownOptions
  readonly #blocks: Array<ArticleBlock> = []
  readonly #entities: Array<ArticleEntity> = []
  readonly #images = new Map<string, ArticleImage>()
  readonly #differences = new Map<string, Difference>()
  readonly #containers: Array<Container> = []
  /** The addresses that links and pictures have. */
  readonly #used = new Set<string>()
  #open: Open = opened("unstyled", false)
  #title: string | undefined
  /** The line of what is being written. */
  #line = 1

  constructor(text: string, options: MarkdownOptions) {
    const lines = text.split(/\r\n?|\n/)
    const end = /^---[ \t]*$/.test(lines[0] ?? "")
      ? lines.findIndex((line, i) => i > 0 && /^---[ \t]*$/.test(line))
      : -1
    // Blank lines in its place keep the numbers of the lines.
    this.#source = end > 0 && /^[\w-]+:/.test(lines[1] ?? "") ? lines.map((line, i) => i > end ? line : "") : lines
    if (this.#source !== lines) this.#differs("front matter", "nowhere")
    this.#options = options
    this.#title = options.title
  }

  article(): MarkdownArticle {
    const env = {}
    const tokens = parser.parse(this.#source.join("\n"), env)
    for (const [i, token] of tokens.entries()) this.#write(token, tokens[i - 1])
    this.#reportUncovered(tokens, env)
    const markdown = this.#entities.reduce((sum, { value: { data } }) => sum + (data.markdown ?? "").length, 0)
    return {
      ...(this.#title === undefined ? {} : { title: this.#title }),
      content_state: { blocks: this.#blocks, entities: this.#entities },
      images: [...this.#images.values()],
      differences: [...this.#differences.values()].sort((a, b) => a.line - b.line),
      length: this.#blocks.reduce((sum, { text }) => sum + text.length, markdown)
    }
  }

  #differs(what: string, shown: string): void {
    const line = this.#line
    this.#differences.set(`${line} ${what}`, { line, what, shown })
  }

  #write(token: Token, before: Token | undefined): void {
    if (token.map !== null) this.#line = token.map[0] + 1
    const outer = this.#containers.at(-1)
    const container = containers[token.type.replace(/_(?:open|close)$/, "")]
    if (container !== undefined) {
      if (token.nesting === 1) this.#enter(container, outer, token)
      else this.#containers.pop()
      return
    }
    switch (token.type) {
      case "list_item_open":
        if (outer !== undefined) outer.isFilled = false
        return
      case "list_item_close":
        if (outer?.isFilled === false) this.#push({ text: "", type: outer.type })
        return
      case "inline":
        if (token.level > 0 && before !== undefined) this.#writeText(token, before)
        return
      case "hr":
        this.#leaf("divider")
        return this.#atomic("divider", {})
      case "fence":
      case "code_block":
        this.#leaf("code")
        return this.#atomic("markdown", { markdown: fenced(token) })
      case "table_open":
        this.#leaf("table")
        this.#differs("table", "as Markdown")
        return this.#atomic("markdown", { markdown: this.#sourceOf(token) })
      case "html_block":
        return this.#writeHtml(token.content.trimEnd(), (text) => {
          this.#leaf("HTML")
          this.#push({ text, type: "unstyled" })
        })
    }
  }

  #enter(type: BlockType, outer: Container | undefined, token: Token): void {
    const name = type === "blockquote" ? "quote" : "list"
    if (outer !== undefined) {
      outer.isFilled = true
      this.#differs(name === outer.name ? `nested ${name}` : `${name} in a ${outer.name}`, "without its nesting")
    }
    const start = attribute(token, "start")
    if (start !== "" && start !== "1") this.#differs(`list that begins with ${start}`, "beginning with 1")
    this.#containers.push({ name, type, isFilled: name === "quote" })
  }

  /** Reports a block that lists and quotes cannot hold. */
  #leaf(what: string): void {
    const outer = this.#containers.at(-1)
    if (outer !== undefined) this.#differs(`${what} in a ${outer.name}`, `outside the ${outer.name}`)
  }

  #writeText(token: Token, before: Token): void {
    if (before.type === "th_open" || before.type === "td_open") return this.#reportCell(token)
    const line = this.#line
    const outer = this.#containers.at(-1)
    const post = before.type === "paragraph_open" ? postAddress.exec(token.content) : null
    if (post?.[1] !== undefined) {
      this.#leaf("post")
      return this.#atomic("post", { post_id: post[1] })
    }
    this.#open = opened(this.#typeOf(before), false)
    if (outer !== undefined) outer.isFilled = true
    const isFirst = this.#blocks.length === 0
    this.#writeInline(token.children ?? [])
    this.#flush()
    this.#line = line
    if (isFirst && before.tag === "h1" && outer === undefined) this.#takeTitle()
  }

  /** Reports the pictures of a table, and the links whose targets its Markdown does not have. */
  #reportCell({ children, content }: Token): void {
    const text = parser.utils.unescapeAll(content)
    for (const token of children ?? []) {
      const isPicture = token.type === "image"
      const address = attribute(token, isPicture ? "src" : "href")
      this.#used.add(address)
      if (isPicture) this.#differs(`picture ${address} in a table`, "as Markdown without an upload")
      else if (!text.includes(address)) this.#differs(`link to ${address} in a table`, "without its target")
    }
  }

  #typeOf({ tag }: Token): BlockType {
    const outer = this.#containers.at(-1)
    if (tag === "p") {
      if (outer?.name !== "list" || !outer.isFilled) return outer?.type ?? "unstyled"
      this.#differs("paragraph in a list", "outside the list")
      return "unstyled"
    }
    this.#leaf("heading")
    const type = headings[tag]
    if (type === undefined) this.#differs(`heading of level ${tag.slice(1)}`, "as a heading of level 3")
    return type ?? "header-three"
  }

  #takeTitle(): void {
    const [block, ...others] = this.#blocks
    if (this.#title !== undefined || block === undefined || others.length > 0 || block.type === "atomic") return
    if (block.inline_style_ranges !== undefined || block.entity_ranges !== undefined) {
      this.#differs("formatted title", "as plain text")
    }
    this.#title = block.text
    this.#blocks.length = 0
    this.#entities.length = 0
  }

  #writeInline(tokens: ReadonlyArray<Token>): void {
    const first = this.#line
    for (const token of tokens) {
      this.#line = first + (token.map?.[0] ?? 0)
      const [name = "", side] = token.type.split("_")
      const style = styles[name]
      if (side === "close") this.#close()
      else if (style !== undefined) this.#open.marks.push({ style, from: this.#open.text.length })
      else if (name === "softbreak") this.#append(" ")
      else if (name === "hardbreak") this.#append("\n")
      else if (name === "link") this.#openLink(token)
      else if (name === "image") this.#writeImage(token)
      else if (name === "html") this.#writeHtml(token.content, (text) => this.#append(text))
      else {
        if (name === "code") this.#differs("code in a line", "as plain text")
        else if (footnote.test(token.content)) this.#differs("footnote", "as text where it stands")
        this.#append(token.content)
      }
    }
  }

  #append(text: string): void {
    this.#open.text += this.#open.text === "" ? text.trimStart() : text
  }

  #openLink(token: Token): void {
    const address = attribute(token, "href")
    this.#used.add(address)
    if (attribute(token, "title") !== "") this.#differs("title of a link", "nowhere")
    const isWeb = /^https?:\/\/./i.test(address)
    if (!isWeb) this.#differs(`link to ${address || "nothing"}`, "as its text")
    const from = this.#open.text.length
    this.#open.marks.push(isWeb ? { url: parser.utils.lib.mdurl.encode(address), from } : { from })
  }

  /** Ends the innermost style or link. A link without a text shows its address. */
  #close(): void {
    const mark = this.#open.marks.pop()
    if (mark === undefined) return
    const { hasPicture = false, key, url } = mark
    if (url !== undefined && key === undefined && !hasPicture && mark.from >= this.#open.text.length) this.#append(url)
    this.#end(mark)
  }

  /** Adds the range of a style or link in the current block. */
  #end(mark: Mark): void {
    const { from, style, url } = mark
    const { entity_ranges, inline_style_ranges, text } = this.#open
    const range = { offset: from, length: text.length - from }
    if (range.length <= 0) return
    if (style !== undefined) inline_style_ranges.push({ ...range, style })
    if (url !== undefined) entity_ranges.push({ ...range, key: mark.key ??= this.#entity("link", "mutable", { url }) })
  }

  #writeImage(token: Token): void {
    const alt = plainOf(token)
    const name = attribute(token, "src")
    const caption = attribute(token, "title")
    const { media = {} } = this.#options
    this.#used.add(name)
    const known = this.#images.get(name)
    if (known === undefined || known.alt === "") this.#images.set(name, { name, alt, line: known?.line ?? this.#line })
    const given = Object.hasOwn(media, name) ? media[name] : undefined
    if (given === undefined) {
      this.#differs(`picture ${name} without a media id`, "as its alt text")
      return this.#append(alt)
    }
    if (known !== undefined && known.alt !== "" && alt !== "" && alt !== known.alt) {
      this.#differs(`another alt text of picture ${name}`, "nowhere")
    }
    const link = this.#open.marks.find(({ url }) => url !== undefined)
    if (link !== undefined) {
      link.hasPicture = true
      this.#differs("link of a picture", "without the link")
    }
    this.#leaf("picture")
    this.#flush()
    const [media_id, category] = typeof given === "string" ? [given, media_category] : [given.id, given.category]
    this.#atomic("image", {
      ...(caption === "" ? {} : { caption }),
      media_items: [{ media_id, media_category: category }]
    })
  }

  #writeHtml(html: string, show: (text: string) => void): void {
    const isComment = html.startsWith("<!--") && html.indexOf("-->") === html.length - 3
    this.#differs(isComment ? "comment" : "HTML", isComment ? "nowhere" : "as text")
    if (!isComment) show(html)
  }

  /** Ends a block, and begins the next one within the same styles and link. */
  #flush(): void {
    const { entity_ranges, inline_style_ranges, isRest, marks, text, type } = this.#open
    for (const mark of marks) this.#end(mark)
    if (text !== "") {
      if (isRest) this.#differs("text after a picture in a list", "outside the list")
      this.#push({
        text,
        type,
        ...(inline_style_ranges.length === 0 ? {} : { inline_style_ranges }),
        ...(entity_ranges.length === 0 ? {} : { entity_ranges })
      })
    }
    const isItem = text !== "" && type.endsWith("list-item")
    const next = opened(isItem ? "unstyled" : type, isItem || isRest)
    this.#open = { ...next, marks: marks.map((mark) => ({ ...mark, from: 0 })) }
  }

  #atomic(type: EntityType, data: EntityData): void {
    const key = this.#entity(type, "immutable", data)
    this.#push({ text: " ", type: "atomic", entity_ranges: [{ key, offset: 0, length: 1 }] })
  }

  #push(block: ArticleBlock): void {
    this.#blocks.push(block)
    const outer = this.#containers.at(-1)
    if (outer !== undefined) outer.isFilled = true
  }

  #entity(type: EntityType, mutability: "immutable" | "mutable", data: EntityData): number {
    const key = this.#entities.length
    this.#entities.push({ key: String(key), value: { type, mutability, data } })
    return key
  }

  #sourceOf({ map }: Token): string {
    const lines = map === null ? [] : this.#source.slice(...map)
    return lines.map((line) => this.#containers.length === 0 ? line : line.replace(/^[\s>]*/, "")).join("\n").trimEnd()
  }

  /** Reports lines that became no part of a block: definitions that nothing uses, and what is nested too deeply. */
  #reportUncovered(tokens: ReadonlyArray<Token>, { references = {} }: Env): void {
    const isCovered = new Set<number>()
    for (const { map, nesting, type } of tokens) {
      if (map === null || (nesting === 1 && type !== "table_open" && type !== "heading_open")) continue
      for (let i = map[0]; i < map[1]; i++) isCovered.add(i)
    }
    let isDefinition = false
    for (const [i, line] of this.#source.entries()) {
      this.#line = i + 1
      const label = isCovered.has(i) ? undefined : definition.exec(line)?.[1]
      if (isCovered.has(i) || /^[\s>*+\-\d.)]*$/.test(line)) isDefinition = false
      else if (label !== undefined) {
        isDefinition = true
        const { href } = references[parser.utils.normalizeReference(label)] ?? {}
        if (href === undefined || !this.#used.has(href)) {
          this.#differs("link definition without a link", "nowhere")
        }
      } else if (!isDefinition) this.#differs("text nested too deeply", "nowhere")
    }
  }
}

const opened = (type: BlockType, isRest: boolean): Open => ({
  type,
  isRest,
  text: "",
  marks: [],
  inline_style_ranges: [],
  entity_ranges: []
})

const attribute = (token: Token, name: string): string => String(token.attrGet(name) ?? "")

/** The text of a picture without its markup. */
const plainOf = ({ children }: Token): string =>
  (children ?? []).map((token) =>
    token.type === "image" ? plainOf(token) : token.type.endsWith("break") ? " " : token.content
  ).join("")

/** Code as fenced Markdown, with a fence longer than any in the code. */
const fenced = ({ content, info, markup }: Token): string => {
  const [mark, runs] = markup.startsWith("~") ? ["~", /~+/g] as const : ["`", /`+/g] as const
  const longest = (content.match(runs) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = mark.repeat(longest + 1)
  return `${fence}${info}\n${content.endsWith("\n") || content === "" ? content : `${content}\n`}${fence}`
}

/** Addresses stay as written: pictures are looked up by them. */
const makeParser = () => {
  const parser = new MarkdownIt({ html: true })
  parser.normalizeLink = (address) => address
  parser.validateLink = () => true
  parser.block.ruler.before("reference", "footnote", footnoteLine)
  parser.inline.State = class extends parser.inline.State {
    #line = 0
    #from = 0

    override pushPending() {
      return this.#located(super.pushPending())
    }

    override push(...token: Parameters<StateInline["push"]>) {
      return this.#located(super.push(...token))
    }

    /** Notes the line of a token of a text, counted from 0: the parser has only the lines of blocks. */
    #located(token: Token): Token {
      this.#line += this.src.slice(this.#from, this.pos).split("\n").length - 1
      this.#from = this.pos
      token.map = [this.#line, this.#line + 1]
      return token
    }
  }
  return parser
}

const parser = /*#__PURE__*/ makeParser()

/** Keeps the definition of a footnote as a paragraph; it would be one of a link. */
function footnoteLine(state: StateBlock, line: number, _end: number, silent: boolean): boolean {
  const content = state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
  if (!content.startsWith("[^") || !/^\[\^[^\][\s]{1,64}\]:/.test(content)) return false
  if (silent) return true
  state.line = line + 1
  state.push("paragraph_open", "p", 1).map = [line, line + 1]
  const inline = state.push("inline", "", 0)
  inline.content = content
  inline.map = [line, line + 1]
  inline.children = []
  state.push("paragraph_close", "p", -1)
  return true
}
