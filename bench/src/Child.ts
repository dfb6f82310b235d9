/** Processes that answer one question after the other. */
import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

/** A child process. */
export interface Child<in Question, out Answer> {
  readonly ask: (question: Question) => Promise<Answer>
  readonly end: () => void
}

/** Starts a module of this folder and waits until it has said `hello`. */
export const start = async <Question extends object, Answer>(
  file: string,
  ...args: ReadonlyArray<string>
): Promise<Child<Question, Answer> & { readonly hello: unknown }> => {
  const child = fork(new URL(file, import.meta.url), args)
  let ended = false
  child.on("exit", () => {
    // The error is already on standard error.
    if (!ended) process.exit(1)
  })
  const [hello] = await once(child, "message")
  return {
    hello,
    ask: async (question) => {
      child.send(question)
      const [answer] = await once(child, "message")
      return answer
    },
    end: () => {
      ended = true
      child.disconnect()
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
  let ended = false
  child.on("exit", () => {
    if (!ended) process.exit(1)
  })
  const lines = createInterface(child.stdout)
  await once(lines, "line")
  return {
    ask: async (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`)
      const [line] = await once(lines, "line")
      return JSON.parse(line)
    },
    end: () => {
      ended = true
      child.stdin.end()
    }
  }
}
