/** The error of creating an article, re-exported by `Errors`. It is separate from the errors that every call needs. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"
import { saidOf } from "./internal/messages.ts"

/**
 * The draft of an article may have been created, or its publication may have happened: the response did not arrive. No operation
 * reads a draft. Nothing more is sent for the key until the caller decides.
 */
export class ArticleUndecided extends Data.TaggedError("ArticleUndecided")<{
  readonly key: string
  readonly title: string
  readonly step: "draft" | "publication"
  /** The draft that may have been published. */
  readonly article_id?: string | undefined
  /** When it was sent. */
  readonly sentAt: Date
  readonly authorId: string
  /** Why there is no response, if this call has sent it. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const { article_id = "", authorId, key, sentAt, step, title } = this
    const happened = step === "draft" ? "The draft may exist" : `Draft ${article_id} may be published`
    return `${happened}: the article ${JSON.stringify(title)} with the key ${
      JSON.stringify(key)
    } was sent at ${sentAt.toISOString()} for user ${authorId}, and no response was recorded${
      saidOf(this)
    }. ${this.advice}`
  }
  get advice(): string {
    return this.step === "draft"
      ? `Look among the author's drafts. If it is there, call again with its id as article_id; if it is not, with undecided: "continue", which creates it.`
      : `Look among the author's posts. If it is there, it is done; if it is not, call again with undecided: "continue", which publishes the draft.`
  }
}

brand([ArticleUndecided])
