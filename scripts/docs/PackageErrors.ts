/** The errors that calls do not fail with, such as those of exports, copies and chats: each from its docstring, and a message. */
import * as CopyErrors from "../../packages/archive/src/copy/CopyErrors.ts"
import { QueryRefused } from "../../packages/archive/src/look/Query.ts"
import { NotFetched } from "../../packages/archive/src/media/Download.ts"
import { ChatLibraryMissing, ChatRefused } from "../../packages/chat/src/errors/ChatErrors.ts"
import { NotReadable } from "../../packages/cluster/src/Finished.ts"
import { ExportFailed } from "../../packages/cluster/src/Workflow.ts"
import { RequestRefused } from "../../packages/core/src/events/Webhook.ts"
import * as Posts from "../../packages/core/src/operations/Posts.ts"
import { QuerySyntaxError } from "../../packages/core/src/query/Query.ts"
import { StorageUnavailable } from "../../packages/core/src/storage/Storage.ts"
import { LeaseLost, StreamLogUnavailable } from "../../packages/core/src/streams/shared/StreamLog.ts"
import * as ExportErrors from "../../packages/export/src/files/ExportErrors.ts"
import { RowsUnusable } from "../../packages/export/src/rows/Rows.ts"
import { NotPlannable } from "../../packages/export/src/sources/Plan.ts"
import { DryRun } from "../../packages/mcp/src/money/Gate.ts"
import { Refused } from "../../packages/mcp/src/money/Refused.ts"
import { BodyTooLarge, UndiciTransportCause } from "../../packages/node/src/UndiciHttpClient.ts"
import * as Sandbox from "../../packages/sandbox/src/Sandbox.ts"
import { type ExportedError, exportedErrors } from "./ExportedErrors.ts"
import { fieldsOf, type Member, membersAfter, membersTable, table } from "./Members.ts"
import { text } from "./Source.ts"

/** One of each, as programs meet it. */
const samples: Readonly<Record<string, Error>> = Object.fromEntries(
  [
    new CopyErrors.CopyUnusable({ path: "own.sqlite", reason: "a newer release made it (layout 9)" }),
    new CopyErrors.SyncRunning({ path: "own.sqlite" }),
    new CopyErrors.SubjectUnavailable({
      subject: "@ada",
      reason: "Could not find user with username: [ada]."
    }),
    new CopyErrors.TakeoutUnusable({
      path: "archive.zip",
      reason: "it has no data/account.js with an account"
    }),
    new QueryRefused({ reason: "no such table: post", tables: ["posts", "users"] }),
    new NotFetched({ reason: "the server answered 404", attempts: 5 }),
    new ChatLibraryMissing({ library: "@xdevplatform/chat-xdk", detail: "ERR_MODULE_NOT_FOUND" }),
    new ChatRefused({ subject: "the keys of user 2244994945", fault: "wrong passcode", guessesLeft: 19 }),
    new NotReadable({ export: "lighthouses", reason: "it is running", advice: "Wait until it is done." }),
    new ExportFailed({ reason: "searchAllPosts: 403 Forbidden" }),
    new RequestRefused({ status: 401, outcome: "signature", reason: "The signature is not of one of the secrets." }),
    new QuerySyntaxError({
      source: "cat (dog",
      message: "the group is not closed: a ) is expected",
      position: 4,
      end: 5
    }),
    new StorageUnavailable({ reason: "the connection was closed" }),
    new StreamLogUnavailable({ reason: "the connection was closed" }),
    new LeaseLost({ stream: "lighthouses", consumer: "archive" }),
    new ExportErrors.FileExists({ path: "posts.jsonl" }),
    new ExportErrors.OutputRefused({ path: "posts.jsonl", reason: "it is a symbolic link" }),
    new ExportErrors.DiskFull({ path: "posts.jsonl", reason: "no space is left on the device" }),
    new ExportErrors.NotWritable({ path: "posts.jsonl", reason: "permission denied" }),
    new ExportErrors.FileFailure({ path: "posts.jsonl", reason: "input/output error", cause: undefined }),
    new ExportErrors.PipeClosed(),
    new ExportErrors.CheckpointMismatch({
      path: "posts.jsonl",
      differences: [{ name: "query", saved: "lighthouse", asked: "lighthouses" }]
    }),
    new ExportErrors.CheckpointUnusable({ path: "posts.jsonl", reason: "it was changed, or is of another version" }),
    new ExportErrors.AlreadyRunning({ path: "posts.jsonl" }),
    new RowsUnusable({
      path: "ids.csv",
      line: 42,
      reason: "\"12a\" is not an id",
      advice: "Correct the file."
    }),
    new NotPlannable({ operation: "getUsersPosts", reason: "the service has no count for it" }),
    new DryRun({ definition: Posts.getPost.definition, request: "GET /2/posts/20", micros: 5_000 }),
    new Refused({ reason: "handle: was used before.", advice: "Prepare another write if the user wants one." }),
    new UndiciTransportCause({
      phase: "connect",
      requestSent: false,
      code: "ECONNREFUSED",
      message: "the connection was refused"
    }),
    new BodyTooLarge({ maxBodySize: 67_108_864 }),
    new Sandbox.InvalidOption({ option: "postCap", rule: "must be a whole number, 1 or more" }),
    new Sandbox.PortUnavailable({ port: 8080, cause: undefined }),
    new Sandbox.NodeUnsupported({ version: "24.0.0" }),
    new Sandbox.StoreUnavailable({ file: "sandbox.sqlite", cause: undefined })
  ].map((sample) => [sample._tag, sample])
)

