/** Sends a checked file in segments, resuming from a checkpoint, and then its description and subtitles. */
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

/** Sends a file with its description and subtitles. */
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

/** An upload in progress, with the status that ended it. */
interface Sent {
  readonly checkpoint: UploadCheckpoint.Checkpoint
  readonly digest: UploadCheckpoint.Digest
  readonly status?: MediaRequests.Status | undefined
  /** An earlier run has begun it. */
  readonly isResumed: boolean
}

/** Sends a file completely and waits until it is processed. */
const whole = Effect.fnUntraced(function*<E>(
  plan: UploadPlan.Plan,
  options: UploadOptions,
  log: UploadCheckpoint.Log<E>
) {
  const { category, size, type } = plan
  const { additional_owners, shared, user_auth } = options
  const { credential } = yield* Client
  const account = yield* credential(user_auth ?? Media.initializeMediaUpload.definition.userAuth === true)
  const asked = [account, category, type, size, shared ?? "", String(additional_owners ?? "")].join(" ")
  return yield* new Sending(plan, options, log, asked).run
})

/** One run of an upload. */
class Sending<E> {
  readonly #plan: UploadPlan.Plan
  readonly #options: UploadOptions
  readonly #log: UploadCheckpoint.Log<E>
  /** The account and the parameters, which another upload does not share. */
  readonly #asked: string
  readonly #caller: MediaRequests.Caller

  constructor(plan: UploadPlan.Plan, options: UploadOptions, log: UploadCheckpoint.Log<E>, asked: string) {
    this.#plan = plan
    this.#options = options
    this.#log = log
    this.#asked = asked
    this.#caller = { user_auth: options.user_auth }
  }

