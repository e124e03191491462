/** What a message of the API server or of a reader does not say: what to write instead. */
import { suggestion } from '../../shared/domain/nearest-name.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { fieldsAt, schemaAt } from '../../simulator/scenario/object-fields.ts';
import type { Path } from '../../simulator/scenario/places.ts';

export const UNKNOWN_FIELD = 'unknown field';

const NO_DURATION = /^time: (unknown unit|missing unit|invalid duration)/;
const NO_TEXT = /must be of type string: "(integer|number)"$/;
/** What has numbers with units and is none is too long for 64 bits of nanoseconds. */
const TOO_LONG = /^time: invalid duration "[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+"/;
const LONGEST_HINT = ': the longest is 2562047h, 292 years';
const DURATION_HINT = ': a duration has units of h, m and s, as in 24h, 10m or 1h30m';

/** @param schema the OpenAPI schema of the whole object */
export function withHint(path: Path, message: string, schema: JsonObject): string {
  if (message === UNKNOWN_FIELD) {
    const known = fieldsAt(path.slice(0, -1), schema);
    const meant = suggestion(String(path.at(-1)), known);
    return `${message}${meant || (known.length === 0 ? '' : `; there are ${known.join(', ')}`)}`;
  }
  if (TOO_LONG.test(message)) return `${message}${LONGEST_HINT}`;
  const isNumber = NO_TEXT.test(message) && JSON.stringify(schemaAt(path, schema)).includes('Go duration');
  return NO_DURATION.test(message) || isNumber ? `${message}${DURATION_HINT}` : message;
}