/** The errors that the guide to errors does not describe one by one. */
export const errorsBeside = (tags: ReadonlyArray<string>): ReadonlyArray<ExportedError> =>
  exportedErrors().filter(({ tag }) => !tags.includes(tag))

const membersOf = ({ file, tag }: ExportedError): ReadonlyArray<Member> =>
  text(file).includes(`Data.TaggedError("${tag}")<{`)
    ? membersAfter(file, RegExp(`Data\\.TaggedError\\("${tag}"\\)<\\{`))
    : fieldsOf(file, tag)

const messageOf = (sample: Error): string => {
  const advice = "advice" in sample ? String(sample.advice) : ""
  return sample.message.includes(advice) ? sample.message : `${sample.message}\n${advice}`
}

/** The modules of an error, as a sentence. */
export const imports = ({ modules, tag }: Pick<ExportedError, "modules" | "tag">): string => {
  const [own, ...others] = modules
  const also = others.length === 0 ? "" : ` Also in ${others.map((module) => `\`${module}\``).join(", ")}.`
  return `\`\`\`ts\nimport { ${tag} } from "${own}"\n\`\`\`${also === "" ? "" : `\n\n${also.trim()}`}`
}

/** The text of the page of an error, without its heading. */
export const page = (error: ExportedError): ReadonlyArray<string> => {
  const sample = samples[error.tag]
  if (sample === undefined) throw new Error(`PackageErrors.ts has no sample of ${error.tag}`)
  if (error.docstring === "") throw new Error(`${error.tag} has no docstring`)
  const members = membersOf(error)
  return [
    error.docstring.replace(/(?<!\n)\n(?!\n)/g, " "),
    `\`\`\`text\n${messageOf(sample)}\n\`\`\``,
    ...members.length === 0 ? [] : [membersTable(members)]
  ]
}

/** A table of all of them, with what each means. */
export const list = (errors: ReadonlyArray<ExportedError>): string =>
  table(
    ["Error", "Package", "Meaning"],
    errors.map(({ docstring, modules: [module = ""], tag }) => [
      `[\`${tag}\`](errors/${tag}.md)`,
      `\`${module.split("/", 2).join("/")}\``,
      /^[^]+?\.(?=\s|$)/.exec(docstring)?.[0].replace(/\s+/g, " ") ?? docstring
    ])
  )
