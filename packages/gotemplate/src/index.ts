/** Go's text/template. See README.md. */
export { DataError, ExecError, LimitError, ParseError, TemplateError } from './errors.ts';
export { DEFAULT_LIMITS, type Limits } from './limits.ts';
export { ELEMENT, type Reference, references } from './references.ts';
export type { MissingKey } from './exec/definition.ts';
export { HEALTH_EVENT, TEMPLATE_DATA, templateDataWith } from './nvsentinel.ts';
export { parse, Template, type TemplateOptions } from './template.ts';
export { Float, toGo } from './types/convert.ts';
export { DURATION } from './types/duration.ts';
export { TIME, timeFromUnix, timeValue } from './types/time.ts';
export {
  ANY,
  BOOL,
  FLOAT64,
  type GoType,
  INT,
  INT32,
  INT64,
  type Kind,
  mapOf,
  type Method,
  namedType,
  pointerTo,
  sliceOf,
  STRING,
  structType,
  UINT32,
  UINT64,
  UINT8,
} from './types/type.ts';
export { type UnknownField, unknownFields } from './unknown-fields.ts';
export { asInteger, asString, fieldOf, stringValue, Value } from './types/value.ts';
