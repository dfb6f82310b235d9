/** HMAC-SHA1 (RFC 2104, FIPS 180-4) of UTF-8 texts, as base64: synchronous, and without a platform. */
export const hmacSha1 = (key: string, message: string): string => {
  const secret = encoder.encode(key)
  const block = secret.length > 64 ? sha1(secret) : secret
  const inner = sha1(padded(block, 0x36, encoder.encode(message)))
  return btoa(String.fromCharCode(...sha1(padded(block, 0x5c, inner))))
}

const encoder = new TextEncoder()

const padded = (key: Uint8Array, pad: number, message: Uint8Array): Uint8Array => {
  const out = new Uint8Array(64 + message.length)
  for (let i = 0; i < 64; i++) out[i] = i < key.length ? key[i]! ^ pad : pad
  out.set(message, 64)
  return out
}

const sha1 = (message: Uint8Array): Uint8Array => {
  const size = (message.length + 72) >> 6 << 4
  const words = new Int32Array(size)
  for (let i = 0; i < message.length; i++) words[i >> 2]! |= message[i]! << (24 - (i & 3) * 8)
  words[message.length >> 2]! |= 0x80 << (24 - (message.length & 3) * 8)
  // The length in bits has 64 bits: the upper half counts from 512 MiB on.
  words[size - 2] = message.length / 0x20000000
  words[size - 1] = message.length << 3

  const w = new Int32Array(80)
  let h0 = 0x67452301
  let h1 = 0xefcdab89 | 0
  let h2 = 0x98badcfe | 0
  let h3 = 0x10325476
  let h4 = 0xc3d2e1f0 | 0
  for (let offset = 0; offset < size; offset += 16) {
    let [a, b, c, d, e] = [h0, h1, h2, h3, h4]
    for (let i = 0; i < 80; i++) {
      w[i] = i < 16 ? words[offset + i]! : rotate(w[i - 3]! ^ w[i - 8]! ^ w[i - 14]! ^ w[i - 16]!, 1)
      const mixed = i < 20
        ? (b & c | ~b & d) + 0x5a827999
        : i < 40
        ? (b ^ c ^ d) + 0x6ed9eba1
        : i < 60
        ? (b & c | b & d | c & d) + 0x8f1bbcdc
        : (b ^ c ^ d) + 0xca62c1d6
      const next = rotate(a, 5) + mixed + e + w[i]! | 0
      e = d
      d = c
      c = rotate(b, 30)
      b = a
      a = next
    }
    h0 = h0 + a | 0
    h1 = h1 + b | 0
    h2 = h2 + c | 0
    h3 = h3 + d | 0
    h4 = h4 + e | 0
  }

  const digest = new DataView(new ArrayBuffer(20))
  for (const [i, word] of [h0, h1, h2, h3, h4].entries()) digest.setInt32(i * 4, word)
  return new Uint8Array(digest.buffer)
}

const rotate = (word: number, by: number): number => word << by | word >>> (32 - by)
