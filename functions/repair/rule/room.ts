/** Whether a NodePool has room for one more node: its limits are not asked for a NodeClaim that somebody else makes. Pure. */
import { isJsonObject } from '../../../shared/domain/json.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';

/** What would be launched, and how many replacements the NodePool's status does not know of yet. */
interface Launching {
  readonly like: KubernetesObject;
  readonly unknown: number;
  /** NodeClaims of the pool. */
  readonly claims: number;
}

/** Why there is none; undefined: there is. */
export function roomFault(pool: KubernetesObject, { like, unknown, claims }: Launching): string | undefined {
  const { replicas } = pool.spec ?? {};
  if (typeof replicas === 'number' && claims >= replicas)
    return `NodePool ${pool.metadata.name} is static, and has its ${replicas} nodes`;
  const limits = objectIn(pool.spec, 'limits');
  const used = objectIn(pool.status, 'resources');
  const need: JsonObject = {
    ...objectIn(objectIn(like.spec, 'resources'), 'requests'),
    ...objectIn(like.status, 'capacity'),
    nodes: 1,
  };
  for (const [name, value] of Object.entries(limits)) {
    const limit = milli(value);
    const one = milli(need[name]) ?? 0n;
    if (limit === undefined) return `limit ${name} of NodePool ${pool.metadata.name} cannot be read`;
    const after = (milli(used[name]) ?? 0n) + one * BigInt(unknown + 1);
    if (after > limit)
      return `limit ${name} of NodePool ${pool.metadata.name} is ${JSON.stringify(value)}: there is no room for one more`;
  }
  return undefined;
}

/** What stands there; nothing where that is no object. */
export const objectIn = (object: JsonObject | undefined, key: string): JsonObject => {
  const value = object?.[key];
  return isJsonObject(value) ? value : {};
};

const QUANTITY = /^(\d+)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE](\d{1,2}))?$/;
const POWERS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Thousandths of a quantity, rounded up; undefined: it is none. */
function milli(value: unknown): bigint | undefined {
  const match = typeof value === 'string' || typeof value === 'number' ? QUANTITY.exec(String(value)) : null;
  if (match === null) return undefined;
  const [, whole = '', fraction = '', binary, decimal, exponent] = match;
  const factor = binary === undefined ? 1n : 1024n ** BigInt(BINARY.indexOf(binary) + 1);
  const power = (decimal === undefined ? Number(exponent ?? 0) : (POWERS[decimal] ?? 0)) + 3 - fraction.length;
  const digits = BigInt(`${whole}${fraction}`) * factor;
  if (power >= 0) return digits * 10n ** BigInt(power);
  const by = 10n ** BigInt(-power);
  return (digits + by - 1n) / by;
}
