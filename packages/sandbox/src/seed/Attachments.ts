/** Seeds media, polls and the places of posts. */
import type { State } from "../store/Store.ts"
import type { Random } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"
import type { Account } from "./Accounts.ts"

/** Inserts a medium; returns its key. */
export const insertMedia = (store: State, owner: Account, createdAt: number, random: Random): string => {
  const type = random.weighted(
    [
      { type: "photo", share: 0.8 },
      { type: "video", share: 0.15 },
      { type: "animated_gif", share: 0.05 }
    ] as const
  ).type
  const name = `https://media.sandbox.invalid/${random.text(12)}`
  const size = { width: 1200, height: random.pick([675, 800, 1200]) }
  const id = store.attachments.insertMedia({
    ownerId: owner.id,
    type,
    createdAt,
    facts: type === "photo"
      ? { ...size, url: `${name}.jpg`, ...(random.chance(0.4) && { alt_text: random.pick(Vocabulary.tags) }) }
      : {
        ...size,
        preview_image_url: `${name}.jpg`,
        variants: [{ bit_rate: 832_000, content_type: "video/mp4", url: `${name}.mp4` }],
        ...(type === "video" &&
          { duration_ms: 1000 + random.below(120_000), public_metrics: { view_count: random.below(5000) } })
      }
  })
  return store.attachments.mediaKeys([id])[0]!
}

/** Inserts a poll; returns its id. */
export const insertPoll = (store: State, createdAt: number, random: Random): string => {
  const options = random.pick([["Yes", "No"], ["Tabs", "Spaces", "Both"], ["Now", "Later", "Never", "Show me"]])
  return store.attachments.insertPoll({
    options,
    votes: options.map(() => random.below(120)),
    durationMinutes: random.pick([60, 1440, 4320, 10080]),
    createdAt
  })
}

export const insertPlaces = (store: State): void => {
  for (const [i, [name, country, country_code, ...bbox]] of Vocabulary.places.entries()) {
    store.attachments.insertPlace({
      id: placeId(i),
      full_name: `${name}, ${country}`,
      name,
      country,
      country_code,
      place_type: "city",
      geo: { type: "Feature", bbox, properties: {} }
    })
  }
}

/** The id of a place by its index. */
export const placeId = (i: number): string => (0x5e1f00d0 + i * 0x01000193 >>> 0).toString(16).padStart(16, "0")
