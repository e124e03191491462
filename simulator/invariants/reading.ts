/** Reads raw JSON for the checks; written apart from `shared/domain`, so that a mistake there is not repeated here. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';

/** The annotation of a NodeClaim that makes its termination forceful from that instant on. */
export const TERMINATION_TIMESTAMP = 'karpenter.sh/nodeclaim-termination-timestamp';

/** On the NodeClaim and the Node of a replacement: the UID of the Node that it replaces. */
export const REPLACES_ANNOTATION = 'curfew.dev/replaces';

/** On a Node and its NodeClaim: the last reboot of the machine, and how many there were. */
export const LAST_REBOOT = 'curfew.dev/last-reboot';
/** The taint of a replacement that is not in use yet. */
const RESERVED = 'curfew.dev/reserved';

export const isReservedIn = (taints: unknown): boolean => listOf(taints).some(taint => dig(taint, 'key') === RESERVED);
/** Whether the Node is that of a replacement which no pod may use yet: it is given up as a launch, and not repaired. */
export const isUnusedReplacement = (node: KubernetesObject): boolean =>
  annotationOf(node, REPLACES_ANNOTATION) !== undefined && isReservedIn(dig(node, 'spec', 'taints'));

export type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** The value as an object of the API server; undefined when it is none. */
export const objectOf = (value: unknown): KubernetesObject | undefined => (isObject(value) ? value : undefined);

const isObject = (value: unknown): value is KubernetesObject => typeof dig(value, 'metadata', 'uid') === 'string';

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Undefined for an empty text, too. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** What stands under `path`. */
export function dig(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isFields(current)) return undefined;
    current = current[key];
  }
  return current;
}

/** More texts than these are forgotten together. */
const REMEMBERED = 20_000;

/** The reader with a memory: each look reads the same texts of the same objects. `read` is pure. */
function rememberedText(read: (text: string) => number | undefined): (value: unknown) => number | undefined {
  const known = new Map<string, { readonly result: number | undefined }>();
  return value => {
    if (typeof value !== 'string') return undefined;
    const before = known.get(value);
    if (before !== undefined) return before.result;
    const result = read(value);
    if (known.size >= REMEMBERED) known.clear();
    known.set(value, { result });
    return result;
  };
}

/** The same for objects and parts of them, which nobody changes. */
export function rememberedPart<Value, Result>(read: (value: Value) => Result): (value: Value) => Result {
  const known = new WeakMap<object, { readonly result: Result }>();
  return value => {
    if (typeof value !== 'object' || value === null) return read(value);
    const before = known.get(value) ?? { result: read(value) };
    known.set(value, before);
    return before.result;
  };
}

const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Milliseconds of a plain Go duration such as `1h30m` or `-2.5s`; undefined for anything else. */
export const millisecondsOf = rememberedText((text): number | undefined => {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!/^[+-]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0n;
  for (const { 1: amount = '', 2: unit = '' } of text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const term = nanosecondsOf(amount, UNIT_NS[unit] ?? 0n);
    // Go adds in 64 bits without a sign, and compares afterwards: twice 2^63 is nothing.
    total = BigInt.asUintN(64, total + term);
    if (term > TWO_63 || total > TWO_63) return undefined;
  }
  if (text.startsWith('-')) return Number(-total) / 1e6;
  return total === TWO_63 ? undefined : Number(total) / 1e6;
});

const TWO_63 = 2n ** 63n;

/** Of one term; Go multiplies the fraction as a floating-point number, and leaves out digits that 64 bits do not hold. */
function nanosecondsOf(amount: string, scale: bigint): bigint {
  const [whole = '', digits = ''] = amount.split('.');
  let fraction = 0n;
  let held = 0;
  for (const digit of digits) {
    const longer = fraction * 10n + BigInt(digit);
    if (longer > TWO_63) break;
    fraction = longer;
    held += 1;
  }
  return BigInt(whole) * scale + BigInt(Math.trunc(Number(fraction) * (Number(scale) / 10 ** held)));
}

/** Epoch milliseconds of RFC 3339 text; undefined for anything else, 30 February and 24:00 among it. */
export const instantOf = rememberedText((text): number | undefined => {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text)) return undefined;
  const upper = text.toUpperCase();
  const local = Date.parse(`${upper.slice(0, 19)}Z`);
  // A day or an hour that is not there is read as one of the next day.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 19) !== upper.slice(0, 19)) return undefined;
  const ms = Date.parse(upper);
  return Number.isNaN(ms) ? undefined : ms;
});

export const annotationOf = (object: KubernetesObject, key: string): string | undefined =>
  object.metadata.annotations?.[key];

export const labelOf = (object: KubernetesObject, key: string): string | undefined => object.metadata.labels?.[key];

/** The instance that a Node stands for. */
export const instanceOfNode = (node: unknown): string | undefined => textOf(dig(node, 'spec', 'providerID'));

/** The instance that Karpenter launched for a NodeClaim. */
export const instanceOfClaim = (claim: unknown): string | undefined => textOf(dig(claim, 'status', 'providerID'));

const POOL_LABEL = 'karpenter.sh/nodepool';

export const poolNameOf = (object: KubernetesObject): string | undefined => labelOf(object, POOL_LABEL);

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

const isText: IsReadable = value => textOf(value) !== undefined;

export const isTextOf =
  (longest: number): IsReadable =>
  value =>
    (textOf(value)?.length ?? Infinity) <= longest;

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

/** A Go duration of at least so many nanoseconds. */
export const isDuration =
  (least: number): IsReadable =>
  value =>
    typeof value === 'string' && value.length <= 64 && Math.trunc((millisecondsOf(value) ?? -1) * 1e6) >= least;
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

const isFrame = rememberedPart(
  isObjectOf({
    nodePoolSelector: isSelector,
    mode: isOneOf('Enforce', 'Observe'),
    repair: () => true,
    repairLimits: () => true,
    drain: () => true,
    protection: () => true,
    termination: () => true,
  }),
);

/** Whether the rest of a policy, without its blocks, can be read: no other fields, a selector and a mode that are ones. */
export const isFrameReadable = ({ spec }: Pick<KubernetesObject, 'spec'>): boolean => isFrame(spec ?? {});
