/** The error of creating an article, re-exported by `Errors`. It is separate from the errors that every call needs. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"
import { saidOf } from "./internal/messages.ts"

/**
 * The draft of an article may have been created, or its publication may have happened: the response did not arrive, or the journal
 * could not record it. No operation reads a draft, and the post is not among those of the author so far. Nothing more is sent for
 * the key until the caller decides.
 */
export class ArticleUndecided extends Data.TaggedError("ArticleUndecided")<{
  readonly key: string
  readonly title: string
  readonly step: "draft" | "publication"
  /** The draft, if it certainly exists. */
  readonly article_id?: string | undefined
  /** Its post, if it certainly exists. */
  readonly post_id?: string | undefined
  /** When it was sent. */
  readonly sentAt: Date
  readonly authorId: string
  /** Why there is no response or no record, if this call has sent it, and why the post was not found. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const { article_id, authorId, key, post_id, sentAt, step, title } = this
    const happened = step === "draft"
      ? article_id === undefined ? "The draft may exist" : `Draft ${article_id} exists`
      : `Draft ${article_id} ${post_id === undefined ? "may be published" : `is published as post ${post_id}`}`
    return `${happened}: the article ${JSON.stringify(title)} with the key ${
      JSON.stringify(key)
    } was sent at ${sentAt.toISOString()} for user ${authorId}, and no response was recorded${
      saidOf(this)
    }. ${this.advice}`
  }
  get advice(): string {
    const { article_id, step } = this
    if (step === "draft" && article_id !== undefined) return `Call again with article_id: "${article_id}".`
    return step === "draft"
      ? `Look among the author's drafts. If it is there, call again with its id as article_id; if it is not, with undecided: "continue", which creates it.`
      : `Call again later, which looks among the author's posts. If it is certainly not there, call again with undecided: "continue", which publishes the draft.`
  }
}

brand([ArticleUndecided])
