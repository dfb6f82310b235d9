/** The events of compliance and label streams. Each has exactly one member, which names the event. */
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

/** An event about a post that an app may have stored. */
export const PostComplianceEvent = /*#__PURE__*/ Schema.Struct({
  /** It was deleted. */
  delete: /*#__PURE__*/ Schema.optionalKey(ofPost),
  /** It is withheld in some countries; an empty list means that it no longer is. */
  withheld: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ ...ofPost.fields, withheld_in_countries: countries })
  ),
  /** It must not be shown for now. */
  drop: /*#__PURE__*/ Schema.optionalKey(ofPost),
  /** It may be shown again. */
  undrop: /*#__PURE__*/ Schema.optionalKey(ofPost),
  /** It was edited: another post has replaced it. */
  post_edit: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({
      post: /*#__PURE__*/ Schema.Struct({ id: Schema.String }),
      event_at: Schema.String,
      initial_post_id: Schema.String,
      edit_post_ids: /*#__PURE__*/ Schema.Array(Schema.String)
    })
  )
})
/** An event about a post that an app may have stored, named by its only member. */
export interface PostComplianceEvent extends Schema.Schema.Type<typeof PostComplianceEvent> {}

const ofUser = /*#__PURE__*/ Schema.Struct({
  user: /*#__PURE__*/ Schema.Struct({ id: Schema.String }),
  event_at: Schema.String
})

/** An event about a user whose data an app may have stored. */
export const UserComplianceEvent = /*#__PURE__*/ Schema.Struct({
  /** Their posts are for followers only. */
  user_protect: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_unprotect: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_delete: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_undelete: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_suspend: /*#__PURE__*/ Schema.optionalKey(ofUser),
  user_unsuspend: /*#__PURE__*/ Schema.optionalKey(ofUser),
  /** They are withheld in some countries; an empty list means that they no longer are. */
  user_withheld: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ ...ofUser.fields, withheld_in_countries: countries })
  ),
  /** Locations must be removed from their posts up to one. */
  scrub_geo: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ ...ofUser.fields, up_to_post_id: Schema.String })
  ),
  user_profile_modification: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ ...ofUser.fields, profile_field: Schema.String, new_value: Schema.String })
  )
})
/** An event about a user whose data an app may have stored, named by its only member. */
export interface UserComplianceEvent extends Schema.Schema.Type<typeof UserComplianceEvent> {}

/** An event about a like that an app may have stored. */
export const LikeComplianceEvent = /*#__PURE__*/ Schema.Struct({
  /** It was removed. */
  delete: /*#__PURE__*/ Schema.Struct({
    /** `id` is the id of the post. */
    favorite: /*#__PURE__*/ Schema.Struct({ id: Schema.String, user_id: Schema.String }),
    event_at: Schema.String
  })
})
/** An event about a like that an app may have stored. */
export interface LikeComplianceEvent extends Schema.Schema.Type<typeof LikeComplianceEvent> {}

const label = /*#__PURE__*/ Schema.Struct({
  post,
  event_at: Schema.String,
  /** The kind of label, such as `misleading`. */
  event_type: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  /** `apply` or `remove`. */
  application: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

/** A label that was added to a post or removed from it. */
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
/** A label that was added to a post or removed from it, named by its only member. */
export interface PostLabelEvent extends Schema.Schema.Type<typeof PostLabelEvent> {}
