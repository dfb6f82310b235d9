/**
 * Articles that are created once: no operation reads a draft, so the journal remembers it. The same call continues an interrupted
 * one, and never creates a second draft by itself.
 *
 * @stability experimental
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Client } from "../client/Client.ts"
import * as OptionRules from "../client/OptionRules.ts"
import { ArticleUndecided } from "../errors/ArticleErrors.ts"
import { invalidParameter, type InvalidParameters, OutcomeUnknown } from "../errors/Errors.ts"
import type { StorageFailure } from "../errors/StorageErrors.ts"
import * as Source from "../media/Source.ts"
import * as Upload from "../media/Upload.ts"
import * as UploadCheckpoint from "../media/UploadCheckpoint.ts"
import { createArticleDraft, publishArticle } from "../operations/Articles.ts"
import * as Callback from "../runtime/Callback.ts"
import type { ArticleContent } from "../schema/models/Article.ts"
import { ownProperties } from "../schema/Parameters.ts"
import { isKey, Journal, keyRule } from "../storage/Journal.ts"
import * as ArticleRecord from "./internal/articleRecord.ts"
import * as Contents from "./internal/contents.ts"
import * as Draft from "./internal/draft.ts"
import * as FindPost from "./internal/findPost.ts"
import * as Owner from "./internal/owner.ts"
import * as RecordLog from "./internal/recordLog.ts"
import * as SendOnce from "./internal/sendOnce.ts"
import type { Media, PublishError, PublishOptions } from "./PublishOptions.ts"

/** An article to create. */
export interface Article<Input = Source.Input> {
  /** Not empty. */
  readonly title: string
  readonly content_state: ArticleContent
  /**
   * Files to upload, by name. Where the content has such a name as `media_id`, the id and the category of the uploaded file take
   * its place.
   */
  readonly images?: Readonly<Record<string, Input | Media<Input>>> | undefined
  /** A file to upload, which is shown above the title. */
  readonly cover?: Input | Media<Input> | undefined
}

/** The progress of an article: its uploads. Files count from 1; the cover is the last one. */
export type ArticleProgress = Upload.Progress & { readonly file: number }

/** Options of creating an article. `timeout` and `retries` apply to the two creates; uploads use the client's. */
export interface ArticleOptions extends Pick<PublishOptions, "timeout" | "retries" | "user_auth"> {
  /** The permanent name of the article in the journal: 1 to 128 characters. */
  readonly key: string
  /** Publishes it, now or in a later call with the same key. Default: `false`, the draft stays a draft. */
  readonly publish?: boolean | undefined
  /** After an `ArticleUndecided`: sends again what may have happened. */
  readonly undecided?: "continue" | undefined
  /** The id of the draft, which its author has found: continues with it, and creates none. */
  readonly article_id?: string | undefined
  /** Called with every step of the uploads. Its errors are ignored. */
  readonly onProgress?: ((progress: ArticleProgress) => void) | undefined
}

/** An article that was created. */
export interface CreatedArticle {
  /** The id of the draft. */
  readonly article_id: string
  /** The id of its post, once it is published. */
  readonly post_id?: string
  /** An earlier call has created the draft. */
  readonly resumed: boolean
}

/** The errors of `createArticle`. */
export type ArticleError = Exclude<PublishError, OutcomeUnknown> | ArticleUndecided | StorageFailure

const operation = "createArticle"

const lag = FindPost.defaultLag

/**
 * Uploads the pictures of an article, creates its draft, and publishes it if `publish` is set. After an interruption, a call with
 * the same key continues; it never creates a second draft.
 *
 * Where the response to the publication was lost, its post is looked for among those of the author, for a minute. If it is not
 * there, or if the response to the draft was lost, the call fails with `ArticleUndecided`, and so does every call with the key until
 * the post is found, or `article_id` or `undecided` settles it.
 *
 * ```ts
 * const { article_id } = yield* createArticle({
 *   title: "On lighthouses",
 *   content_state: { blocks: [{ type: "unstyled", text: "They are lit at dusk." }], entities: [] }
 * }, { key: "lighthouses" })
 * ```
 */
export const createArticle = (
  article: Article,
  options: ArticleOptions
): Effect.Effect<CreatedArticle, ArticleError, Client | Journal> =>
  Effect.scoped(Effect.gen(function*() {
    const invalid = checkOptions(options)
    if (invalid !== undefined) return yield* invalid
    const { key, publish = false } = options
    yield* check(article, options)
    const { content_state, cover, images = {}, title } = article
    const journal = yield* Journal
    const name = ArticleRecord.nameOf(key)
    yield* journal.lock(name)
    const known = yield* ArticleRecord.records.read(journal, name)
    const { after: _, ...owner } = yield* Owner.find(known, {
      operation,
      key,
      user_auth: options.user_auth,
      noun: "article",
      contents: Contents.hashOf([
        title,
        content_state,
        Object.entries(images).map(([name, file]) => [name, Contents.fileOf(file)]),
        cover && Contents.fileOf(cover)
      ])
    })
    const log = RecordLog.make(
      (record: ArticleRecord.ArticleRecord) => ArticleRecord.records.write(journal, name, record),
      {
        version: 1,
        ...owner,
        state: known?.state ?? { _tag: "waiting" }
      }
    )
    const run = new ArticleRun(log, article, options)
    yield* run.settle()
    const resumed = run.state._tag !== "waiting"
    if (!resumed) yield* run.draft()
    if (publish && run.state._tag === "drafted") yield* run.publish(run.state.article_id)
    const { state } = run
    return {
      article_id: "article_id" in state ? state.article_id : "",
      ...("post_id" in state ? { post_id: state.post_id } : {}),
      resumed
    }
  }))

