/**
 * Karpenters that act by themselves on the nodes of any story: none, one of 1.14, one of 1.15, or both at once as during an upgrade. What they go by is
 * written into the NodePools and NodeClaims of the cluster.
 */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import {
  addDuration,
  minutes,
  seconds,
  toDurationMs,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import { ACTING_KARPENTERS, type Actor, type PlacedManifest } from '../../scenario/scenario.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { report, wellAgain } from './incident-reports.ts';
import type { Draft, Model } from './model.ts';

/** From here on seeds draw them, beside hardships and mishaps. Seeds below draw what they have always drawn. */
export const KARPENTERS_FROM = 400_000;

/** From here on they also draw what 1.15 reboots, and budgets with schedules. */
export const KARPENTER_REBOOTS_FROM = 500_000;

const MAX_DRIFTS = 6;

/** @param reboots 1.15 is there as a rule */
export function drawKarpenters(random: Random, reboots: boolean): readonly Actor[] {
  const [older, newer] = ACTING_KARPENTERS;
  return pickWeighted<readonly Actor[]>(random, [
    [1, []],
    [1, [older]],
    [reboots ? 6 : 1.5, [newer]],
    [1, [older, newer]],
  ]);
}

/**
 * The same objects, with budgets, consolidation, expiry, and NodeClaims that are initialized.
 * @param hasSchedules some budgets are in force for a while only
 */
export function withKarpenters(
  random: Random,
  objects: readonly PlacedManifest[],
  hasSchedules: boolean,
): readonly PlacedManifest[] {
  return objects.map(({ manifest, place }) => {
    const { kind, body } = manifest;
    const spec = objectAt(body, 'spec');
    if (kind === 'NodePool') {
      const disruption = { ...objectAt(spec, 'disruption'), ...drawDisruption(random, hasSchedules) };
      return { manifest: { ...manifest, body: { ...body, spec: { ...spec, disruption } } }, place };
    }
    if (kind !== 'NodeClaim') return { manifest, place };
    const expireAfter = random.chance(0.1) ? { expireAfter: random.pick(['1h', '2h', '24h']) } : {};
    const status = { ...objectAt(body, 'status'), ...(random.chance(0.9) && { conditions: [INITIALIZED] }) };
    return { manifest: { ...manifest, body: { ...body, spec: { ...spec, ...expireAfter }, status } }, place };
  });
}

/** The condition of a NodeClaim whose Node is in use. */
export const INITIALIZED = {
  type: 'Initialized',
  status: 'True',
  reason: 'Initialized',
  message: '',
  lastTransitionTime: '2024-11-01T13:00:00Z',
} as const;

function drawDisruption(random: Random, hasSchedules: boolean): JsonObject {
  const budgets = pickWeighted<JsonValue | undefined>(random, [
    [2, undefined],
    [2, [{ nodes: '10%' }]],
    [1, [{ nodes: '1' }, { nodes: '0', reasons: ['Underutilized'] }]],
    [1, [{ nodes: '50%', reasons: ['Unhealthy', 'Drifted'] }]],
    [1, [{ nodes: '0' }]],
    ...(hasSchedules ? SCHEDULED : []),
  ]);
  return {
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: random.pick(['Never', 'Never', '10m', '30m', '0s']),
    ...(budgets !== undefined && { budgets }),
  };
}

const SCHEDULED: readonly (readonly [weight: number, budgets: JsonValue])[] = [
  [1, [{ nodes: '0', schedule: '@hourly', duration: '20m' }, { nodes: '1' }]],
  [1, [{ nodes: '0', reasons: ['Unhealthy'], schedule: '*/30 * * * *', duration: '10m' }]],
  [1, [{ nodes: '1', reasons: ['Unhealthy'], schedule: '30 9 * * mon-fri', duration: '8h' }]],
  // Its minute is none.
  [0.5, [{ nodes: '1', reasons: ['Drifted'], schedule: '61 * * * *', duration: '10m' }]],
];

/** NodeClaims that drift from their NodePool. */
export function drawDrifts(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  return times(random.integer(0, MAX_DRIFTS)).flatMap((): readonly Draft[] => {
    const time = addDuration(start, drawDuration(random, seconds(0), span));
    const claims = model.nodes.flatMap(({ claim }) => claim ?? []);
    if (claims.length === 0) return [];
    const name = random.pick(claims);
    const drifted = { ...INITIALIZED, type: 'Drifted', reason: 'NodePoolDrifted' };
    const merge = { status: { conditions: [INITIALIZED, drifted] } };
    return [{ time, act: () => ({ kind: 'patch', target: { resource: 'nodeclaims', name }, merge }) }];
  });
}

/** Codes that a reboot may heal and others, and reboots that somebody else asks Karpenter for. */
export function drawReboots(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  return times(random.integer(1, MAX_FAULTS)).flatMap((): readonly Draft[] => {
    if (model.nodes.length === 0) return [];
    const node = random.pick(model.nodes);
    // Early enough that tolerations pass.
    const time = addDuration(start, drawDuration(random, seconds(0), toDurationMs(span / 2)));
    if (random.chance(0.15)) return node.claim === undefined ? [] : [askForReboot(random, node.claim, time)];
    const said = { type: 'AcceleratedHardwareReady', status: 'False', reason: random.pick(ACCELERATOR_REASONS) };
    const recovery = addDuration(time, drawDuration(random, minutes(9), minutes(40)));
    return [report(node, time, said), ...(random.chance(0.6) ? [report(node, recovery, wellAgain(said))] : [])];
  });
}

const MAX_FAULTS = 5;
const ACCELERATOR_REASONS = [
  'NvidiaXID48Error',
  'NvidiaXID95Error',
  'NvidiaXID79Error',
  'NvidiaDoubleBitError',
] as const;

function askForReboot(random: Random, name: string, time: EpochMs): Draft {
  const grace = random.chance(0.8) ? random.pick(['0s', '1m', '10m', 'soon']) : undefined;
  const rebooting = {
    type: 'Rebooting',
    status: 'True',
    reason: 'RebootRequested',
    lastTransitionTime: toTimestamp(time),
  };
  const merge = {
    ...(grace !== undefined && {
      metadata: { annotations: { 'karpenter.sh/reboot-termination-grace-period': grace } },
    }),
    status: { conditions: [INITIALIZED, rebooting] },
  };
  return { time, act: () => ({ kind: 'patch', target: { resource: 'nodeclaims', name }, merge }) };
}
