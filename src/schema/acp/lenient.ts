/**
 * Fields of what agents send us. A field that is missing, `null` or of an unexpected shape never costs the message around it:
 * it counts as not given. What came is still in the raw frame.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** A field that is left out unless it has the expected shape. */
export const maybe = <S extends Schema.Constraint>(schema: S) =>
  Schema.catchDecoding<Schema.optionalKey<S>>(() => Effect.succeed(Option.none()))(Schema.optionalKey(schema))

/** A field that is a struct in any case: what is no object is an empty one. */
export const record = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.optionalKey(Schema.Unknown).pipe(
    Schema.decodeTo(Schema.Struct(fields), {
      decode: SchemaGetter.compose(
        SchemaGetter.transformOptional((input: Option.Option<unknown>) =>
          Option.orElse(Option.filter(input, isObject), () => Option.some({}))
        ),
        SchemaGetter.passthrough({ strict: false })
      ),
      encode: SchemaGetter.passthrough({ strict: false })
    })
  )

/** The items that have the expected shape, in their order; none when it is no list. */
export const list = <S extends Schema.ConstraintDecoder<unknown>>(item: S) => {
  const decode = Schema.decodeUnknownOption(item)
  return Schema.optionalKey(Schema.Unknown).pipe(
    Schema.decodeTo(Schema.Array(Schema.toType(item)), {
      decode: SchemaGetter.transformOptional((input) =>
        Option.some(
          Option.isSome(input) && Array.isArray(input.value)
            ? input.value.flatMap((value) => Option.toArray(decode(value)))
            : []
        )
      ),
      encode: SchemaGetter.passthrough({ strict: false })
    })
  )
}

const yes = (says: (value: unknown) => boolean) =>
  Schema.optionalKey(Schema.Unknown).pipe(
    Schema.decodeTo(Schema.Boolean, {
      decode: SchemaGetter.transformOptional((input) => Option.some(Option.isSome(input) && says(input.value))),
      encode: SchemaGetter.passthrough({ strict: false })
    })
  )

/** A capability that is `true` when it is there. */
export const flag = yes((value) => value === true)

/** A capability that is an object when it is there, whatever is in it. Some agents say `true`. */
export const marker = yes((value) => value === true || isObject(value))

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)
