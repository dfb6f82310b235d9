/** Posts the parts of a thread one after another, continuing from its record. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  BadRequest,
  Forbidden,
  NotFound,
  OutcomeUnknown,
  ServerFailure,
  TransportFailure,
  UnexpectedStatus
} from "../../errors/Errors.ts"
import { StorageFailure } from "../../errors/StorageErrors.ts"
import { ThreadBroken, ThreadUndecided, type UndecidedReason } from "../../errors/ThreadErrors.ts"
import type * as Upload from "../../media/Upload.ts"
import * as UploadCheckpoint from "../../media/UploadCheckpoint.ts"
import type { Entries } from "../../storage/Journal.ts"
import type { PublishError, ThreadOptions } from "../PublishOptions.ts"
import * as Draft from "./draft.ts"
import * as FindPost from "./findPost.ts"
import * as SendOnce from "./sendOnce.ts"
import * as ThreadRecord from "./threadRecord.ts"

/** The maximum number of sends of a part per call, plus one after its media have expired. Only absent parts are sent again. */
const maxSendings = 3

/** Media that expire within this time in milliseconds are uploaded again. */
const minLifeMillis = 60_000

/** Characters of a text in errors, enough to recognise it. */
const shownCharacters = 60

type Media = ReadonlyArray<Upload.UploadedMedia>

/** A part whose files are open. */
interface Opened {
  readonly draft: Draft.Draft
  readonly files: ReadonlyArray<Upload.Prepared>
}

/** Publishes the parts of a thread that are left, and returns all that are posted. */
export const run = (
  journal: Entries,
  initial: ThreadRecord.ThreadRecord,
  drafts: ReadonlyArray<Draft.Draft>,
  options: ThreadOptions
) => new ThreadRun(journal, initial, drafts, options).run()

/** One call that publishes a thread. */
class ThreadRun {
  readonly #journal: Entries
  readonly #log: ThreadRecord.Log
  readonly #drafts: ReadonlyArray<Draft.Draft>
  readonly #options: ThreadOptions
  readonly #lag: number
  /** The maximum age of the journal's record of an unsent part, in milliseconds. */
  readonly #age: number

  constructor(
    journal: Entries,
    initial: ThreadRecord.ThreadRecord,
    drafts: ReadonlyArray<Draft.Draft>,
    options: ThreadOptions
  ) {
    this.#journal = journal
    this.#log = ThreadRecord.makeLog(journal, options.key, initial)
    this.#drafts = drafts
    this.#options = options
    this.#lag = options.lag ?? FindPost.defaultLag
    this.#age = SendOnce.ageOf(this.#lag)
  }

