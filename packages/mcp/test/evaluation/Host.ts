/** A host at the level of messages: it lists, calls, answers questions and cancels, by either kind of revision. */
type Json = Readonly<Record<string, unknown>>

/** The revisions that hosts of today speak. */
export const revisions = ["2025-11-25", "2026-07-28"] as const

export type Revision = typeof revisions[number]

/** Standard input and output of a server. */
export interface Pipe {
  readonly write: (line: string) => void
  /** Closes the request, where each has a connection of its own. */
  readonly abort?: (id: number) => void
  /** Ends the server's input. */
  readonly close: () => Promise<void>
}

/** The result of a call as a model sees it. */
export interface Answer {
  readonly text: string
  readonly isError: boolean
  /** The code of a JSON-RPC error, which is none of the tool's. */
  readonly code?: number | undefined
}

interface Question {
  readonly message?: string
}

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Question & { readonly progress?: number; readonly total?: number }
  readonly error?: { readonly code: number; readonly message: string }
  readonly result?: {
    readonly instructions?: string
    readonly tools?: ReadonlyArray<{ readonly name: string }>
    readonly resultType?: string
    readonly inputRequests?: Readonly<Record<string, { readonly params: Question }>>
    readonly requestState?: string
    readonly content?: ReadonlyArray<{ readonly type: string; readonly text?: string }>
    readonly isError?: boolean
  }
}

const answers = {
  accept: { action: "accept", content: { allow: true } },
  decline: { action: "decline" },
  cancel: { action: "cancel" },
  none: { action: "cancel" }
}

/** The user's answer to a question. `none` stands for a host that cannot ask. */
export type Consent = keyof typeof answers

/** A connected host. */
export interface Host {
  /** The words of the questions to the user. */
  readonly questions: ReadonlyArray<string>
  /** The instructions of the server. */
  readonly instructions: string
  /** The progress of calls, such as `100 of 250`. */
  readonly reports: ReadonlyArray<string>
  readonly call: (name: string, input: Json) => Promise<Answer>
  /** Sends a call and then its cancellation: at once, or when progress is reported. */
  readonly cancel: (name: string, input: Json, at: "once" | "progress") => Promise<void>
  /** The tools as the server lists them. */
  readonly list: () => Promise<ReadonlyArray<{ readonly name: string }>>
  /** The result of any request as JSON. */
  readonly request: (method: string, params: Json) => Promise<Answer>
  readonly close: () => Promise<void>
}

/** Connects a host that answers questions with `consent`. */
export const connect = async (
  open: (receive: (line: string) => void) => Promise<Pipe>,
  revision: Revision,
  consent: Consent
): Promise<Host> => {
  const pending = new Map<unknown, (message: Message) => void>()
  const questions: Array<string> = []
  const capabilities = consent === "none" ? {} : { elicitation: {} }
  const meta = metaOf(revision, capabilities)
  const answer = ({ message = "" }: Question = {}) => {
    questions.push(message)
    return answers[consent]
  }
  const reports: Array<string> = []
  let reported = () => {}
  const pipe = await open((line) => {
    const message: Message = JSON.parse(line)
    if (message.method === "notifications/progress") {
      reports.push(`${message.params?.progress} of ${message.params?.total}`)
      reported()
    } else if (message.method === undefined) pending.get(message.id)?.(message)
    else if (message.id !== undefined) send({ id: message.id, result: answer(message.params) })
  })
  const send = (message: Json) => pipe.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  let id = 0
  const request = (method: string, params: Json = {}) => {
    const answered = Promise.withResolvers<Message>()
    pending.set(++id, answered.resolve)
    // Every request wants progress; only exports have some.
    send({ id, method, params: { ...params, _meta: { ...meta._meta, progressToken: id } } })
    return answered.promise
  }

  const opened = await (revision === "2026-07-28"
    ? request("server/discover")
    : request("initialize", { protocolVersion: revision, capabilities, clientInfo }))
  if (revision !== "2026-07-28") send({ method: "notifications/initialized" })
  return {
    questions,
    reports,
    instructions: opened.result?.instructions ?? "",
    call: async (name, input) => {
      const first = await request("tools/call", { name, arguments: input })
      const { inputRequests = {}, requestState, resultType } = first.result ?? {}
      if (resultType !== "input_required") return shown(first)
      const inputResponses = Object.fromEntries(
        Object.entries(inputRequests).map(([key, { params }]) => [key, answer(params)])
      )
      return shown(await request("tools/call", { name, arguments: input, inputResponses, requestState }))
    },
    cancel: async (name, input, at) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      reported = resolve
      void request("tools/call", { name, arguments: input })
      if (at === "progress") await promise
      // A revision without sessions has no message that could name the request of another connection.
      if (pipe.abort !== undefined && revision === "2026-07-28") pipe.abort(id)
      else send({ method: "notifications/cancelled", params: { requestId: id, ...meta } })
    },
    list: async () => (await request("tools/list")).result?.tools ?? [],
    request: async (method, params) => {
      const { error, result } = await request(method, params)
      return { text: error?.message ?? JSON.stringify(result), isError: error !== undefined, code: error?.code }
    },
    close: pipe.close
  }
}

const clientInfo = { name: "evaluation", version: "1.0.0" }

/** Stateless revisions have the host's profile in every request. */
const metaOf = (revision: Revision, clientCapabilities: Json): { readonly _meta?: Json } => {
  const prefix = "io.modelcontextprotocol"
  return revision !== "2026-07-28" ? {} : {
    _meta: {
      [`${prefix}/protocolVersion`]: revision,
      [`${prefix}/clientCapabilities`]: clientCapabilities,
      [`${prefix}/clientInfo`]: clientInfo
    }
  }
}

const shown = ({ error, result }: Message): Answer => ({
  text: error?.message ?? (result?.content ?? []).map(({ text, type }) => text ?? `[${type}]`).join("\n"),
  isError: error !== undefined || result?.isError === true,
  code: error?.code
})
