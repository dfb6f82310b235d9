import { assert, describe, it } from "@effect/vitest"
import * as AttemptFailure from "../src/client/AttemptFailure.ts"

const nothing: AttemptFailure.Signs = { code: "", sent: undefined, phase: undefined, isTimedOut: false }

/** Signs by the cause that they show, and what follows. */
const rows: {
  readonly [N in keyof typeof AttemptFailure.causes]: ReadonlyArray<
    readonly [Partial<AttemptFailure.Signs>, AttemptFailure.Loss]
  >
} = {
  "reported as sent by the transport": [
    [{ sent: true, phase: "headers", code: "ECONNRESET" }, { phase: "headers", sent: true, isFinal: false }],
    [{ sent: true, code: "ECONNREFUSED" }, { phase: "unknown", sent: true, isFinal: false }],
    [{ sent: true, phase: "body", code: "ERR_SSL_BAD_RECORD_TYPE" }, { phase: "body", sent: true, isFinal: false }],
    [{ sent: true, code: "CERT_HAS_EXPIRED" }, { phase: "unknown", sent: true, isFinal: false }],
    [{ sent: true, phase: "connect", isTimedOut: true }, { phase: "connect", sent: true, isFinal: false }]
  ],
  "refused in the handshake": [
    [{ sent: false, phase: "connect", code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, {
      phase: "tls",
      sent: false,
      isFinal: true
    }],
    [{ sent: false, code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" }, { phase: "tls", sent: false, isFinal: true }],
    [{ sent: false, code: "EPROTO" }, { phase: "tls", sent: false, isFinal: true }]
  ],
  "reported as unsent by the transport": [
    [{ sent: false, phase: "send", code: "ECONNRESET" }, { phase: "send", sent: false, isFinal: false }],
    [{ sent: false }, { phase: "connect", sent: false, isFinal: false }]
  ],
  "an untrusted certificate": [
    [{ code: "ERR_TLS_CERT_ALTNAME_INVALID" }, { phase: "tls", sent: false, isFinal: true }],
    [{ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }, { phase: "tls", sent: false, isFinal: true }],
    [{ code: "CERT_HAS_EXPIRED" }, { phase: "tls", sent: false, isFinal: true }]
  ],
  "TLS, before or after sending": [
    [{ code: "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC" }, { phase: "tls", sent: true, isFinal: true }],
    [{ code: "EPROTO" }, { phase: "tls", sent: true, isFinal: true }],
    [{ code: "ERR_TLS_HANDSHAKE_TIMEOUT" }, { phase: "tls", sent: true, isFinal: true }]
  ],
  "timed out while connecting": [[{ phase: "connect", isTimedOut: true }, {
    phase: "connect",
    sent: false,
    isFinal: false
  }]],
  "timed out later": [
    [{ phase: "headers", isTimedOut: true }, { phase: "headers", sent: true, isFinal: false }],
    [{ phase: "body", isTimedOut: true }, { phase: "body", sent: true, isFinal: false }]
  ],
  "no connection": [
    [{ code: "ECONNREFUSED" }, { phase: "connect", sent: false, isFinal: false }],
    [{ code: "EAI_AGAIN" }, { phase: "connect", sent: false, isFinal: false }],
    [{ code: "UND_ERR_CONNECT_TIMEOUT" }, { phase: "connect", sent: false, isFinal: false }]
  ],
  "anything else": [
    [{}, { phase: "unknown", sent: true, isFinal: false }],
    [{ code: "ECONNRESET" }, { phase: "unknown", sent: true, isFinal: false }],
    [{ code: "ECONNRESET", phase: "send" }, { phase: "send", sent: true, isFinal: false }],
    [{ code: "XECONNREFUSED" }, { phase: "unknown", sent: true, isFinal: false }]
  ]
}

describe("the cause of a request without an answer", () => {
  for (const [name, examples] of Object.entries(rows)) {
    it(name, () => {
      for (const [signs, loss] of examples) {
        const of = { ...nothing, ...signs }
        assert.strictEqual(
          Object.entries<{ when: (signs: AttemptFailure.Signs) => boolean }>(AttemptFailure.causes).find((
            [, { when }]
          ) => when(of))
            ?.[0],
          name
        )
        assert.deepStrictEqual(AttemptFailure.lossOf(of), loss)
      }
    })
  }
})

describe("messageOf", () => {
  it("is the reason of OpenSSL without the place in its sources", () => {
    const message =
      "write EPROTO 807C451EFA7F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../ssl3_record.c:350:\n"
    assert.strictEqual(AttemptFailure.messageOf({ message }), "write EPROTO wrong version number")
    assert.strictEqual(AttemptFailure.messageOf({ message: "read ECONNRESET" }), "read ECONNRESET")
  })
})
