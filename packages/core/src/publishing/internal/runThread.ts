/** Posts the parts of a thread, one after another, from wherever its record stands. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BadRequest, Forbidden, NotFound, OutcomeUnknown } from "../../errors/Errors.ts"
import { ThreadBroken, ThreadUndecided, type UndecidedReason } from "../../errors/ThreadErrors.ts"
import { JournalFailure } from "../../errors/UploadErrors.ts"
import type * as Upload from "../../media/Upload.ts"
import * as UploadCheckpoint from "../../media/UploadCheckpoint.ts"
import type { Entries } from "../../storage/Journal.ts"
import type { PublishError, ThreadOptions } from "../PublishOptions.ts"
import * as Draft from "./draft.ts"
import * as FindPost from "./findPost.ts"
import * as SendOnce from "./sendOnce.ts"
import * as ThreadRecord from "./threadRecord.ts"

/** So long a part may take to appear, in milliseconds, unless an option says otherwise. */
const defaultLag = 60_000

/** How often one call sends a part: again only when it is not there. */
const maxSendings = 3

/** Media that expire sooner are uploaded again, in milliseconds. */
const leastLife = 60_000

/** So much of a text is shown where it is to be recognised. */
const shownCharacters = 60

type Media = ReadonlyArray<Upload.UploadedMedia>

/** A part whose files are open. */
interface Opened {
  readonly draft: Draft.Draft
  readonly files: ReadonlyArray<Upload.Prepared>
}

