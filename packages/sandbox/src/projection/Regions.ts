/** The regions of trends by WOEID: the world, and the origins of seeded posts. */

/** A region; the world if empty. */
export interface Region {
  readonly country?: string
  readonly city?: string
}

const country = (name: string, woeid: number, city: string, cityWoeid: number) =>
  [[woeid, { country: name }], [cityWoeid, { country: name, city }]] as const

const regions: ReadonlyMap<number, Region> = new Map<number, Region>([
  [1, {}],
  ...country("Portugal", 23424925, "Lisbon", 742676),
  ...country("Germany", 23424829, "Berlin", 638242),
  ...country("Japan", 23424856, "Kyoto", 15015372),
  ...country("Spain", 23424950, "Valencia", 776688),
  ...country("France", 23424819, "Lyon", 609125),
  ...country("Brazil", 23424768, "São Paulo", 455827),
  ...country("Canada", 23424775, "Toronto", 4118),
  ...country("Kenya", 23424863, "Nairobi", 1528488),
  ...country("Norway", 23424910, "Oslo", 862592),
  ...country("New Zealand", 23424916, "Wellington", 2351310)
])

export const byWoeid = (woeid: number): Region | undefined => regions.get(woeid)
