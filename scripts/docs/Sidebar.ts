/** The list of pages, in the order in which they are needed. */
const guides: ReadonlyArray<{ readonly label: string; readonly ids: ReadonlyArray<string> }> = [
  { label: "The client", ids: ["client", "rate-limits", "undeclared"] },
  { label: "Exports", ids: ["export", "cluster"] },
  { label: "Testing", ids: ["sandbox", "console"] },
  { label: "Tools", ids: ["cli", "drift", "bench"] },
  { label: "Project", ids: ["CONTRIBUTING"] }
]

/** A heading of the list with its pages. */
export interface Group {
  readonly label: string
  readonly ids: ReadonlyArray<string>
  readonly collapsed: boolean
}

/** The list for the pages that there are. Throws where a page is in no group. */
export const groups = (ids: ReadonlyArray<string>): ReadonlyArray<Group> => {
  const below = (folder: string) => ids.filter((id) => id.startsWith(`${folder}/`)).sort()
  const all = [
    ...guides.map((group) => ({ ...group, collapsed: false })),
    { label: "Reference", ids: ["reference", ...below("reference")], collapsed: true },
    { label: "Decisions", ids: ["adr", ...below("adr")], collapsed: true }
  ]
  const listed = all.flatMap(({ ids }) => ids)
  const missing = ids.filter((id) => id !== "index" && !listed.includes(id))
  if (missing.length > 0) throw new Error(`Not in Sidebar.ts: ${missing.join(", ")}`)
  return all
}
