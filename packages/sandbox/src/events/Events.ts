/** Events of activity: which ones a change makes, and who gets them. */
import type { EventType } from "@postwire/core/schema/models/Activity"
import type { Scope } from "@postwire/core/schema/Scopes"
import type * as Effect from "effect/Effect"
import type { Problem } from "../http/Problem.ts"
import type { Webhook } from "../store/Webhooks.ts"

/** A failed check of a webhook. */
export interface Refusal {
  readonly reason: string
}

/** Delivers events to webhooks. */
export interface Deliveries {
  /** Sends a challenge to an address. */
  readonly check: (webhook: Pick<Webhook, "appId" | "url">) => Effect.Effect<"passed" | Refusal>
  /** Checks a webhook and notes the outcome. */
  readonly validate: (webhook: Webhook) => Effect.Effect<"passed" | Refusal>
  /** Delivers an event, in neutral names. */
  readonly deliver: (webhook: Webhook, event: { readonly data: object }) => void
  /** Delivers the events of past minutes again. */
  readonly replay: (
    webhook: Webhook,
    from: number,
    to: number
  ) => Effect.Effect<{ readonly job_id: string; readonly created_at: string }, Problem>
}

/** The scope that private events need; undefined for public ones. */
export const scopeOf = (type: EventType): Scope | undefined => {
  const [family = "", kind = ""] = type.split(".")
  if (family === "post") return kind === "create" || kind === "delete" ? undefined : "post.read"
  return type === "broadcast.chat" ? "broadcast.read" : scopes.get(family)
}

const scopes = new Map<string, Scope>([
  ["like", "like.read"],
  ["mute", "mute.read"],
  ["block", "block.read"],
  ["dm", "dm.read"],
  ["chat", "dm.read"]
])

/** True for events between two users, which a subscription can select by their direction. */
export const isDirected = (type: EventType): boolean => /^(follow|like|post\.\w+)\.\w+$/.test(type)
