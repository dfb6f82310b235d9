/** Uploads of media: files are checked, sent in segments, processed and described; see `upload`. */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Client } from "../client/Client.ts"
import type { InvalidParameters } from "../errors/Errors.ts"
import type { StorageFailure } from "../errors/StorageErrors.ts"
import type { SourceFailure } from "../errors/UploadErrors.ts"
import * as Callback from "../runtime/Callback.ts"
import { Journal } from "../storage/Journal.ts"
import * as UploadPlan from "./internal/plan.ts"
import { send } from "./internal/send.ts"
import type { MediaType } from "./MediaFile.ts"
import type { MediaCategory } from "./MediaRules.ts"
import type * as Source from "./Source.ts"
import * as UploadCheckpoint from "./UploadCheckpoint.ts"
import type { Progress, UploadedMedia, UploadError, UploadOptions } from "./UploadOptions.ts"

export type { Progress, Subtitles, UploadedMedia, UploadError, UploadOptions } from "./UploadOptions.ts"

/** The last step of an upload's stream. */
export interface Uploaded {
  readonly phase: "ready"
  readonly media: UploadedMedia
}

/** A checked file. */
export interface Prepared {
  readonly type: MediaType
  readonly category: MediaCategory
  /** In bytes. */
  readonly size: number
  /** Sends it. */
  readonly send: Effect.Effect<UploadedMedia, UploadError, Client>
  /** Sends it, or resumes the upload with this key. */
  readonly resume: (key: string) => Effect.Effect<UploadedMedia, UploadError | StorageFailure, Client | Journal>
}

/** Uploads media. */
export interface Upload {
  /** Checks a file, sends it, waits until the service has processed it, and describes it. */
  (input: Source.Input, options?: UploadOptions): Effect.Effect<UploadedMedia, UploadError, Client>
  /**
   * The same with checkpoints in the journal: a call with the same key resumes the upload, and returns its media for as long as
   * they can be used. Another file with the key is uploaded from the beginning.
   */
  readonly resumable: (
    key: string,
    input: Source.Input,
    options?: UploadOptions
  ) => Effect.Effect<UploadedMedia, UploadError | StorageFailure, Client | Journal>
  /** The same as a Stream of steps; the last one has the media. Closing the stream cancels the upload. */
  readonly events: (
    input: Source.Input,
    options?: UploadOptions
  ) => Stream.Stream<Progress | Uploaded, UploadError, Client>
}

/** Opens and checks a file without sending it. It stays open until the scope ends; a stream can be opened only once. */
export const prepare = (
  input: Source.Input,
  options: UploadOptions = {},
  /** The operation and the parameter prefix for errors. */
  place: UploadPlan.Place = { operation: "upload", prefix: "" }
): Effect.Effect<Prepared, InvalidParameters | SourceFailure, Scope.Scope> =>
  Effect.map(UploadPlan.plan(input, options, place), (plan) => ({
    type: plan.type,
    category: plan.category,
    size: plan.size,
    send: send(plan, options, UploadCheckpoint.none),
    resume: (key) =>
      Effect.flatMap(
        Journal,
        (journal) => UploadCheckpoint.withLog(journal, UploadCheckpoint.nameOf(key), (log) => send(plan, options, log))
      )
  }))

/**
 * Uploads a file: an image, a GIF, a video, or subtitles. Its type is read from its bytes, and the service's limits are checked
 * before anything is sent. Memory holds no more than a few segments at any time.
 *
 * ```ts
 * const media = yield* upload(new Blob([bytes]), { alt: "A lighthouse at dusk" })
 * yield* createPost({ text: "Good evening", media_ids: [media.id] })
 * ```
 */
export const upload: Upload = /*#__PURE__*/ Object.assign(
  (input: Source.Input, options?: UploadOptions) =>
    Effect.scoped(Effect.flatMap(prepare(input, options), ({ send }) => send)),
  {
    resumable: (key: string, input: Source.Input, options?: UploadOptions) =>
      Effect.scoped(Effect.flatMap(prepare(input, options), ({ resume }) => resume(key))),
    events: (input: Source.Input, options: UploadOptions = {}) =>
      eventsOf((onProgress) =>
        upload(input, {
          ...options,
          onProgress: (progress) => {
            onProgress(progress)
            if (options.onProgress !== undefined) Callback.call(options.onProgress, progress)
          }
        })
      )
  }
)

/** The steps of an upload that reports its progress; the last one has the media. */
export const eventsOf = <E, R>(
  run: (onProgress: (progress: Progress) => void) => Effect.Effect<UploadedMedia, E, R>
): Stream.Stream<Progress | Uploaded, E, R> =>
  Stream.callback<Progress | Uploaded, E, R>((queue) =>
    run((progress) => Queue.offerUnsafe(queue, progress)).pipe(
      Effect.tap((media) => Queue.offer(queue, { phase: "ready", media })),
      Effect.andThen(Queue.end(queue))
    )
  )
