/** A custom resource under a FinalizerRule, whose clean-up answers as stories say. */
import { addDuration, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest } from '../../scenario/scenario.ts';
import { drawWorkers } from './cleanup-workers.ts';
import { openDefinition } from './custom-kinds.ts';
import { drawDuration, drawNear, pickWeighted, times } from './draw.ts';
import { toManifest, type Draft, type Model, type Story } from './model.ts';
import { durationOf } from './settings.ts';

const GROUP = 'database.example.com';
const RULE = 'databases';
const RESOURCE = `manageddatabases.${GROUP}`;
const NAMESPACE = 'prod';

const DEFINITION = openDefinition({ group: GROUP, version: 'v1', kind: 'ManagedDatabase', plural: 'manageddatabases' });

const databaseManifest = (name: string, uid?: string): Manifest =>
  toManifest(
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'ManagedDatabase',
      metadata: { namespace: NAMESPACE, name, ...(uid !== undefined && { uid }) },
      spec: {},
    },
    name,
    NAMESPACE,
  );

/** Of those that are there from the start: the key of a clean-up has it. */
const uidOf = (name: string): string => `uid-of-${name}`;

function ruleManifest(random: Random, model: Model): Manifest {
  const deadline = random.pick(['1m', '5m']);
  model.durations.push(durationOf(deadline));
  const spec = {
    group: GROUP,
    version: 'v1',
    kind: 'ManagedDatabase',
    finalizerName: `${GROUP}/cleanup`,
    cleanup: random.chance(0.8) ? { lambda: { functionName: 'drop' } } : { event: { detailType: 'Drop' } },
    ...(random.chance(0.4) && { deadline, onDeadline: random.pick(['Keep', 'Release']) }),
  };
  const body = { apiVersion: 'curfew.dev/v1alpha1', kind: 'FinalizerRule', metadata: { name: RULE }, spec };
  return toManifest(body, RULE);
}

/** The kind, the rule, and some objects. */
export function drawFinalizerRuleObjects(random: Random, model: Model): readonly Manifest[] {
  const databases = times(random.integer(1, 3)).map(() => `db${(model.counter += 1)}`);
  model.databases.push(...databases);
  return [DEFINITION, ruleManifest(random, model), ...databases.map(name => databaseManifest(name, uidOf(name)))];
}

const databaseDeleted: Story = ({ random, model, time }) => {
  if (model.databases.length === 0) return [];
  const name = random.pick(model.databases);
  const target = { resource: RESOURCE, namespace: NAMESPACE, name };
  const drafts: Draft[] = [{ time, act: () => ({ kind: 'delete', target }) }];
  if (random.chance(0.3)) {
    const back = drawNear(random, time, random.pick([...model.durations]));
    drafts.push({ time: back, act: () => ({ kind: 'apply', manifest: databaseManifest(name) }) });
  }
  return drafts;
};

const cleanupAnswers: Story = ({ random, model, time }) => {
  if (model.databases.length === 0) return [];
  const result = random.pick(['fail', 'fail', 'notFound'] as const);
  const drafts: Draft[] = [
    { time, act: () => ({ kind: 'cleanup', rule: RULE, result, message: 'permission denied' }) },
  ];
  if (random.chance(0.8)) {
    const end = drawNear(random, time, random.pick([...model.durations]));
    drafts.push({ time: end, act: () => ({ kind: 'cleanup', rule: RULE, result: 'succeed' }) });
  }
  return drafts;
};

/** A clean-up that fails just when something is deleted. */
const failingDeletion: Story = context => [...cleanupAnswers(context), ...databaseDeleted(context)];

const ruleEdited: Story = ({ random, model, time }) => {
  if (model.databases.length === 0) return [];
  const target = { resource: 'finalizerrules', name: RULE };
  const merge = pickWeighted(random, [
    [3, { spec: { deadline: random.pick(['30s', '10m']), onDeadline: random.pick(['Keep', 'Release']) } }],
    [1, { spec: { deadline: null } }],
  ]);
  return [{ time, act: () => ({ kind: 'patch', target, merge }) }];
};

/**
 * The rule goes, as a rule to come back; drawn from a stream of its own, so that clusters in which it stays are as they were. What goes
 * with it is cleaned up first, and what lives is released.
 */
export function drawFinalizerRuleDeletions(
  random: Random,
  model: Model,
  start: EpochMs,
  span: DurationMs,
): readonly Draft[] {
  if (model.databases.length === 0 || !random.chance(0.35)) return [];
  const time = addDuration(start, drawDuration(random, seconds(0), span));
  const target = { resource: 'finalizerrules', name: RULE };
  const drafts: Draft[] = [{ time, act: () => ({ kind: 'delete', target }) }];
  if (random.chance(0.4)) return drafts;
  const back = drawNear(random, time, random.pick([...model.durations]));
  return [...drafts, { time: back, act: () => ({ kind: 'apply', manifest: ruleManifest(random, model) }) }];
}

/** Whoever does the work that a clean-up asks for. */
export const drawCleanupWorkers = (random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] =>
  drawWorkers(random, model, { start, span }, { rule: RULE, uidOf });

export const FINALIZER_RULE_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [3, databaseDeleted],
  [1, cleanupAnswers],
  [3, failingDeletion],
  [0.7, ruleEdited],
];
