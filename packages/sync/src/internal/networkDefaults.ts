/**
 * How Node connects unless it is told otherwise. A worker begins with Node's own defaults, whatever the program was
 * started with or has set since; it is to refuse and reach what the thread of the caller would.
 */
import type Tls from "node:tls"

/** What a program can set at any time. */
export interface NetworkDefaults {
  readonly lookupOrder: "ipv4first" | "ipv6first" | "verbatim"
  readonly autoSelectFamily: boolean
  /** In milliseconds. */
  readonly autoSelectFamilyTimeout: number
  /** For `https:` only: it takes some time to read. */
  readonly tls: TlsDefaults | undefined
}

interface TlsDefaults
  extends Pick<typeof Tls, "DEFAULT_MIN_VERSION" | "DEFAULT_MAX_VERSION" | "DEFAULT_CIPHERS" | "DEFAULT_ECDH_CURVE">
{
  /** The trusted authorities; none where Node cannot be told of others. */
  readonly authorities: ReadonlyArray<string> | undefined
}

// Loaded when they are needed: the caller's side needs them for this alone.
const dns = () => process.getBuiltinModule("node:dns")
const net = () => process.getBuiltinModule("node:net")
const tls = () => process.getBuiltinModule("node:tls")

/** The defaults of this thread. */
export const read = ({ secure }: { readonly secure: boolean }): NetworkDefaults => ({
  lookupOrder: dns().getDefaultResultOrder(),
  autoSelectFamily: net().getDefaultAutoSelectFamily(),
  autoSelectFamilyTimeout: net().getDefaultAutoSelectFamilyAttemptTimeout(),
  tls: secure ? readTls(tls()) : undefined
})

const readTls = (tls: typeof Tls): TlsDefaults => ({
  DEFAULT_MIN_VERSION: tls.DEFAULT_MIN_VERSION,
  DEFAULT_MAX_VERSION: tls.DEFAULT_MAX_VERSION,
  DEFAULT_CIPHERS: tls.DEFAULT_CIPHERS,
  DEFAULT_ECDH_CURVE: tls.DEFAULT_ECDH_CURVE,
  authorities: "setDefaultCACertificates" in tls ? tls.getCACertificates("default") : undefined
})

/** Makes them those of this thread. */
export const apply = (defaults: NetworkDefaults): void => {
  dns().setDefaultResultOrder(defaults.lookupOrder)
  net().setDefaultAutoSelectFamily(defaults.autoSelectFamily)
  net().setDefaultAutoSelectFamilyAttemptTimeout(defaults.autoSelectFamilyTimeout)
  if (defaults.tls === undefined) return
  const { authorities, ...versions } = defaults.tls
  Object.assign(tls(), versions)
  // To set them takes longer than to compare them.
  if (authorities !== undefined && !isSame(authorities, tls().getCACertificates("default"))) {
    tls().setDefaultCACertificates(authorities)
  }
}

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((one, i) => one === others[i])

/**
 * What can only be said to Node as it starts, and to a worker too. Node refuses a worker with flags of the process or of
 * V8, which it has anyway; others are about the program, not about connections.
 */
const flag =
  /^--(?:(?:no-)?use-system-ca|trace-tls|no-warnings|(tls-keylog|max-http-header-size|disable-warning))(?:(=)|$)/

/** Those flags among the ones that this thread was started with. A worker reads `NODE_OPTIONS` itself. */
export const flagsFrom = (execArgv: ReadonlyArray<string>): Array<string> => {
  const flags: Array<string> = []
  for (let i = 0; i < execArgv.length; i++) {
    const given = execArgv[i]!
    const match = flag.exec(given.replaceAll("_", "-"))
    if (match === null) continue
    flags.push(given)
    // Its value may be the next one.
    if (match[1] !== undefined && match[2] === undefined && i + 1 < execArgv.length) flags.push(execArgv[++i]!)
  }
  return flags
}
