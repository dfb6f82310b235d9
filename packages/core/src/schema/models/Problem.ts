import * as Schema from "effect/Schema"

/**
 * One problem as the service describes it (a member of `errors`, or the document itself). Any member may be missing;
 * unknown ones, such as `parameters`, `reason` or `period`, are kept.
 */
export const Problem = /*#__PURE__*/ Schema.Struct({
  type: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  title: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  detail: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  status: /*#__PURE__*/ Schema.optionalKey(Schema.Finite),
  message: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  parameter: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  value: /*#__PURE__*/ Schema.optionalKey(Schema.Any),
  resource_type: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  resource_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  section: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  field: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

/** One problem as the service describes it. */
export interface Problem extends Schema.Struct.Type<typeof Problem.fields> {
  readonly [member: string]: unknown
}

/** The problems of posts that the service omits without an error. */
export const ofOmitted = (
  ids: ReadonlyArray<string>,
  posts: ReadonlyArray<{ readonly id: string }>,
  errors: ReadonlyArray<Problem>
): ReadonlyArray<Problem> => {
  const known = new Set([...posts.map(({ id }) => id), ...errors.flatMap((error) => [error.resource_id, error.value])])
  return ids.filter((id) => !known.has(id)).map((id) => ({
    title: "Missing",
    detail: `The service does not show post ${id}, and does not say why.`,
    resource_type: "post",
    resource_id: id
  }))
}
