/** Spools of whole pages: each part of an export is fetched into one, and then all are read in order. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as disk from "../files/Disk.ts"
import type { ExportError } from "../files/ExportErrors.ts"
import { linesOf } from "../files/Lines.ts"
import type { FileSink } from "../folders/Sink.ts"
import { emptyPage, type Page } from "../rows/Page.ts"
import * as Files from "./Files.ts"

/** A sink whose rows are pages. */
export const spool = (path: string): FileSink => {
  const format: Files.Format = {
    name: "pages",
    extension: ".pages",
    encoder: () => ({ header: "", rows: Files.lines })
  }
  const files = Files.make(path, format, "spool")
  return {
    ...files,
    open: (job, folder) =>
      Effect.map(files.open({ ...job, expected: [] }, folder), (writer) => ({
        ...writer,
        get progress() {
          return writer.progress
        },
        write: ({ anomalies, errors, includes, items, ...page }, progress) =>
          writer.write(
            { ...page, items: [{ items, includes, errors, anomalies }], includes: {}, errors: [] },
            progress
          )
      }))
  }
}

/** The pages of several spools, in order. The cursor of a page is its spool and its line. */
export const merged = (
  spools: ReadonlyArray<string>,
  fetched: Pick<Page, "requests" | "spent">,
  cursor = "0:0"
): Stream.Stream<Page, ExportError> => {
  const [first = 0, line = 0] = cursor.split(":").map(Number)
  const pages = async function*(): AsyncGenerator<Page> {
    let isFirst = cursor === "0:0"
    const told = (page: Page): Page => {
      if (!isFirst) return page
      isFirst = false
      return { ...page, ...fetched }
    }
    for (const [number, path] of spools.entries()) {
      if (number < first) continue
      let at = 0
      let held: Page | undefined
      for await (const texts of linesOf(path)) {
        for (const text of texts) {
          if (held !== undefined) yield told(held)
          held = undefined
          at++
          if (number === first && at <= line) continue
          held = { ...JSON.parse(text), next: `${number}:${at}`, rateLimit: undefined }
        }
      }
      const isLast = number === spools.length - 1
      const next = isLast ? undefined : `${number + 1}:0`
      yield told({ ...held ?? emptyPage, next })
    }
  }
  return Stream.fromAsyncIterable(pages(), (cause) => disk.failureOf(spools[first] ?? "", cause))
}
