/** Sends a file that was checked: in segments, from where it was left, until the service has it and knows what is said of it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Client } from "../../client/Client.ts"
import { dataOf } from "../../client/DataOf.ts"
import type { OperationError } from "../../errors/Errors.ts"
import { SourceFailure, UploadExpired } from "../../errors/UploadErrors.ts"
import * as Media from "../../operations/Media.ts"
import * as Callback from "../../runtime/Callback.ts"
import * as UploadCheckpoint from "../UploadCheckpoint.ts"
import type { Progress, UploadedMedia, UploadError, UploadOptions } from "../UploadOptions.ts"
import * as UploadPlan from "./plan.ts"
import * as MediaRequests from "./requests.ts"

/** Sends a file, and what is said of it. */
export const send = Effect.fnUntraced(function*<E>(
  plan: UploadPlan.Plan,
  options: UploadOptions,
  log: UploadCheckpoint.Log<E>
): Effect.fn.Return<UploadedMedia, UploadError | E, Client> {
  const { category, size, type } = plan
  const caller = { user_auth: options.user_auth }
  const { checkpoint, status } = yield* whole(plan, options, log)
  const { alt, mediaId: id, subtitles } = checkpoint
  if (plan.alt !== undefined && plan.alt !== alt) {
    yield* MediaRequests.persist(Media.createMediaMetadata({ id, alt_text: plan.alt, ...caller }))
    yield* log.keep({ ...checkpoint, alt: plan.alt }, "urgent")
  }
  const attached = [...subtitles]
  for (const { language, name, plan: file } of plan.subtitles) {
    const label = `${language} ${name} ${yield* UploadCheckpoint.digestOf(file.source, file.size, log.digest())}`
    if (attached.includes(label)) continue
    const { checkpoint: { mediaId } } = yield* whole(file, caller, UploadCheckpoint.none)
    yield* MediaRequests.persist(Media.createMediaSubtitles({
      id,
      media_category: category === "amplify_video" ? "AmplifyVideo" : "TweetVideo",
      subtitles_id: mediaId,
      language_code: language,
      display_name: name,
      ...caller
    }))
    attached.push(label)
    yield* log.keep({ ...checkpoint, alt: plan.alt ?? alt, subtitles: attached }, "urgent")
  }
  const { expiresAt, mediaKey } = checkpoint
  return {
    id,
    media_key: status.media_key ?? mediaKey,
    type,
    category,
    size,
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt)
  }
})

/** What is known of an upload, and what the service said of it when it was ended. */
interface Standing {
  readonly checkpoint: UploadCheckpoint.Checkpoint
  readonly digest: UploadCheckpoint.Digest
  readonly status?: MediaRequests.Status | undefined
  /** Whether another run has begun it. */
  readonly isResumed: boolean
}

