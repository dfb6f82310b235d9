/** Seeds the places of posts. */
import type { State } from "../store/Store.ts"
import * as Vocabulary from "../text/vocabulary.ts"

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