  get run() {
    const { isSeekable } = this.#plan.source
    return Effect.gen({ self: this }, function*() {
      const anew = Effect.flatMap(this.#begin, (state) => this.#finish(state))
      const orAnew = (sent: typeof anew) =>
        Effect.catchTag(sent, "UploadExpired", (error) => isSeekable ? anew : Effect.fail(error))
      const state = yield* this.#resume
      // An upload left by an earlier run may have expired; one that this run began should not have.
      return yield* orAnew(state === undefined ? anew : orAnew(this.#finish(state)))
    })
  }

  get #begin() {
    const { category, chunk, size, source, type } = this.#plan
    const { additional_owners, shared } = this.#options
    return Effect.gen({ self: this }, function*() {
      const now = yield* Clock.currentTimeMillis
      const begun = yield* dataOf(
        "initializeMediaUpload",
        Media.initializeMediaUpload({
          media_category: category,
          media_type: type,
          total_bytes: size,
          additional_owners,
          shared,
          ...this.#caller
        })
      )
      const digest = this.#log.digest()
      const checkpoint: UploadCheckpoint.Checkpoint = {
        version: 1,
        asked: this.#asked,
        content: source.version,
        mediaId: begun.id,
        mediaKey: begun.media_key,
        chunk,
        sent: 0,
        hash: digest.value(),
        isEnded: false,
        expiresAt: expiryOf(now, begun.expires_after_secs),
        subtitles: []
      }
      yield* this.#log.keep(checkpoint, "urgent")
      const state: Sent = { checkpoint, digest, isResumed: false }
      return state
    })
  }

  /** The state that an earlier run left; `undefined` if it was another upload, or has expired. */
  get #resume() {
    const { name, size, source } = this.#plan
    return Effect.gen({ self: this }, function*() {
      const { saved } = this.#log
      const now = yield* Clock.currentTimeMillis
      if (saved === undefined || saved.asked !== this.#asked || (saved.expiresAt ?? Infinity) <= now) return undefined
      const digest = this.#log.digest()
      // An unchanged file that was sent completely is not read again.
      const isSame = saved.sent === size && source.version !== undefined && source.version === saved.content ||
        (yield* UploadCheckpoint.digestOf(source, saved.sent, digest)) === saved.hash
      if (!isSame) {
        if (source.isSeekable) return undefined
        yield* this.#log.keep(undefined, "urgent")
        return yield* new SourceFailure({ source: name, fault: "changed" })
      }
      const status = saved.sent === size ? yield* MediaRequests.ended(saved.mediaId, this.#caller) : undefined
      if (saved.isEnded && status === undefined) return undefined
      const state: Sent = { checkpoint: { ...saved, content: source.version }, digest, status, isResumed: true }
      return state
    })
  }

  #finish(state: Sent) {
    const { maxWait, size } = this.#plan
    return Effect.gen({ self: this }, function*() {
      const { checkpoint, status } = state.status === undefined
        ? yield* this.#transfer(state)
        : { checkpoint: state.checkpoint, status: state.status }
      const now = yield* Clock.currentTimeMillis
      const ended = {
        ...checkpoint,
        isEnded: true,
        expiresAt: expiryOf(now, status.expires_after_secs) ?? checkpoint.expiresAt
      }
      yield* this.#log.keep(ended, "urgent")
      const report = (fraction: number) => this.#report("processing", size, fraction)
      const ready = yield* MediaRequests.ready(status, { caller: this.#caller, maxWait, report }).pipe(
        Effect.tapErrorTag("MediaProcessingFailed", () => this.#log.keep(undefined, "urgent"))
      )
      return { checkpoint: ended, status: ready }
    })
  }

  /** Sends the segments that are left. */
  #transfer(state: Sent) {
    const { size, source } = this.#plan
    return Effect.gen({ self: this }, function*() {
      let { checkpoint } = state
      this.#report("upload", checkpoint.sent, checkpoint.sent / size)
      // One buffer for all segments: a new one for each would pile up before it is collected.
      const memory = new Uint8Array(Math.min(checkpoint.chunk, size))
      while (checkpoint.sent < size) {
        const { chunk, sent } = checkpoint
        const media = yield* source.read(sent, Math.min(chunk, size - sent), memory)
        const accepted = yield* this.#append(state, checkpoint, media)
        if (accepted === undefined) {
          checkpoint = { ...checkpoint, chunk: halfOf(chunk) }
          continue
        }
        state.digest.add(media)
        checkpoint = {
          ...checkpoint,
          sent: sent + media.length,
          hash: state.digest.value(),
          expiresAt: millisOf(accepted.data?.expires_at) ?? checkpoint.expiresAt
        }
        yield* this.#log.keep(checkpoint, checkpoint.sent === size ? "urgent" : undefined)
        this.#report("upload", checkpoint.sent, checkpoint.sent / size)
      }
      const status = yield* orExpired(state, MediaRequests.finalize(checkpoint.mediaId, this.#caller))
      return { checkpoint, status }
    })
  }

  /** Sends one segment; `undefined` if it is too large, and the first one, so that smaller ones are possible. */
  #append(state: Sent, { chunk, mediaId: id, sent }: UploadCheckpoint.Checkpoint, media: Uint8Array) {
    const canBeSmaller = sent === 0 && halfOf(chunk) >= UploadPlan.leastChunk(this.#plan.size) && chunk > 1
    const segment = { id, segment_index: Math.floor(sent / chunk), media, ...this.#caller }
    return Effect.catchTag(
      orExpired(state, MediaRequests.persist(Media.appendMediaUpload(segment))),
      "UnexpectedStatus",
      (error) => canBeSmaller && isTooLarge(error) ? Effect.undefined : Effect.fail(error)
    )
  }

  #report(phase: Progress["phase"], sentBytes: number, fraction: number): void {
    const { onProgress } = this.#options
    if (onProgress !== undefined) {
      Callback.call(onProgress, { phase, sentBytes, totalBytes: this.#plan.size, fraction })
    }
  }
}

/** Fails with `UploadExpired` if the service does not know the upload any more, by its response or by the time. */
const orExpired = <A>(
  { checkpoint: { expiresAt = Infinity, mediaId }, isResumed }: Sent,
  call: Effect.Effect<A, OperationError, Client>
) =>
  Effect.catch(call, (error) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.fail(
        error._tag === "NotFound" || MediaRequests.isRefused(error) && (isResumed || expiresAt <= now)
          ? new UploadExpired({ mediaId })
          : error
      )))

const isTooLarge = ({ status }: { readonly status: number }): boolean => status === 413 || status === 431

const halfOf = (chunk: number): number => Math.ceil(chunk / 2)

const expiryOf = (now: number, seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.floor(now) + seconds * 1000

const millisOf = (seconds: number | undefined): number | undefined => seconds === undefined ? undefined : seconds * 1000
