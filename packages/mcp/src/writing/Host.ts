/**
 * Asks the user through the host: by multi round-trip requests or elicitation, whichever its revision has. Where it has neither, the
 * user approves the call in a terminal.
 */
import { Client } from "@postwire/core/client/Client"
import type { Journal } from "@postwire/core/storage/Journal"
import {
  ElicitRequestFormParams,
  InputRequired,
  type McpInputResponse,
  McpRequestContext,
  McpServerClient
} from "effect/ai/McpSchema"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { dollars } from "../money/Dollars.ts"
import type { Ask, Question } from "../money/Gate.ts"
import { Refused } from "../money/Refused.ts"
import { type Asked, type Listing, Session } from "../session/Session.ts"
import * as Book from "./Book.ts"

/** A hash of the credentials that calls use. */
export const account: Effect.Effect<string, never, Client> = Effect.gen(function*() {
  const client = yield* Client
  const hashes = [true, false].map((userAuth) => Effect.orElseSucceed(client.credential(userAuth), () => "none"))
  return (yield* Effect.all(hashes)).join()
})

/** The account in the book. */
const identity = Effect.gen(function*() {
  const { settings } = yield* Session
  return { account: yield* account, ...settings.account !== undefined && { as: settings.account } }
})

/** Enters a write for `publish`, and returns its preview with its handle. */
export const prepare = (
  write: Required<Pick<Book.Contents, "of" | "micros" | "lines" | "action">>
): Effect.Effect<Listing, Refused, Client | Journal | Session> =>
  Effect.gen(function*() {
    const handle = yield* Book.enter({ ...yield* identity, kind: "write", ...write })
    return {
      lines: [
        ...write.lines,
        `handle: ${handle} (valid for 10 minutes, once)`,
        "Nothing was sent. Show this to the user; publish sends exactly this, after the user has confirmed it."
      ]
    }
  })

/** The consent of the user, by the host. */
export const consent: Effect.Effect<Ask, never, Client | Session | Journal> = Effect.map(
  Effect.context<Client | Session | Journal>(),
  (services) => (question) => Effect.provideContext(consentTo(question), services)
)

/** The refusal where no user can be asked. */
const refusal = ({ kind, micros, of }: Question, otherwise: string): Refused =>
  kind === "write"
    ? new Refused({
      reason: `${of} changes something, and this host cannot ask its user to confirm it.`,
      advice: `Nothing was sent. ${otherwise}`
    })
    : new Refused({
      reason: micros === 0
        ? `The price of ${of} is unknown, and this server does not spend it without asking its user.`
        : `${of} may cost ${dollars(micros)}, more than this server spends without asking its user.`,
      advice: `Nothing was sent. Request fewer rows or detail: low. Otherwise: ${otherwise}`
    })

type Answer = "accept" | "decline" | "cancel" | "none"

const consentTo = Effect.fnUntraced(function*(question: Question) {
  const { handle: prepared, ...rest } = question
  const contents = { ...yield* identity, ...rest }
  const handle = prepared ?? (yield* Book.handleOf(contents))
  const isApproved = prepared === undefined
    // Of two equal calls, one has the approval.
    ? yield* Book.move(handle, ["approved"], undefined)
    : (yield* Book.find(handle))?.state === "approved"
  if (isApproved) return
  const answer = yield* asked(question, handle)
  if (answer === "accept") return
  if (answer === "none") {
    if (prepared === undefined) yield* Book.enter(contents)
    const { settings: { command = "postwire" } } = yield* Session
    const approve = `${command} approve ${handle}`
    return yield* refusal(
      question,
      `Let the user run in a terminal: ${approve}. Then repeat this call. A handle is valid for 10 minutes.`
    )
  }
  if (answer === "decline") yield* Book.move(handle, ["waiting"], undefined)
  return yield* new Refused({
    reason: answer === "decline" ? "The user declined." : "The user closed the question without an answer.",
    advice: "Nothing was sent. Do not try it another way; ask the user what to do instead."
  })
})

const asked = (question: Question, handle: string) =>
  Effect.gen(function*() {
    const { clientCapabilities: { elicitation }, protocolVersion } = yield* McpRequestContext
    if (elicitation === undefined || (elicitation.form === undefined && elicitation.url !== undefined)) return "none"
    const form = yield* formOf(question)
    return yield* protocolVersion >= firstStateless ? askedAgain(form, handle) : elicited(form)
  })

/** The first revision in which servers send no requests. */
const firstStateless = "2026-07-28"

/** The question as a form. Its own words have nothing of the call in them. */
const formOf = ({ kind, lines, micros, of }: Question) =>
  Effect.map(Session, ({ hasReadStrangers, settings }) =>
    ElicitRequestFormParams.make({
      mode: "form",
      message: [
        `${kind === "write" ? `Allow ${of}` : `Spend on ${of}`}${
          micros > 0 ? `, for up to ${dollars(micros)}` : kind === "cost" ? ", whose price is unknown" : ""
        }${settings.account === undefined ? "" : `, as ${settings.account}`}?`,
        ...lines,
        ...kind === "write" && hasReadStrangers
          ? ["The agent has read texts of strangers, which may have led it to this."]
          : []
      ].join("\n"),
      requestedSchema: {
        type: "object",
        properties: { allow: { type: "boolean", title: "Allow this", default: false } },
        required: ["allow"]
      }
    }))

const elicited = (form: ElicitRequestFormParams): Effect.Effect<Answer> =>
  Effect.gen(function*(): Effect.fn.Return<Answer, unknown, Scope.Scope> {
    const host = yield* Effect.serviceOption(McpServerClient)
    if (Option.isNone(host)) return "none"
    const client = yield* host.value.getClient
    return answerOf(yield* client.elicit(form))
  }).pipe(Effect.scoped, Effect.orElseSucceed((): Answer => "none"))

/** The questions that requests answer. */
const answering = new WeakMap<McpRequestContext["Service"], Asked>()

/**
 * The answer in the request, if it answers this question; otherwise the question. The handle covers the account and the whole call.
 * A state counts for one request, and not for another process: a host may send it again. A call may need several answers.
 */
const askedAgain = Effect.fnUntraced(function*(form: ElicitRequestFormParams, handle: string) {
  const { asked } = yield* Session
  const request = yield* McpRequestContext
  const { inputResponses, requestState = "" } = request
  const until = (yield* Clock.currentTimeMillis) + Book.validMillis
  for (const [state, old] of asked) if (old.until <= until - Book.validMillis) asked.delete(state)
  const answered = answering.get(request) ?? asked.get(requestState) ?? { handle: "", until, accepted: new Set() }
  asked.delete(requestState)
  answering.set(request, answered)
  const { accepted } = answered
  if (accepted.has(handle)) return "accept"
  const response = inputResponses?.["consent"]
  if (response !== undefined && answered.handle === handle) {
    const answer = answerOf(response)
    if (answer === "accept") accepted.add(handle)
    return answer
  }
  const state = globalThis.crypto.randomUUID()
  asked.set(state, { handle, until, accepted })
  return yield* Effect.fail(
    new InputRequired({
      inputRequests: { consent: { method: "elicitation/create", params: { ...form } } },
      requestState: state
    })
  )
})

const answerOf = ({ action, content }: McpInputResponse): Answer =>
  action === "accept"
    ? Predicate.hasProperty(content, "allow") && content.allow === true ? "accept" : "decline"
    : action === "decline"
    ? "decline"
    : "cancel"
