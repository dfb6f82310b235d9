/** Uploads, posts with files, and threads, with Promises. What a platform takes for a file is for the platform to say. */
import type * as Upload from "../media/Upload.ts"
import type * as Publish from "../publishing/Publish.ts"
import type * as Thread from "../publishing/Thread.ts"
import * as Calls from "./Calls.ts"
import * as Workflows from "./Workflows.ts"

export type { Progress as UploadProgress, Uploaded, UploadedMedia } from "../media/Upload.ts"
export type { Media, Poll, Post, Progress as PublishProgress, PublishedPost } from "../publishing/Publish.ts"
export type { PublishedThread } from "../publishing/Thread.ts"

/** A stream that knows how long it is. */
export interface SizedStream {
  /** A web stream, or what gives bytes asynchronously, as streams of Node do. It is read once. */
  readonly stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>
  /** In bytes. */
  readonly size: number
  /** For messages. Default: `the stream`. */
  readonly name?: string | undefined
}

/** What can be uploaded on every platform. */
export type Input = Uint8Array | ArrayBuffer | Blob | SizedStream

/** What an upload may be told, besides its file. */
export interface UploadOptions<in out I = Input> extends Workflows.UploadOptions<I> {
  /** Cancels the upload at once, wherever it is; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Uploads media, as a method. */
export interface Uploading<in out I = Input> {
  /**
   * Checks a file and sends it, waits until the service has processed it, and describes it. What it makes is for the
   * `media_ids` of a post, or for a direct message.
   */
  (input: I, options?: UploadOptions<I>): Promise<Upload.UploadedMedia>
  /**
   * The same as its steps, of which the last has the media. One that is slow sees the newest only; one that stops cancels the
   * upload.
   */
  readonly events: (
    input: I,
    options?: Omit<UploadOptions<I>, "onProgress">
  ) => AsyncIterable<Upload.Progress | Upload.Uploaded>
}

/** Uploads, posts with files, and threads, as methods of a client. */
export interface Publishing<in out I = Input> {
  readonly upload: Uploading<I>
  /**
   * Publishes a post with its files and its poll: everything is checked, then uploaded, then posted. A failed upload posts
   * nothing, and `OutcomeUnknown` is of the post alone.
   */
  readonly publish: (post: Publish.Post<I>, options?: PublishOptions) => Promise<Publish.PublishedPost>
  /**
   * Publishes posts, each in reply to the one before. Their files are uploaded before the first is posted. What was sent is
   * noted in the journal by the `key`: the same call goes on where another one was interrupted, and posts no part twice.
   */
  readonly publishThread: (
    posts: ReadonlyArray<Publish.Post<I>>,
    options: ThreadOptions
  ) => Promise<Thread.PublishedThread>
}

/** What publishing a post may be told. */
export interface PublishOptions extends Publish.PublishOptions, Pick<Calls.CallOptions, "signal"> {}

/** What publishing a thread is told. */
export interface ThreadOptions extends Thread.ThreadOptions, Pick<Calls.CallOptions, "signal"> {}

/** How errors tell of uploads and posts that are ended from outside. */
export const calls = {
  upload: { name: "upload", effect: "toggle" },
  publish: { name: "publish", effect: "create", confirmWith: "getUsersPosts" },
  // The same call looks for what this one sent.
  publishThread: { name: "publishThread", effect: "toggle" }
} as const

/** The methods of a client. */
export const make = <I>(context: Calls.Context, inputOf: Workflows.InputOf<I>): Publishing<I> => {
  const effects = Workflows.on(inputOf)

  const upload = (input: I, options?: UploadOptions<I>): Promise<Upload.UploadedMedia> =>
    Calls.call(context, calls.upload, options, (own = {}) => effects.upload(input, own))

  return {
    upload: Object.assign(upload, {
      events: (input: I, options?: UploadOptions<I>) => ({
        [Symbol.asyncIterator]: () => events(upload, input, options)
      })
    }),
    publish: (post, options) => Calls.call(context, calls.publish, options, (own = {}) => effects.publish(post, own)),
    // Without a key, which no thread has, it is refused as any other one.
    publishThread: (posts, options) =>
      Calls.call(context, calls.publishThread, options, (own = { key: "" }) => effects.publishThread(posts, own))
  }
}

/** The steps of an upload, of which one that was not looked at in time gives way to the next. */
async function* events<I>(
  upload: (input: I, options: UploadOptions<I>) => Promise<Upload.UploadedMedia>,
  input: I,
  options: UploadOptions<I> = {}
): AsyncGenerator<Upload.Progress | Upload.Uploaded> {
  const [signal, own] = Calls.split(calls.upload, options)
  const left = new AbortController()
  let newest: Upload.Progress | undefined
  let wake = () => {}
  const uploaded = upload(input, {
    ...own,
    signal: signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]),
    onProgress: (progress) => {
      newest = progress
      wake()
    }
  }).then(
    (media) => ({ phase: "ready", media }) as const,
    (error: unknown) => ({ phase: "failed", error }) as const
  )
  try {
    while (true) {
      const progress = newest
      newest = undefined
      if (progress !== undefined) yield progress
      else {
        const stepped = new Promise<undefined>((resolve) => wake = () => resolve(undefined))
        const end = await Promise.race([stepped, uploaded])
        if (end?.phase === "ready") return yield end
        if (end !== undefined) {
          signal?.throwIfAborted()
          throw end.error instanceof Error ? Calls.startingAt(end.error, events) : end.error
        }
      }
    }
  } finally {
    left.abort()
  }
}
