/** Reads raw JSON for the checks; written apart from `shared/domain`, so that a mistake there is not repeated here. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';

/** The annotation of a NodeClaim that makes its termination forceful from that instant on. */
export const TERMINATION_TIMESTAMP = 'karpenter.sh/nodeclaim-termination-timestamp';

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** What stands under `path`. */
export function dig(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((current, key) => fieldsOf(current)[key], value);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 3.6e6,
};

/** Milliseconds of a plain Go duration such as `1h30m` or `-2.5s`; undefined for anything else. */
export function millisecondsOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  if (/^[+-]?0$/.test(text)) return 0;
  if (!/^[+-]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const { 1: amount = '', 2: unit = '' } of text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(amount) * (UNIT_MS[unit] ?? 0);
  }
  // Go's durations end at 2^63 - 1 ns, which a double cannot tell from 2^63.
  if (total > 2 ** 63 / 1e6) return undefined;
  return text.startsWith('-') ? -total : total;
}

/** Epoch milliseconds of RFC 3339 text; undefined for anything else. */
export function instantOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text))
    return undefined;
  const ms = Date.parse(text.toUpperCase());
  return Number.isNaN(ms) ? undefined : ms;
}

export const annotationOf = (object: KubernetesObject, key: string): string | undefined =>
  object.metadata.annotations?.[key];

export const labelOf = (object: KubernetesObject, key: string): string | undefined => object.metadata.labels?.[key];

export function nameOf({ kind, metadata }: Pick<KubernetesObject, 'kind' | 'metadata'>): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name} (uid ${metadata.uid})`;
}

/** Whether a label selector in JSON selects the labels; an operator that is not known selects nothing. */
export function isSelected(selector: unknown, labels: Readonly<Record<string, string>> = {}): boolean {
  for (const [key, value] of Object.entries(fieldsOf(dig(selector, 'matchLabels')))) {
    if (labels[key] !== value) return false;
  }
  for (const expression of listOf(dig(selector, 'matchExpressions'))) {
    const { key, operator, values } = fieldsOf(expression);
    const value = labels[String(key)];
    const isListed = value !== undefined && listOf(values).includes(value);
    if (
      operator === 'In'
        ? !isListed
        : operator === 'NotIn'
          ? isListed
          : operator === 'Exists'
            ? value === undefined
            : operator === 'DoesNotExist'
              ? value !== undefined
              : true
    ) {
      return false;
    }
  }
  return true;
}

/** Whether a value is as it must be. */
export type IsReadable = (value: unknown) => boolean;

export const isOneOf =
  (...values: readonly unknown[]): IsReadable =>
  value =>
    values.includes(value);

export const isText: IsReadable = value => textOf(value) !== undefined;

/** An object with no other fields than these, and at least the `required` ones. */
export const isObjectOf =
  (fields: Readonly<Record<string, IsReadable>>, required: readonly string[] = []): IsReadable =>
  value =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    required.every(name => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, each]) => Object.hasOwn(fields, name) && fields[name]?.(each) === true);

export const isListOf =
  (isEntry: IsReadable, longest: number): IsReadable =>
  value =>
    Array.isArray(value) && value.length <= longest && value.every(isEntry);

const isLabels: IsReadable = value =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length <= 64 &&
  Object.values(value).every(each => typeof each === 'string');

const isExpression: IsReadable = value => {
  const isShaped = isObjectOf(
    {
      key: isText,
      operator: isOneOf('In', 'NotIn', 'Exists', 'DoesNotExist'),
      values: isListOf(each => typeof each === 'string', 256),
    },
    ['key', 'operator'],
  );
  const isListed = isOneOf('In', 'NotIn')(dig(value, 'operator'));
  return isShaped(value) && isListed === listOf(dig(value, 'values')).length > 0;
};

const isSelector = isObjectOf({ matchLabels: isLabels, matchExpressions: isListOf(isExpression, 64) });

/** Whether everything in a selector is as it must be. */
export const isSelectorReadable: IsReadable = selector => selector === undefined || isSelector(selector);

/** Number of requirements of a selector. */
export function requirementsOf(selector: unknown): number {
  return Object.keys(fieldsOf(dig(selector, 'matchLabels'))).length + listOf(dig(selector, 'matchExpressions')).length;
}

const isFrame = isObjectOf({
  nodePoolSelector: isSelector,
  mode: isOneOf('Enforce', 'Observe'),
  repair: () => true,
  protection: () => true,
  termination: () => true,
});

/** Whether what stands beside the blocks of a policy can be read: no other fields, a selector and a mode that are ones. */
export const isFrameReadable = ({ spec }: Pick<KubernetesObject, 'spec'>): boolean => isFrame(spec ?? {});