/** Posts what is left of a thread, and says what stands in the end. */
export const run = Effect.fnUntraced(function*(
  journal: Entries,
  begun: ThreadRecord.ThreadRecord,
  drafts: ReadonlyArray<Draft.Draft>,
  options: ThreadOptions
) {
  const { key, lag = defaultLag, undecided, user_auth } = options
  const age = SendOnce.ageOf(lag)
  const log = ThreadRecord.makeLog(journal, key, begun)
  const { keep, partOf } = log
  const idBefore = (index: number): string | undefined => {
    const part = partOf(index - 1)
    return part._tag === "posted" ? part.id : undefined
  }

  const posted = Effect.fnUntraced(function*(draft: Draft.Draft, found: { id: string; text: string }, media: Media) {
    const { part, parts } = draft.place
    yield* keep(part - 1, { _tag: "posted", id: found.id, text: found.text, media })
    Draft.report(options, { phase: "posted", id: found.id, part, parts })
    // What the uploads have noted is of no use any more, and of no harm either.
    yield* Effect.ignore(forget(draft))
  })

  const uploadKeysOf = ({ files, place: { part } }: Draft.Draft) =>
    files.map((_, i) => ThreadRecord.uploadKeyOf(key, part, i + 1))

  const forget = (draft: Draft.Draft) =>
    Effect.forEach(uploadKeysOf(draft), (key) => journal.write(UploadCheckpoint.nameOf(key), undefined), {
      discard: true
    })

  const uploadsOf = ({ draft, files }: Opened) => {
    const keys = uploadKeysOf(draft)
    return files.map(({ resume }, i) => resume(keys[i] ?? ""))
  }

  /** Ends it there, or fails, as was decided. */
  const decide = <E>(error: E) =>
    undecided === "abandon"
      ? Effect.as(log.abandon, "abandoned" as const)
      : Effect.fail(error)

  const broken = ({ place: { part, parts } }: Draft.Draft, id = "") =>
    decide(new ThreadBroken({ key, part: part - 1, parts, id }))

  /** Finds out what became of a part that was sent; what cannot be found out, the caller decides. */
  const settle = Effect.fnUntraced(function*(
    draft: Draft.Draft,
    sent: ThreadRecord.Sent,
    { isDuplicate = false, wait = lag }: {
      /** For how long it may still appear, in milliseconds. */
      readonly wait?: number
      /** Whether the service says that it has it already. */
      readonly isDuplicate?: boolean
    }
  ) {
    const { parameters, place: { part, parts } } = draft
    const { after, authorId } = log.current()
    Draft.report(options, { phase: "looking", part, parts })
    const before = idBefore(part - 1)
    const inReplyTo = before ?? textOf(parameters.in_reply_to_post_id)
    const isListed = isShown(parameters)
    const finding = yield* FindPost.find({
      text: parameters.text ?? "",
      inReplyTo,
      quoted: textOf(parameters.quote_post_id),
      mediaIds: [...(parameters.media_ids ?? []).map(String), ...sent.media.map(({ id }) => id)],
      isContinuation: before !== undefined,
      authorId,
      after: before ?? after,
      firstAt: sent.firstAt,
      witness: part > 1 && isShown(drafts[part - 2]?.parameters) ? before : undefined
    }, { lag, wait, user_auth })
    if (finding._tag === "Found") return yield* posted(draft, finding, sent.media)
    if (finding._tag === "Broken") return yield* broken(draft, before)
    const reason: UndecidedReason | undefined = finding._tag === "Unclear"
      ? finding.reason
      : sent.isAccepted === true || isDuplicate
      ? "hidden"
      : isListed
      ? undefined
      : "unlisted"
    if (reason !== undefined && undecided !== "continue") {
      yield* keep(part - 1, { ...sent, isUndecided: true })
      return yield* decide(
        new ThreadUndecided({
          key,
          part,
          parts,
          reason,
          sentAt: new Date(sent.lastAt),
          authorId,
          inReplyTo,
          text: Array.from(parameters.text ?? "").slice(0, shownCharacters).join(""),
          looks: finding.looks,
          detail: finding._tag === "Unclear" ? finding.detail : undefined
        })
      )
    }
    yield* keep(part - 1, waiting(sent.firstAt))
  })

  /** Sends a part until it is there, or cannot be. */
  const send = Effect.fnUntraced(function*(opened: Opened, uploaded: Media) {
    const { draft } = opened
    const { part, parts } = draft.place
    const index = part - 1
    const parent = idBefore(index)
    const reply = parent === undefined
      ? draft
      : { ...draft, parameters: { ...draft.parameters, in_reply_to_post_id: parent } }
    let media = uploaded
    for (let sendings = 1;; sendings++) {
      const soon = (yield* Clock.currentTimeMillis) + leastLife
      if (media.some(({ expiresAt }) => expiresAt !== undefined && expiresAt.getTime() < soon)) {
        media = yield* uploadAgain(opened)
      }
      const now = yield* Clock.currentTimeMillis
      const before = partOf(index)
      const firstAt = before._tag === "waiting" ? before.firstAt : undefined
      const sent: ThreadRecord.Sent = { _tag: "sent", firstAt: firstAt ?? now, lastAt: now, media }
      yield* keep(index, sent)
      Draft.report(options, { phase: "sending", part, parts })
      const result = yield* Effect.result(
        SendOnce.run(Draft.post(reply, media, options), {
          onSuccess: (post) => posted(draft, post, media),
          every: age,
          note: log.keepAlive(index),
          onUnsent: keep(index, waiting(firstAt))
        })
      )
      if (Result.isSuccess(result)) return
      const { failure } = result
      // It is there, and the journal does not know it.
      if (failure instanceof JournalFailure) return yield* failure
      const isDuplicate = firstAt !== undefined && failure instanceof Forbidden && /duplicate/i.test(failure.message)
      const isOpen = failure instanceof OutcomeUnknown
      if (isDuplicate || isOpen) {
        const lost = {
          ...sent,
          lastAt: yield* Clock.currentTimeMillis,
          isAccepted: isOpen && failure.status !== undefined && failure.status < 300
        }
        yield* keep(index, lost)
        const end = yield* settle(draft, lost, { isDuplicate })
        if (end === "abandoned" || partOf(index)._tag === "posted") return end
        if (sendings < maxSendings) continue
        return yield* failure
      }
      yield* keep(index, waiting(firstAt))
      if (sendings === 1 && draft.files.length > 0 && isAboutMedia(failure)) {
        media = yield* uploadAgain(opened)
        continue
      }
      const mayBeOrphan = failure instanceof BadRequest || failure instanceof Forbidden || failure instanceof NotFound
      if (parent !== undefined && mayBeOrphan && (yield* FindPost.isGone(parent, { user_auth }))) {
        return yield* broken(draft, parent)
      }
      return yield* failure
    }
  })

  const uploadAgain = (opened: Opened) =>
    Effect.andThen(forget(opened.draft), Effect.all(uploadsOf(opened), { concurrency: Draft.filesAtOnce }))

  const outcome = () => ({
    posts: log.current().parts.flatMap((part) =>
      part._tag === "posted" ? [{ id: part.id, text: part.text, media: part.media }] : []
    ),
    abandoned: log.current().isAbandoned
  })

  if (begun.isAbandoned) return outcome()
  for (const [i, draft] of drafts.entries()) {
    const part = partOf(i)
    // There is one at most.
    if (part._tag !== "sent") continue
    // It may have left a while after it was noted. The wall clock may have been set back since.
    const wait = Math.min(part.lastAt + age + lag - (yield* Clock.currentTimeMillis), lag)
    if ((yield* settle(draft, part, { wait })) === "abandoned") return outcome()
    if (part.isUndecided === true && undecided === "abandon" && i + 1 < drafts.length) {
      // Who was told of it has decided, however it turns out.
      yield* log.abandon
      return outcome()
    }
  }
  const left: Array<Opened> = []
  for (const [i, draft] of drafts.entries()) {
    if (partOf(i)._tag !== "posted") left.push({ draft, files: yield* Draft.open(draft, options) })
  }
  const media = yield* Effect.all(left.flatMap(uploadsOf), { concurrency: Draft.filesAtOnce })
  let at = 0
  for (const opened of left) {
    const end = yield* send(opened, media.slice(at, at += opened.files.length))
    if (end === "abandoned") break
  }
  return outcome()
})

const waiting = (firstAt: number | undefined): ThreadRecord.Part => ({
  _tag: "waiting",
  ...(firstAt === undefined ? {} : { firstAt })
})

const isAboutMedia = (error: PublishError): boolean => error instanceof BadRequest && /\bmedia\b/i.test(error.message)

/** Whether everybody sees it among the posts of its author. */
const isShown = (parameters: Draft.Draft["parameters"] = {}): boolean =>
  parameters.nullcast !== true && parameters.for_super_followers_only !== true &&
  (parameters.community_id === undefined || parameters.share_with_followers === true)

const textOf = (id: string | number | bigint | undefined): string | undefined =>
  id === undefined ? undefined : String(BigInt(id))