  run() {
    return Effect.gen({ self: this }, function*() {
      if (this.#log.current().isAbandoned || (yield* this.#settleSent()) === "abandoned") return this.#outcome()
      const left: Array<Opened> = []
      for (const [i, draft] of this.#drafts.entries()) {
        if (this.#log.partOf(i)._tag !== "posted") left.push({ draft, files: yield* Draft.open(draft, this.#options) })
      }
      const uploads = left.flatMap((opened) => this.#uploads(opened))
      const media = yield* Effect.all(uploads, { concurrency: Draft.filesAtOnce })
      for (const opened of left) {
        const end = yield* this.#send(opened, media.splice(0, opened.files.length))
        if (end === "abandoned") break
      }
      return this.#outcome()
    })
  }

  #outcome() {
    const { isAbandoned, parts } = this.#log.current()
    return {
      posts: parts.flatMap((part) =>
        part._tag === "posted" ? [{ id: part.id, text: part.text, media: part.media }] : []
      ),
      abandoned: isAbandoned
    }
  }

  /** Settles the part that an earlier call has sent and not seen posted. There is at most one. */
  #settleSent() {
    const { undecided } = this.#options
    return Effect.gen({ self: this }, function*() {
      const index = this.#drafts.findIndex((_, i) => this.#log.partOf(i)._tag === "sent")
      const draft = this.#drafts[index]
      const part = this.#log.partOf(index)
      if (draft === undefined || part._tag !== "sent") return undefined
      // The whole lag: the wall clock may have been set since the part was sent, perhaps by the start of the machine.
      const end = yield* this.#settle(draft, part, {})
      const isComplete = index + 1 === this.#drafts.length && this.#log.partOf(index)._tag === "posted"
      // `abandon` answers an earlier `ThreadUndecided`: it ends the thread whether the part is found now or not.
      return part.isUndecided === true && undecided === "abandon" && !isComplete ? yield* this.#abandon() : end
    })
  }

  /** Finds out whether a part was posted. If that is impossible, `undecided` decides. */
  #settle(draft: Draft.Draft, sent: ThreadRecord.Sent, { isDuplicate = false }: {
    /** The service has refused it as a duplicate. */
    readonly isDuplicate?: boolean
  }) {
    const { part, parts } = draft.place
    return Effect.gen({ self: this }, function*() {
      Draft.report(this.#options, { phase: "looking", part, parts })
      const finding = yield* this.#find(draft, sent)
      if (finding._tag === "Found") return yield* this.#posted(draft, finding, sent.media)
      if (finding._tag === "Broken") return yield* this.#broken(draft, this.#idBefore(part - 1))
      const reason: UndecidedReason | undefined = finding._tag === "Unclear"
        ? finding.reason
        : sent.isAccepted === true || isDuplicate
        ? "hidden"
        : isListed(draft.parameters)
        ? undefined
        : "unlisted"
      if (reason === undefined || this.#options.undecided === "continue") {
        yield* this.#log.keep(part - 1, waiting(sent.firstAt))
        return reason === undefined ? "absent" as const : undefined
      }
      yield* this.#log.keep(part - 1, { ...sent, isUndecided: true })
      return yield* this.#decide(this.#undecided(draft, sent, finding, reason))
    })
  }

  #find({ parameters, place: { part } }: Draft.Draft, sent: ThreadRecord.Sent) {
    const { after, authorId } = this.#log.current()
    const before = this.#idBefore(part - 1)
    return FindPost.find({
      text: parameters.text ?? "",
      inReplyTo: before ?? idText(parameters.in_reply_to_post_id),
      quoted: idText(parameters.quote_post_id),
      mediaIds: [...(parameters.media_ids ?? []).map(String), ...sent.media.map(({ id }) => id)],
      isContinuation: before !== undefined,
      authorId,
      after: before ?? after,
      from: sent.firstAt - clockMargin,
      witness: part > 1 && isListed(this.#drafts[part - 2]?.parameters) ? before : undefined
    }, { lag: this.#lag, wait: this.#lag, user_auth: this.#options.user_auth })
  }

  #undecided(
    { parameters, place: { part, parts } }: Draft.Draft,
    sent: ThreadRecord.Sent,
    finding: Extract<FindPost.Finding, { readonly _tag: "Absent" | "Unclear" }>,
    reason: UndecidedReason
  ): ThreadUndecided {
    return new ThreadUndecided({
      key: this.#options.key,
      part,
      parts,
      reason,
      sentAt: new Date(sent.lastAt),
      authorId: this.#log.current().authorId,
      inReplyTo: this.#idBefore(part - 1) ?? idText(parameters.in_reply_to_post_id),
      text: Array.from(parameters.text ?? "").slice(0, shownCharacters).join(""),
      looks: finding.looks,
      detail: finding._tag === "Unclear" ? finding.detail : undefined
    })
  }

  /** Sends a part until it is posted or refused. */
  #send(opened: Opened, uploaded: Media) {
    const { draft } = opened
    const index = draft.place.part - 1
    return Effect.gen({ self: this }, function*() {
      let media = uploaded
      let hasReuploaded = false
      for (let sendings = 1;; sendings++) {
        media = yield* this.#fresh(opened, media)
        const before = this.#log.partOf(index)
        const firstAt = before._tag === "waiting" ? before.firstAt : undefined
        const { result, sent } = yield* this.#attempt(draft, media, firstAt)
        if (Result.isSuccess(result)) return
        const { failure } = result
        // The part is posted, but the journal could not record it.
        if (failure instanceof StorageFailure && failure.kind === "journal") return yield* failure
        const isDuplicate = firstAt !== undefined && failure instanceof Forbidden && /duplicate/i.test(failure.message)
        if (isDuplicate || failure instanceof OutcomeUnknown) {
          const lost: ThreadRecord.Sent = {
            ...sent,
            lastAt: yield* Clock.currentTimeMillis,
            isAccepted: failure instanceof OutcomeUnknown && failure.status !== undefined && failure.status < 300
          }
          yield* this.#log.keep(index, lost)
          const end = yield* this.#settle(draft, lost, { isDuplicate })
          if (end === "abandoned" || this.#log.partOf(index)._tag === "posted") return end
          if (sendings < maxSendings) continue
          return yield* end === "absent" && failure instanceof OutcomeUnknown ? notPosted(failure) : failure
        }
        yield* this.#log.keep(index, waiting(firstAt))
        if (hasReuploaded || draft.files.length === 0 || !isAboutMedia(failure)) {
          return yield* this.#refused(draft, failure)
        }
        hasReuploaded = true
        media = yield* this.#uploadAgain(opened)
      }
    })
  }

  /** Sends a part once. The journal notes it before, and its outcome after. */
  #attempt(draft: Draft.Draft, media: Media, firstAt: number | undefined) {
    const { parameters, place: { part, parts } } = draft
    const index = part - 1
    const parent = this.#idBefore(index)
    const reply = parent === undefined
      ? draft
      : { ...draft, parameters: { ...parameters, in_reply_to_post_id: parent } }
    return Effect.gen({ self: this }, function*() {
      const now = yield* Clock.currentTimeMillis
      const sent: ThreadRecord.Sent = { _tag: "sent", firstAt: firstAt ?? now, lastAt: now, media }
      yield* this.#log.keep(index, sent)
      Draft.report(this.#options, { phase: "sending", part, parts })
      const result = yield* Effect.result(
        SendOnce.run(Draft.post(reply, media, this.#options), {
          onSuccess: (post) => this.#posted(draft, post, media),
          every: this.#age,
          note: this.#log.keepAlive(index),
          onUnsent: this.#log.keep(index, waiting(firstAt))
        })
      )
      return { result, sent }
    })
  }

  /** Fails as the service did, unless the reason is that the part before is gone. */
  #refused(draft: Draft.Draft, failure: PublishError) {
    const { user_auth } = this.#options
    return Effect.gen({ self: this }, function*() {
      const parent = this.#idBefore(draft.place.part - 1)
      const mayBeOrphan = failure instanceof BadRequest || failure instanceof Forbidden || failure instanceof NotFound
      if (parent !== undefined && mayBeOrphan && (yield* FindPost.isGone(parent, { user_auth }))) {
        return yield* this.#broken(draft, parent)
      }
      return yield* failure
    })
  }

  #posted(draft: Draft.Draft, found: { readonly id: string; readonly text: string }, media: Media) {
    const { part, parts } = draft.place
    return Effect.gen({ self: this }, function*() {
      yield* this.#log.keep(part - 1, { _tag: "posted", id: found.id, text: found.text, media })
      Draft.report(this.#options, { phase: "posted", id: found.id, part, parts })
      // The checkpoints of the uploads are no longer needed, and do no harm.
      yield* Effect.ignore(this.#forget(draft))
    })
  }

  #broken({ place: { part, parts } }: Draft.Draft, id = "") {
    return this.#decide(new ThreadBroken({ key: this.#options.key, part: part - 1, parts, id }))
  }

  /** Ends the thread here, or fails, as `undecided` says. */
  #decide<E>(error: E) {
    return this.#options.undecided === "abandon" ? this.#abandon() : Effect.fail(error)
  }

  #abandon() {
    return Effect.as(this.#log.abandon, "abandoned" as const)
  }

  #idBefore(index: number): string | undefined {
    const part = this.#log.partOf(index - 1)
    return part._tag === "posted" ? part.id : undefined
  }

  /** Uploads media again that expire soon. */
  #fresh(opened: Opened, media: Media) {
    return Effect.flatMap(
      Clock.currentTimeMillis,
      (now) =>
        media.some(({ expiresAt }) => expiresAt !== undefined && expiresAt.getTime() < now + minLifeMillis)
          ? this.#uploadAgain(opened)
          : Effect.succeed(media)
    )
  }

  #uploadAgain(opened: Opened) {
    return Effect.andThen(
      this.#forget(opened.draft),
      Effect.all(this.#uploads(opened), { concurrency: Draft.filesAtOnce })
    )
  }

  #uploads({ draft, files }: Opened) {
    const keys = this.#uploadKeys(draft)
    return files.map(({ resume }, i) => resume(keys[i] ?? ""))
  }

  #uploadKeys({ files, place: { part } }: Draft.Draft): ReadonlyArray<string> {
    return files.map((_, i) => ThreadRecord.uploadKeyOf(this.#options.key, part, i + 1))
  }

  #forget(draft: Draft.Draft) {
    return Effect.forEach(
      this.#uploadKeys(draft),
      (key) => this.#journal.write(UploadCheckpoint.nameOf(key), undefined),
      { discard: true }
    )
  }
}

/** A search begins this many milliseconds before the part was sent if no older post is known: clocks differ, even by time zones. */
const clockMargin = 86_400_000

const waiting = (firstAt: number | undefined): ThreadRecord.Part => ({
  _tag: "waiting",
  ...(firstAt === undefined ? {} : { firstAt })
})

const isAboutMedia = (error: PublishError): boolean => error instanceof BadRequest && /\bmedia\b/i.test(error.message)

/** The error of a send that is known not to have posted the part. */
const notPosted = ({ cause, operation, reason }: OutcomeUnknown) =>
  cause instanceof ServerFailure || cause instanceof UnexpectedStatus
    ? cause
    : new TransportFailure({ operation, phase: "unknown", reason, cause })

/** Checks that a post is publicly listed among those of its author. */
const isListed = (parameters: Draft.Draft["parameters"] = {}): boolean =>
  parameters.nullcast !== true && parameters.for_super_followers_only !== true &&
  (parameters.community_id === undefined || parameters.share_with_followers === true)

const idText = (id: string | number | bigint | undefined): string | undefined =>
  id === undefined ? undefined : String(BigInt(id))
