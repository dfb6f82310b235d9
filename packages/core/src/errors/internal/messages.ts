/** The detail that a service or the system gave, in parentheses. */
export const saidOf = ({ detail }: { readonly detail?: string | undefined }): string =>
  detail === undefined ? "" : ` (${detail.replace(/\.$/, "")})`