const checkOptions = (options: ArticleOptions): InvalidParameters | undefined => {
  const names = ["key", "publish", "undecided", "article_id"]
  const invalid = Draft.checkOptions(operation, options, names)
  if (invalid !== undefined) return invalid
  const { key }: ArticleOptions = options
  if (!isKey(key)) {
    return invalidParameter(operation, "key", `${keyRule}, of your choice and unique to the article`, key)
  }
  return OptionRules.check(operation, options, {
    publish: OptionRules.flag,
    undecided: [(value) => value === "continue", "must be continue"]
  })
}

/** Checks an article without its files. */
const check = Effect.fnUntraced(function*(
  article: Article,
  { article_id, user_auth }: ArticleOptions
): Effect.fn.Return<void, InvalidParameters, Client> {
  const client = yield* Client
  const given = ownProperties(article)
  if (given === undefined) {
    return yield* invalidParameter(operation, "article", "must be an object with a title", article)
  }
  const { content_state, cover, images = {}, title }: Article = article
  for (const [name, file] of filesOf({ images, cover })) {
    if (Source.from(file.file) === undefined) {
      return yield* invalidParameter(operation, `${name}.file`, Source.rule, undefined)
    }
  }
  const parameters = { title, content_state, ...auth(user_auth) }
  const draft = client.check(createArticleDraft.definition, parameters)
  const found = article_id === undefined ? Effect.void : client.check(publishArticle.definition, { article_id })
  yield* Effect.mapError(Effect.andThen(draft, found), (error) => Draft.renamed(error, { operation, prefix: "" }))
})

const auth = (user_auth: boolean | undefined) => user_auth === undefined ? {} : { user_auth }

/** The content with uploaded files in place of their names. */
const withMedia = (content: ArticleContent, media: ReadonlyMap<string, Upload.UploadedMedia>): ArticleContent => ({
  ...content,
  entities: content.entities.map((entity) => {
    const { value } = entity
    if (value.data.media_items === undefined) return entity
    const media_items = value.data.media_items.map((item) => {
      const uploaded = media.get(item.media_id)
      return uploaded === undefined ? item : { media_id: uploaded.id, media_category: uploaded.category }
    })
    return { ...entity, value: { ...value, data: { ...value.data, media_items } } }
  })
})

/** The files with their names for messages; the cover is the last one. */
const filesOf = ({ cover, images = {} }: Pick<Article, "cover" | "images">): ReadonlyArray<readonly [string, Media]> =>
  [
    ...Object.entries(images).map(([name, file]) => [`images[${JSON.stringify(name)}]`, file] as const),
    ...(cover === undefined ? [] : [["cover", cover] as const])
  ].map(([name, file]) => [name, Draft.mediaOf(file)])

/** A create was sent, or is about to be. */
type Sent = Extract<ArticleRecord.State, { readonly at: number }>

/** How a create changes the record. */
interface Steps<in A> {
  readonly unsent: ArticleRecord.State
  readonly sent: (at: number) => Sent
  readonly done: (value: A) => ArticleRecord.State
}

/** One call. */
class ArticleRun {
  readonly #log: RecordLog.RecordLog<ArticleRecord.ArticleRecord>
  readonly #article: Article
  readonly #options: ArticleOptions

  constructor(log: RecordLog.RecordLog<ArticleRecord.ArticleRecord>, article: Article, options: ArticleOptions) {
    this.#log = log
    this.#article = article
    this.#options = options
  }

  get state(): ArticleRecord.State {
    return this.#log.current().state
  }

