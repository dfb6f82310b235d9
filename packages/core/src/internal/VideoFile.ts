/** What the headers of MP4 and QuickTime videos say. */

/** What is known of a video. */
export interface Film {
  /** Pixels, as it is shown. */
  readonly width?: number | undefined
  /** Pixels, as it is shown. */
  readonly height?: number | undefined
  readonly durationMillis?: number | undefined
  /** Frames per second, on average. */
  readonly frameRate?: number | undefined
  /** As RFC 6381 writes it: `avc1.64001f`. */
  readonly videoCodec?: string | undefined
  /** How colours are sampled: `4:2:0`. */
  readonly chroma?: string | undefined
  /** As RFC 6381 writes it: `mp4a.40.2` is AAC LC. */
  readonly audioCodec?: string | undefined
  readonly audioChannels?: number | undefined
}