/** A file that the service has as a whole, and has processed. */
const whole = Effect.fnUntraced(function*<E>(
  plan: UploadPlan.Plan,
  options: UploadOptions,
  log: UploadCheckpoint.Log<E>
) {
  const { category, maxWait, size, source, type } = plan
  const caller: MediaRequests.Caller = { user_auth: options.user_auth }
  const terms = {
    media_category: category,
    media_type: type,
    total_bytes: size,
    additional_owners: options.additional_owners,
    shared: options.shared
  }
  const tell = (phase: Progress["phase"], sentBytes: number, fraction: number) => {
    if (options.onProgress !== undefined) {
      Callback.call(options.onProgress, { phase, sentBytes, totalBytes: size, fraction })
    }
  }

  const { credential } = yield* Client
  const account = yield* credential(caller.user_auth ?? Media.initializeMediaUpload.definition.userAuth === true)
  const asked = [account, category, type, size, terms.shared ?? "", String(terms.additional_owners ?? "")].join(" ")

  const begin = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const begun = yield* dataOf("initializeMediaUpload", Media.initializeMediaUpload({ ...terms, ...caller }))
    const digest = log.digest()
    const checkpoint: UploadCheckpoint.Checkpoint = {
      version: 1,
      asked,
      content: source.version,
      mediaId: begun.id,
      mediaKey: begun.media_key,
      chunk: plan.chunk,
      sent: 0,
      hash: digest.value(),
      isEnded: false,
      expiresAt: expiryOf(now, begun.expires_after_secs),
      subtitles: []
    }
    yield* log.keep(checkpoint, "urgent")
    const standing: Standing = { checkpoint, digest, isResumed: false }
    return standing
  })

  /** Where another run has stopped; `undefined` where that was something else, or is of no use any more. */
  const resume = Effect.gen(function*() {
    const { saved } = log
    const now = yield* Clock.currentTimeMillis
    if (saved === undefined || saved.asked !== asked || (saved.expiresAt ?? Infinity) <= now) return undefined
    const digest = log.digest()
    // Of what has been sent as a whole nothing is read again.
    const isSame = saved.sent === size && source.version !== undefined && source.version === saved.content ||
      (yield* UploadCheckpoint.digestOf(source, saved.sent, digest)) === saved.hash
    if (!isSame) {
      if (source.isSeekable) return undefined
      yield* log.keep(undefined, "urgent")
      return yield* new SourceFailure({ source: plan.name, fault: "changed" })
    }
    const status = saved.sent === size ? yield* MediaRequests.ended(saved.mediaId, caller) : undefined
    if (saved.isEnded && status === undefined) return undefined
    const standing: Standing = { checkpoint: { ...saved, content: source.version }, digest, status, isResumed: true }
    return standing
  })

  /** The service does not know an upload any more: by what it says, or by the time. */
  const orExpired = <A>(
    { checkpoint: { expiresAt = Infinity, mediaId }, isResumed }: Standing,
    call: Effect.Effect<A, OperationError, Client>
  ) =>
    Effect.catch(call, (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.fail(
          error._tag === "NotFound" || MediaRequests.isRefused(error) && (isResumed || expiresAt <= now)
            ? new UploadExpired({ mediaId })
            : error
        )))

  /** Sends what the service has not. */
  const transfer = Effect.fnUntraced(function*(standing: Standing) {
    const { digest } = standing
    let { checkpoint } = standing
    tell("upload", checkpoint.sent, checkpoint.sent / size)
    // One for all segments: so much garbage would grow for a while before it is collected.
    const memory = new Uint8Array(Math.min(checkpoint.chunk, size))
    while (checkpoint.sent < size) {
      const { chunk, mediaId: id, sent } = checkpoint
      const media = yield* source.read(sent, Math.min(chunk, size - sent), memory)
      const accepted = yield* orExpired(
        standing,
        MediaRequests.persist(
          Media.appendMediaUpload({ id, segment_index: Math.floor(sent / chunk), media, ...caller })
        )
      ).pipe(
        // Later, the segments that the service has would be of another length.
        Effect.catchTag(
          "UnexpectedStatus",
          (error) =>
            sent === 0 && isTooLarge(error) && halfOf(chunk) >= UploadPlan.leastChunk(size) && chunk > 1
              ? Effect.undefined
              : Effect.fail(error)
        )
      )
      if (accepted === undefined) {
        checkpoint = { ...checkpoint, chunk: halfOf(chunk) }
        continue
      }
      digest.add(media)
      checkpoint = {
        ...checkpoint,
        sent: sent + media.length,
        hash: digest.value(),
        expiresAt: millisOf(accepted.data?.expires_at) ?? checkpoint.expiresAt
      }
      yield* log.keep(checkpoint, checkpoint.sent === size ? "urgent" : undefined)
      tell("upload", checkpoint.sent, checkpoint.sent / size)
    }
    const status = yield* orExpired(standing, MediaRequests.finalize(checkpoint.mediaId, caller))
    return { ...standing, checkpoint, status }
  })

  const finish = Effect.fnUntraced(function*(standing: Standing) {
    const { checkpoint, status } = standing.status === undefined ? yield* transfer(standing) : standing
    if (status === undefined) return yield* Effect.die("an upload that was ended has a status")
    const now = yield* Clock.currentTimeMillis
    const ended = {
      ...checkpoint,
      isEnded: true,
      expiresAt: expiryOf(now, status.expires_after_secs) ?? checkpoint.expiresAt
    }
    yield* log.keep(ended, "urgent")
    const told = (fraction: number) => tell("processing", size, fraction)
    const ready = yield* MediaRequests.ready(status, { caller, maxWait, told }).pipe(
      Effect.tapErrorTag("MediaProcessingFailed", () => log.keep(undefined, "urgent"))
    )
    return { checkpoint: ended, status: ready }
  })

  const anew = Effect.flatMap(begin, finish)
  const orAnew = (sent: typeof anew) =>
    Effect.catchTag(sent, "UploadExpired", (error) => source.isSeekable ? anew : Effect.fail(error))
  const standing = yield* resume
  // What another run has left may be old: only what this one has begun should have lasted.
  return yield* orAnew(standing === undefined ? anew : orAnew(finish(standing)))
})

const isTooLarge = ({ status }: { readonly status: number }): boolean => status === 413 || status === 431

const halfOf = (chunk: number): number => Math.ceil(chunk / 2)

const expiryOf = (now: number, seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.floor(now) + seconds * 1000

const millisOf = (seconds: number | undefined): number | undefined => seconds === undefined ? undefined : seconds * 1000
