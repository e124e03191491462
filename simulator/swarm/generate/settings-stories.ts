/** What people change about settings, and what breaks around Curfew. */
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { WHOLE_PARTS } from '../../scenario/scenario.ts';
import { drawDuration, drawNear, pickWeighted } from './draw.ts';
import { toManifest, type Draft, type Story } from './model.ts';
import {
  configMapOf,
  drawConfig,
  drawPolicy,
  drawPool,
  drawPoolLabels,
  drawProtectionBlock,
  drawRepairBlock,
  replacingBlock,
} from './settings.ts';

const poolEdited: Story = ({ random, model, time }) => {
  if (model.pools.length === 0) return [];
  const name = random.pick(model.pools);
  const target = { resource: 'nodepools', name };
  return [
    {
      time,
      act() {
        const merge = pickWeighted(random, [
          [6, { spec: { repair: replacingBlock(drawRepairBlock(random, model.durations)) } }],
          [1, { spec: { repair: null } }],
          [1, { metadata: { labels: { team: null, tier: null, ...drawPoolLabels(random) } } }],
        ]);
        return { kind: 'patch', target, merge };
      },
    },
  ];
};

const poolReplaced: Story = ({ random, model, time }) => {
  if (model.pools.length === 0) return [];
  const name = random.pick(model.pools);
  const drafts: Draft[] = [{ time, act: () => ({ kind: 'delete', target: { resource: 'nodepools', name } }) }];
  if (random.chance(0.7)) {
    const back = drawNear(random, time, drawDuration(random, seconds(1), minutes(20)));
    drafts.push({ time: back, act: () => ({ kind: 'apply', manifest: drawPool(random, name, model.durations) }) });
  }
  return drafts;
};

const policyEdited: Story = ({ random, model, time }) => {
  const name = random.pick([...model.policies, `policy-new-${(model.counter += 1)}`]);
  const target = { resource: 'nodelifecyclepolicies', name };
  const apply: Draft = { time, act: () => ({ kind: 'apply', manifest: drawPolicy(random, name, model.durations) }) };
  const merge = pickWeighted(random, [
    [2, { spec: { mode: random.pick(['Observe', 'Enforce']) } }],
    [2, { spec: { protection: random.chance(0.3) ? null : drawProtectionBlock(random, model.durations) } }],
    [2, { spec: { repair: random.chance(0.3) ? null : replacingBlock(drawRepairBlock(random, model.durations)) } }],
  ]);
  return [
    pickWeighted<Draft>(random, [
      [2, apply],
      [4, { time, act: () => ({ kind: 'patch', target, merge }) }],
      [1, { time, act: () => ({ kind: 'delete', target }) }],
    ]),
  ];
};

/** The configuration changes, and is usually corrected again. */
const configEdited: Story = ({ random, time }) => {
  const text = drawConfig(random);
  const target = { resource: 'configmaps', namespace: 'curfew', name: 'curfew-config' };
  const drafts: Draft[] = [
    {
      time,
      act: () =>
        text === undefined
          ? { kind: 'delete', target }
          : { kind: 'apply', manifest: toManifest(configMapOf(text), target.name, target.namespace) },
    },
  ];
  if (random.chance(0.7)) {
    const good = configMapOf('[featureGates]\nnodeRepair = true\n');
    drafts.push({
      time: drawNear(random, time, drawDuration(random, seconds(1), minutes(40))),
      act: () => ({ kind: 'apply', manifest: toManifest(good, target.name, target.namespace) }),
    });
  }
  return drafts;
};

const outage: Story = ({ random, time }) => {
  const of = random.pick(WHOLE_PARTS);
  const duration = drawDuration(random, seconds(1), minutes(20));
  return [{ time, act: () => ({ kind: 'outage', of, for: duration }) }];
};

const forwarderRestarted: Story = ({ time }) => [{ time, act: () => ({ kind: 'restart', part: 'forwarder' }) }];

export const SETTINGS_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [3, poolEdited],
  [0.5, poolReplaced],
  [3, policyEdited],
  [1, configEdited],
];

export const ENVIRONMENT_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [2, outage],
  [1, forwarderRestarted],
];
