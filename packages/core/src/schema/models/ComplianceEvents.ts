/** What streams of compliance and of labels bring. Each has one member, which tells what happened. */
import * as Schema from "effect/Schema"

const post = /*#__PURE__*/ Schema.Struct({
  id: Schema.String,
  author_id: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

const ofPost = /*#__PURE__*/ Schema.Struct({
  post,
  event_at: Schema.String,
  /** The post that it quotes. */
  quote_post_id: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

const countries = /*#__PURE__*/ Schema.Array(Schema.String)

/** What happened to a post that an app may have stored. */
export const PostComplianceEvent = /*#__PURE__*/ Schema.Struct({
  /** It was deleted. */
  delete: /*#__PURE__*/ Schema.optionalKey(ofPost),
  /** It is withheld in countries, none where it no longer is. */
  withheld: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ ...ofPost.fields, withheld_in_countries: countries })
  ),
  /** It is not to be shown for now. */
  drop: /*#__PURE__*/ Schema.optionalKey(ofPost),
  /** It may be shown again. */
  undrop: /*#__PURE__*/ Schema.optionalKey(ofPost),
  /** It was edited: another post has taken its place. */
  post_edit: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({
      post: /*#__PURE__*/ Schema.Struct({ id: Schema.String }),
      event_at: Schema.String,
      initial_post_id: Schema.String,
      edit_post_ids: /*#__PURE__*/ Schema.Array(Schema.String)
    })
  )
})
/** What happened to a post that an app may have stored: the one member that is there says it. */
export interface PostComplianceEvent extends Schema.Schema.Type<typeof PostComplianceEvent> {}

const ofUser = /*#__PURE__*/ Schema.Struct({
  user: /*#__PURE__*/ Schema.Struct({ id: Schema.String }),
  event_at: Schema.String
})

/** What happened to a user of whom an app may have stored something. */
export const UserComplianceEvent = /*#__PURE__*/ Schema.Struct({
  /** Their posts are for followers only. */
  user_protect: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_unprotect: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_delete: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_undelete: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_suspend: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_unsuspend: /*#__PURE__*/ Schema.optionalKey(ofUser),
  /** They are withheld in countries, none where they no longer are. */
  user_withheld: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ ...ofUser.fields, withheld_in_countries: countries })
  ),
  /** Places are to be taken out of their posts up to one. */
  scrub_geo: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ ...ofUser.fields, up_to_post_id: Schema.String })
  ),
  user_profile_modification: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ ...ofUser.fields, profile_field: Schema.String, new_value: Schema.String })
  )
})
/** What happened to a user of whom an app may have stored something: the one member that is there says it. */
export interface UserComplianceEvent extends Schema.Schema.Type<typeof UserComplianceEvent> {}

/** What happened to a like that an app may have stored. */
export const LikeComplianceEvent = /*#__PURE__*/ Schema.Struct({
  /** It was taken back. */
  delete: /*#__PURE__*/ Schema.Struct({
    /** `id` is that of the post. */
    favorite: /*#__PURE__*/ Schema.Struct({ id: Schema.String, user_id: Schema.String }),
    event_at: Schema.String
  })
})
/** What happened to a like that an app may have stored. */
export interface LikeComplianceEvent extends Schema.Schema.Type<typeof LikeComplianceEvent> {}

const label = /*#__PURE__*/ Schema.Struct({
  post,
  event_at: Schema.String,
  /** The kind of label, such as `misleading`. */
  event_type: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  /** `apply` or `remove`. */
  application: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

/** A label that a post was given, or that was taken off it. */
export const PostLabelEvent = /*#__PURE__*/ Schema.Struct({
  /** A notice beside the post. */
  public_post_notice: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({
      ...label.fields,
      details: /*#__PURE__*/ Schema.optionalKey(Schema.String),
      extended_details_url: /*#__PURE__*/ Schema.optionalKey(Schema.String),
      label_title: /*#__PURE__*/ Schema.optionalKey(Schema.String)
    })
  ),
  /** The post is not shown. */
  public_post_unviewable: /*#__PURE__*/ Schema.optionalKey(label)
})
/** A label that a post was given, or that was taken off it: the one member that is there says which. */
export interface PostLabelEvent extends Schema.Schema.Type<typeof PostLabelEvent> {}
