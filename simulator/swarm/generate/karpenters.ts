/**
 * Karpenters that act by themselves on the nodes of any story: none, one of 1.14, one of 1.15, or both at once as during an upgrade. What they go by is
 * written into the NodePools and NodeClaims of the cluster.
 */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import { addDuration, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import { ACTING_KARPENTERS, type Actor, type PlacedManifest } from '../../scenario/scenario.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import type { Draft, Model } from './model.ts';

/** From here on seeds draw them, beside hardships and mishaps. Seeds below draw what they have always drawn. */
export const KARPENTERS_FROM = 400_000;

const MOST_DRIFTS = 6;

export function drawKarpenters(random: Random): readonly Actor[] {
  const [older, newer] = ACTING_KARPENTERS;
  return pickWeighted<readonly Actor[]>(random, [
    [1, []],
    [1, [older]],
    [1.5, [newer]],
    [1, [older, newer]],
  ]);
}

/** The same objects, with budgets, consolidation, expiry, and NodeClaims that are initialized. */
export function withKarpenters(random: Random, objects: readonly PlacedManifest[]): readonly PlacedManifest[] {
  return objects.map(({ manifest, place }) => {
    const { kind, body } = manifest;
    const spec = objectAt(body, 'spec');
    if (kind === 'NodePool') {
      const disruption = { ...objectAt(spec, 'disruption'), ...drawDisruption(random) };
      return { manifest: { ...manifest, body: { ...body, spec: { ...spec, disruption } } }, place };
    }
    if (kind !== 'NodeClaim') return { manifest, place };
    const expireAfter = random.chance(0.1) ? { expireAfter: random.pick(['1h', '2h', '24h']) } : {};
    const status = { ...objectAt(body, 'status'), ...(random.chance(0.9) && { conditions: [INITIALIZED] }) };
    return { manifest: { ...manifest, body: { ...body, spec: { ...spec, ...expireAfter }, status } }, place };
  });
}

const INITIALIZED = {
  type: 'Initialized',
  status: 'True',
  reason: 'Initialized',
  message: '',
  lastTransitionTime: '2024-11-01T13:00:00Z',
} as const;

function drawDisruption(random: Random): JsonObject {
  const budgets = pickWeighted<JsonValue | undefined>(random, [
    [2, undefined],
    [2, [{ nodes: '10%' }]],
    [1, [{ nodes: '1' }, { nodes: '0', reasons: ['Underutilized'] }]],
    [1, [{ nodes: '50%', reasons: ['Unhealthy', 'Drifted'] }]],
    [1, [{ nodes: '0' }]],
  ]);
  return {
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: random.pick(['Never', 'Never', '10m', '30m', '0s']),
    ...(budgets !== undefined && { budgets }),
  };
}

/** NodeClaims that drift from their NodePool. */
export function drawDrifts(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  return times(random.integer(0, MOST_DRIFTS)).flatMap((): readonly Draft[] => {
    const time = addDuration(start, drawDuration(random, seconds(0), span));
    const claims = model.nodes.flatMap(({ claim }) => claim ?? []);
    if (claims.length === 0) return [];
    const name = random.pick(claims);
    const drifted = { ...INITIALIZED, type: 'Drifted', reason: 'NodePoolDrifted' };
    const merge = { status: { conditions: [INITIALIZED, drifted] } };
    return [{ time, act: () => ({ kind: 'patch', target: { resource: 'nodeclaims', name }, merge }) }];
  });
}
