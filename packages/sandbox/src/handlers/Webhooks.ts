import * as Effect from "effect/Effect"
import * as Challenge from "../events/Challenge.ts"
import * as Problem from "../http/Problem.ts"
import { listed } from "../projection/Reply.ts"
import type { Webhook } from "../store/Webhooks.ts"
import type { Call, Handlers } from "./Handler.ts"

/** The number of webhooks of an app, by the access level of its project. */
const maxWebhooks = { standard: 1, research: 5 }

export const handlers = {
  createWebhook: Effect.fnUntraced(function*(call) {
    const { caller: { access, appId }, deliveries, now, parameters: { url }, store: { webhooks } } = call
    const refuse = (reason: string, detail: string) => Problem.invalidRequest(`${reason}: ${detail}`, { url })
    if (!isLoopback(url)) {
      return yield* refuse(
        "UrlValidationFailed",
        "The sandbox accepts only addresses of this machine (localhost, 127.0.0.1 or [::1], on any port, http or https)."
      )
    }
    const refusal = () => {
      const known = webhooks.ofApp(appId)
      return known.some((webhook) => webhook.url === url)
        ? refuse("DuplicateUrlFailed", "The app has a webhook with this address.")
        : known.length >= maxWebhooks[access]
        ? refuse("WebhookLimitExceeded", `The app may have ${maxWebhooks[access]} webhooks, and has them.`)
        : undefined
    }
    const early = refusal()
    if (early !== undefined) return yield* early
    const verdict = yield* deliveries.check({ appId, url })
    if (verdict !== "passed") return yield* Challenge.problemOf(verdict)
    // Another request may have registered it during the check.
    const late = refusal()
    if (late !== undefined) return yield* late
    const id = webhooks.insert({ appId, createdAt: now, url })
    return { data: shown({ id, url, valid: true, createdAt: now }) }
  }),

  getWebhooks: ({ caller: { appId }, store: { webhooks } }) =>
    Effect.succeed(listed({ items: webhooks.ofApp(appId).map(shown), next: undefined, previous: undefined })),

  validateWebhook: (call) =>
    Effect.flatMap(
      named(call),
      (webhook) =>
        Effect.flatMap(
          call.deliveries.validate(webhook),
          (verdict) => verdict === "passed" ? Effect.succeed({ data: { valid: true } }) : Challenge.problemOf(verdict)
        )
    ),

  deleteWebhook: (call) =>
    Effect.map(named(call), ({ id }) => {
      call.store.webhooks.delete(id)
      return { data: { deleted: true } }
    }),

  replayWebhook: (call) =>
    Effect.flatMap(named(call), (webhook) =>
      Effect.map(
        call.deliveries.replay(webhook, call.parameters.from_date, call.parameters.to_date),
        (data) => ({ data })
      )),

  linkStreamWebhook: (call) =>
    call.caller.access === "research"
      ? Effect.map(named(call), ({ id }) => {
        call.store.webhooks.link(id, call.now)
        return { data: { provisioned: true } }
      })
      : Problem.notEnrolled("Enterprise"),

  unlinkStreamWebhook: (call) =>
    Effect.map(named(call), ({ id, linkedAt }) => {
      call.store.webhooks.link(id, undefined)
      return { data: { deleted: linkedAt !== undefined } }
    }),

  getStreamWebhooks: ({ caller: { appId }, store: { webhooks } }) =>
    Effect.succeed({
      data: webhooks.ofApp(appId).flatMap(({ id, linkedAt }) =>
        linkedAt === undefined
          ? []
          : { webhook_id: id, application_id: appId, created_at: new Date(linkedAt).toISOString(), fields: [] }
      )
    })
} satisfies Partial<Handlers>

/** True for an address of this machine. */
const isLoopback = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  return /^https?:$/.test(protocol) && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

const shown = ({ createdAt, id, url, valid }: Pick<Webhook, "createdAt" | "id" | "url" | "valid">) => ({
  id,
  url,
  valid,
  created_at: new Date(createdAt).toISOString()
})

/** The webhook that a request of its app names. */
export const named = (
  { caller: { appId }, parameters: { webhook_id: id }, store: { webhooks } }: Call<{ readonly webhook_id: string }>
): Effect.Effect<Webhook, Problem.Problem> => {
  const webhook = webhooks.byId(id)
  return webhook?.appId === appId
    ? Effect.succeed(webhook)
    : Problem.missing({
      ...Problem.notFound({ kind: "webhook_config", id, parameter: "webhook_id" }),
      message: `WebhookIdInvalid: The app has no webhook ${id}.`
    })
}
