/**
 * What entries of a repair block say beside their toleration: priority, drain bound, reasons, lists of their own. Drawn from streams of their own,
 * so that blocks without them stay as they are.
 */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import { isObject } from '../../../packages/kube-apiserver/src/json.ts';
import type { Random } from '../../random.ts';

const BOUNDS = ['0s', '30s', '2m', '10m', '1h', 'Inherit'] as const;

/** A block with terms in some of its entries; most stay without. @param drawActions a list; empty: no entry has one */
export function withTerms(random: Random, block: JsonObject, drawActions: (random: Random) => JsonObject): JsonObject {
  if (random.chance(0.75)) return block;
  const entries = (field: string): JsonValue[] => {
    const list = block[field];
    return Array.isArray(list)
      ? list.map(entry =>
          isObject(entry) ? { ...drawTerms(random, drawActions), ...confirming(random, entry), ...entry } : entry,
        )
      : [];
  };
  const policies = [...entries('policies'), ...reasoned(random, drawActions)];
  const { actions } = block;
  const replaces = random.chance(0.5) && Array.isArray(actions) ? [replacement(random), ...actions] : undefined;
  const conditions = entries('conditions');
  return {
    ...block,
    ...(random.chance(0.5) && { terminationGracePeriod: drawBound(random) }),
    ...(random.chance(0.5) && { disruptionBudgets: random.pick(['All', 'All', 'Ignore', 'Explicit']) }),
    ...(replaces && { actions: replaces }),
    ...(policies.length > 0 && { policies }),
    ...(conditions.length > 0 && { conditions }),
  };
}

const replacement = (random: Random): JsonObject => ({
  type: 'ReplaceThenTerminate',
  timeout: random.pick(['10s', '1m', '5m']),
});

/** Of a NodePool, for reasons or none, with schedules or without. */
export function drawBudgets(random: Random): JsonObject {
  if (random.chance(0.7)) return {};
  const budgets = Array.from({ length: random.integer(1, 2) }, () => ({
    nodes: random.pick(['0', '1', '1', '2', '10%', '50%', '100%', 'many']),
    ...(random.chance(0.6) && { reasons: [random.pick(['Unhealthy', 'Unhealthy', 'Drifted'])] }),
    ...(random.chance(0.4) && {
      schedule: random.pick(['@hourly', '*/5 * * * *', '10,40 * * * mon-fri', 'never']),
      duration: random.pick(['10m', '3m', '1h']),
    }),
  }));
  return { disruption: { budgets } };
}

const drawBound = (random: Random): string => (random.chance(0.02) ? 'inherit' : random.pick(BOUNDS));

/** Now and then for a condition that nobody can confirm. */
function confirming(random: Random, { conditionType, type, status }: JsonObject): JsonObject {
  const own = random.stream('confirm');
  const isMeant = conditionType === 'Ready' || (type === 'Ready' && status === 'Unknown');
  return own.chance(isMeant ? 0.5 : 0.01) ? { confirm: own.pick(['InstanceStatus', 'ApplicationStatus']) } : {};
}

const drawTerms = (random: Random, drawActions: (random: Random) => JsonObject): JsonObject => ({
  ...(random.chance(0.5) && { priority: random.chance(0.03) ? 101 : random.integer(0, 100) }),
  ...(random.chance(0.4) && { terminationGracePeriod: drawBound(random) }),
  ...(random.chance(0.4) && drawActions(random)),
});

/** The reason of a random condition may begin with any of these. */
function reasoned(random: Random, drawActions: (random: Random) => JsonObject): readonly JsonObject[] {
  if (random.chance(0.6)) return [];
  const reason = random.pick(['^Kubelet', 'XID(48|79)', 'Stopped', '.*']);
  return [
    {
      conditionType: 'Ready',
      toleration: random.pick(['0s', '1m', '3m', 'Never']),
      ...drawTerms(random, drawActions),
      ...confirming(random, { conditionType: 'Ready' }),
      reason,
    },
  ];
}
