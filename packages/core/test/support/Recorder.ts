/** What a program is told of while it runs: its spans, and its log lines of every level. */
import { Layer, Logger, References, Tracer } from "effect"

/** Keeps the spans that begin under the layer. */
export const spans = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, layer: Layer.succeed(Tracer.Tracer, tracer) }
}

/** Keeps the log lines, too: messages and causes. */
export const all = () => {
  const traced = spans()
  const lines: Array<unknown> = []
  const layer = Layer.mergeAll(
    traced.layer,
    Logger.layer([Logger.make(({ cause, message }) => lines.push(message, cause))]),
    Layer.succeed(References.MinimumLogLevel, "All")
  )
  return { spans: traced.spans, lines, layer }
}
