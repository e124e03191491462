/** Whether statements allow a request. Nothing is allowed that no statement allows. */
import { CONDITION_OPERATORS, type ConditionOperator, type Statement } from './statements.ts';

/** What one call asks for; a call on several resources asks several times. */
export interface AccessRequest {
  /** `dynamodb:PutItem`. */
  readonly action: string;
  /** ARN. */
  readonly resource: string;
  /** Condition keys and their values. A key that the request does not have is absent. */
  readonly context: Readonly<Record<string, readonly string[]>>;
}

/** Actions are compared in any case and without wildcards, resources with `*` and `?`; every condition must hold. */
export function isAllowed(statements: readonly Statement[], request: AccessRequest): boolean {
  return statements.some(
    ({ Action, Resource, Condition }) =>
      Action.some(action => action.toLowerCase() === request.action.toLowerCase()) &&
      Resource.some(pattern => isLike(request.resource, pattern)) &&
      CONDITION_OPERATORS.every(operator => holds(operator, Condition[operator] ?? {}, request)),
  );
}

/** All keys of an operator must match, each by one of its values. */
function holds(
  operator: ConditionOperator,
  keys: Readonly<Record<string, readonly string[]>>,
  { context }: AccessRequest,
): boolean {
  const matches = operator.endsWith('StringLike') ? isLike : (value: string, wanted: string) => value === wanted;
  return Object.entries(keys).every(([key, wanted]) => {
    const values = context[key] ?? [];
    if (operator === 'Null') return wanted.includes(String(values.length === 0));
    // With `ForAllValues` a key without values holds; without it, it does not.
    if (!operator.startsWith('ForAllValues:') && values.length !== 1) return false;
    return values.every(value => wanted.some(each => matches(value, each)));
  });
}

/** `*` is any text, `?` any one character. */
export function isLike(text: string, pattern: string): boolean {
  const known = patterns.get(pattern);
  if (known !== undefined) return known.test(text);
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const made = new RegExp(`^${source}$`, 's');
  patterns.set(pattern, made);
  return made.test(text);
}

/** Of the statements of a template: a few dozen, asked with every call. */
const patterns = new Map<string, RegExp>();
