/** The return type of a client. It is apart from the client, and from all operations, for the thread that has none of them. */
import * as Effect from "effect/Effect"
import { InvalidSettings } from "../errors/Errors.ts"
import type { Form } from "../schema/Definition.ts"

const forms: ReadonlyArray<Form> = ["response", "dictionary", "raw"]

/** Checks a return type. */
export const checkForm = (form: Form): Effect.Effect<void, InvalidSettings> =>
  forms.includes(form)
    ? Effect.void
    : Effect.fail(new InvalidSettings({ setting: "returnType", rule: `must be one of ${forms.join(", ")}` }))

/** The return type of settings. If they have none, F is its default. */
export const formOf = <F extends Form>({ returnType }: { readonly returnType?: F | undefined }): F =>
  returnType ?? "response" as F

/** The default return type needs no setting; any other must be set as a value, not only as a type. */
export type Chosen<F extends Form> = "response" extends F ? unknown : { readonly returnType: NoInfer<F> }
