/** What the headers of images say. */

/** What is known of an image. */
export interface Picture {
  /** Pixels. */
  readonly width?: number | undefined
  /** Pixels. */
  readonly height?: number | undefined
  /** How many frames a GIF, an animated PNG or an animated WEBP has. */
  readonly frames?: number | undefined
}
