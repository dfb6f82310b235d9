/** Processes that answer one question after the other. */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { createInterface } from "node:readline"

/** A child process, and its first message. */
export interface Child<in Question, out Answer> {
  readonly hello: unknown
  readonly ask: (question: Question) => Promise<Answer>
  readonly [Symbol.dispose]: () => void
}

/** The next message; an error if the process ends instead, whose reason is on standard error. */
const next = (child: ChildProcess, name: string, listen: (resolve: (message: unknown) => void) => void) =>
  new Promise<unknown>((resolve, reject) => {
    const ended = () => reject(new Error(`${name} ended before it answered.`))
    child.once("exit", ended)
    listen((message) => {
      child.off("exit", ended)
      resolve(message)
    })
  })

/** Starts a module of this folder and waits until it has said `hello`. */
export const start = async <Question extends object, Answer>(
  file: string,
  ...args: ReadonlyArray<string>
): Promise<Child<Question, Answer>> => {
  const child = fork(new URL(file, import.meta.url), args, {
    execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
    serialization: "json"
  })
  const message = () => next(child, `${file} ${args[1] ?? ""}`, (resolve) => child.once("message", resolve))
  return {
    hello: await message(),
    ask: (question) => {
      const answered = message()
      child.send(question)
      // The messages of a module of this folder.
      return answered as Promise<Answer>
    },
    [Symbol.dispose]: () => {
      if (child.connected) child.disconnect()
    }
  }
}

/** In the child: reports that it is ready, answers, and ends with its parent. */
export const answer = <Question, Answer>(hello: unknown, f: (question: Question) => Promise<Answer>): void => {
  process.on("message", async (question: Question) => process.send?.(await f(question)))
  process.on("disconnect", () => process.exit())
  process.send?.(hello)
}

/** Starts a program of another language, which has JSON by lines where a module has messages. */
export const startProgram = async <Question extends object, Answer>(
  command: string,
  ...args: ReadonlyArray<string>
): Promise<Child<Question, Answer>> => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface(child.stdout)
  const line = () => next(child, command, (resolve) => lines.once("line", (line) => resolve(JSON.parse(line))))
  return {
    hello: await line(),
    ask: (question) => {
      const answered = line()
      child.stdin.write(`${JSON.stringify(question)}\n`)
      return answered as Promise<Answer>
    },
    [Symbol.dispose]: () => void child.stdin.end()
  }
}
