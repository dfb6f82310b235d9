/**
 * The network defaults of Node. A worker starts with Node's own, whatever the program was started with or has set since; it must
 * accept and reach the same servers as the caller's thread.
 */
import type Tls from "node:tls"

/** The defaults that a program can set at any time. */
export interface NetworkDefaults {
  readonly lookupOrder: "ipv4first" | "ipv6first" | "verbatim"
  readonly autoSelectFamily: boolean
  /** In milliseconds. */
  readonly autoSelectFamilyTimeout: number
  /** Only for `https:`, since reading them takes time. */
  readonly tls: TlsDefaults | undefined
}

interface TlsDefaults
  extends Pick<typeof Tls, "DEFAULT_MIN_VERSION" | "DEFAULT_MAX_VERSION" | "DEFAULT_CIPHERS" | "DEFAULT_ECDH_CURVE">
{
  /** The trusted authorities; `undefined` if this version of Node cannot set them. */
  readonly authorities: ReadonlyArray<string> | undefined
}

// Loaded when needed: the caller's side has no other use for them.
const dns = () => process.getBuiltinModule("node:dns")
const net = () => process.getBuiltinModule("node:net")
const tls = () => process.getBuiltinModule("node:tls")

/** Reads the defaults of this thread. */
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

/** Sets the defaults of this thread. */
export const apply = (defaults: NetworkDefaults): void => {
  dns().setDefaultResultOrder(defaults.lookupOrder)
  net().setDefaultAutoSelectFamily(defaults.autoSelectFamily)
  net().setDefaultAutoSelectFamilyAttemptTimeout(defaults.autoSelectFamilyTimeout)
  if (defaults.tls === undefined) return
  const { authorities, ...versions } = defaults.tls
  Object.assign(tls(), versions)
  // Comparing them is faster than setting them.
  if (authorities !== undefined && !isSame(authorities, tls().getCACertificates("default"))) {
    tls().setDefaultCACertificates(authorities)
  }
}

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((one, i) => one === others[i])

/**
 * The flags that Node accepts only at start, and that a worker needs. Node rejects a worker with flags of the process or of V8,
 * which apply to it anyway; the other flags do not affect connections.
 */
const flag =
  /^--(?:(?:no-)?use-system-ca|trace-tls|no-warnings|(tls-keylog|max-http-header-size|disable-warning))(?:(=)|$)/

/** Selects those flags among the flags that this thread was started with. A worker reads `NODE_OPTIONS` itself. */
export const flagsFrom = (execArgv: ReadonlyArray<string>): Array<string> => {
  const flags: Array<string> = []
  for (let i = 0; i < execArgv.length; i++) {
    const given = execArgv[i]!
    const match = flag.exec(given.replaceAll("_", "-"))
    if (match === null) continue
    flags.push(given)
    // Its value may be the next argument.
    if (match[1] !== undefined && match[2] === undefined && i + 1 < execArgv.length) flags.push(execArgv[++i]!)
  }
  return flags
}