  /** Decides about what an earlier call has sent without a response. */
  settle(): Effect.Effect<void, ArticleUndecided | StorageFailure, Client> {
    const { article_id, undecided } = this.#options
    const { state } = this
    if (article_id !== undefined && state._tag !== "publishing" && state._tag !== "published") {
      return this.#keep({ _tag: "drafted", article_id })
    }
    return "at" in state
      ? Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => this.#settle(state, { undecided, wait: Math.min(state.at + lag - now, lag) })
      )
      : Effect.void
  }

  /** Looks for the post of a publication; nothing shows a draft. If it is not found, `undecided` decides. */
  #settle(sent: Sent, { detail, undecided, wait = lag }: {
    readonly detail?: string
    readonly undecided?: ArticleOptions["undecided"]
    /** Milliseconds for which the post may still appear. */
    readonly wait?: number
  }) {
    const { user_auth } = this.#options
    return Effect.gen({ self: this }, function*() {
      if (sent._tag === "drafting") {
        return yield* undecided === undefined
          ? this.#undecided(sent, sent.at, detail)
          : this.#keep({ _tag: "waiting" })
      }
      const { article_id, at } = sent
      const finding = yield* FindPost.find({
        title: this.#article.title,
        authorId: this.#log.current().authorId,
        after: undefined,
        from: at - FindPost.clockMargin,
        witness: undefined
      }, { lag, wait, user_auth })
      if (finding._tag === "Found") return yield* this.#keep({ _tag: "published", article_id, post_id: finding.id })
      if (undecided !== undefined) return yield* this.#keep({ _tag: "drafted", article_id })
      const unread = finding._tag !== "Unclear"
        ? undefined
        : `its post cannot be looked for: ${finding.detail ?? finding.reason}`
      const details = [detail, unread].filter((text) => text !== undefined)
      return yield* this.#undecided(sent, at, details.length === 0 ? undefined : details.join("; "))
    })
  }

  /** Uploads the files and creates the draft. */
  draft() {
    const { key, retries, timeout, user_auth } = this.#options
    const { content_state, cover, images = {}, title } = this.#article
    const files = filesOf(this.#article)
    return Effect.gen({ self: this }, function*() {
      const opened = yield* Effect.forEach(files, ([name, { file, ...rest }], i) =>
        Upload.prepare(file, {
          ...rest,
          user_auth,
          onProgress: (progress) => this.#report({ ...progress, file: i + 1 })
        }, { operation, prefix: `${name}.` }))
      const uploads = opened.map(({ resume }, i) => resume(ArticleRecord.uploadKeyOf(key, i + 1)))
      const media = yield* Effect.all(uploads, { concurrency: Draft.filesAtOnce })
      const named = new Map(Object.keys(images).flatMap((name, i) => media[i] === undefined ? [] : [[name, media[i]]]))
      const top = cover === undefined ? undefined : media.at(-1)
      const parameters = {
        title,
        content_state: withMedia(content_state, named),
        ...auth(user_auth),
        ...(top === undefined ? {} : { cover_media: { media_id: top.id, media_category: top.category } })
      }
      yield* this.#once(
        Effect.flatMap(
          createArticleDraft(parameters, { retries, timeout }),
          ({ data }) => Draft.created(createArticleDraft.definition, data, "draft")
        ),
        {
          unsent: { _tag: "waiting" },
          sent: (at) => ({ _tag: "drafting", at }),
          done: ({ id }) => ({ _tag: "drafted", article_id: id })
        }
      )
      // The checkpoints of the uploads are no longer needed, and do no harm.
      yield* Effect.ignore(this.#forget(files.length))
    })
  }

  publish(article_id: string) {
    const { retries, timeout, user_auth } = this.#options
    return this.#once(
      Effect.flatMap(
        publishArticle({ article_id, ...auth(user_auth) }, { retries, timeout }),
        ({ data }) => Draft.created(publishArticle.definition, data, "post")
      ),
      {
        unsent: { _tag: "drafted", article_id },
        sent: (at) => ({ _tag: "publishing", article_id, at }),
        done: ({ post_id }) => ({ _tag: "published", article_id, post_id })
      }
    )
  }

  /** Sends a create once. The journal notes it before, and its outcome after. */
  #once<A>(call: Effect.Effect<A, PublishError, Client>, { done, sent, unsent }: Steps<A>) {
    return Effect.gen({ self: this }, function*() {
      const state = sent(yield* Clock.currentTimeMillis)
      yield* this.#keep(state)
      const result = yield* Effect.result(SendOnce.once(call, {
        onSuccess: (value) =>
          Effect.mapError(
            this.#keep(done(value)),
            ({ message }) => this.#undecided(done(value), state.at, message)
          ),
        onUnsent: this.#keep(unsent)
      }))
      if (Result.isSuccess(result)) return
      const { failure } = result
      if (failure instanceof ArticleUndecided) return yield* failure
      if (failure instanceof OutcomeUnknown) return yield* this.#settle(state, { detail: failure.reason })
      yield* this.#keep(unsent)
      return yield* failure
    })
  }

  #undecided(state: ArticleRecord.State, at: number, detail: string | undefined): ArticleUndecided {
    return new ArticleUndecided({
      key: this.#options.key,
      title: this.#article.title,
      step: state._tag === "drafting" || state._tag === "drafted" ? "draft" : "publication",
      ...("article_id" in state ? { article_id: state.article_id } : {}),
      ...("post_id" in state ? { post_id: state.post_id } : {}),
      sentAt: new Date(at),
      authorId: this.#log.current().authorId,
      detail
    })
  }

  #keep(state: ArticleRecord.State) {
    return this.#log.change((record) => ({ ...record, state }))
  }

  #forget(files: number) {
    return Effect.forEach(
      Array.from({ length: files }, (_, i) => ArticleRecord.uploadKeyOf(this.#options.key, i + 1)),
      (key) => Effect.flatMap(Journal, (journal) => journal.write(UploadCheckpoint.nameOf(key), undefined)),
      { discard: true }
    )
  }

  #report(step: ArticleProgress): void {
    const { onProgress } = this.#options
    if (onProgress !== undefined) Callback.call(onProgress, step)
  }
}
