/** An ordinary day of a fleet: kubelets that are not heard of for a while, nodes that break, turnover, protected work, drains on request. */
import { addDuration, hours, minutes, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import { drawBusyPod } from './busy-pods.ts';
import { drawTrouble, healthyStatus } from './cluster.ts';
import { fault } from './drain-stories.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { healed, workEnded } from './fleet-calm.ts';
import { calmMachine, ofFleet, type District } from './fleet-districts.ts';
import { drawMachine } from './incidents.ts';
import type { Draft, Story } from './model.ts';
import { flip } from './node-stories.ts';

/** In a day one node of this many. */
const EVERY = 20;

const blip: Story = ({ random, model, time }) => {
  const [node] = model.nodes;
  if (node === undefined) return [];
  const end = addDuration(time, drawDuration(random, seconds(30), minutes(5)));
  return [
    flip(random, node, time, { type: 'Ready', status: 'Unknown' }),
    flip(random, node, end, { type: 'Ready', status: 'True' }),
  ];
};

/** For good, or until somebody has seen to it. */
const broken: Story = ({ random, model, time }) => {
  const [node] = model.nodes;
  if (node === undefined) return [];
  const trouble = drawTrouble(random);
  const end = addDuration(time, drawDuration(random, minutes(5), minutes(90)));
  const drafts = [
    flip(random, node, time, trouble),
    healed(node, addDuration(time, drawDuration(random, hours(2), hours(12)))),
  ];
  if (random.chance(0.4))
    drafts.push(flip(random, node, end, { type: trouble.type, status: healthyStatus(trouble.type) }));
  return drafts;
};

/** Another machine comes, and the old one goes: upgrades, consolidation. */
const turnedOver: Story = ({ random, model, time }) => {
  const [node] = model.nodes;
  const { claim } = node ?? {};
  if (claim === undefined || node?.pool === undefined) return [];
  const end = addDuration(time, drawDuration(random, seconds(30), minutes(5)));
  const next = drawMachine(random, ofFleet(model, { ...model, nodes: [] }), node.pool, time);
  const manifests = calmMachine(random, next, time);
  return [
    ...manifests.map((manifest): Draft => ({ time, act: () => ({ kind: 'apply', manifest }) })),
    { time: end, act: () => ({ kind: 'delete', target: { resource: 'nodeclaims', name: claim } }) },
  ];
};

/** Work comes, protected in part, and ends. */
const work: Story = ({ random, model, time }) => {
  const manifest = drawBusyPod(random, model, time);
  const target = { resource: 'pods', namespace: manifest.namespace, name: manifest.name };
  const end = addDuration(time, drawDuration(random, minutes(1), minutes(240)));
  return [
    { time, act: () => ({ kind: 'apply', manifest }) },
    { time: end, act: () => ({ kind: 'delete', target, gracePeriodSeconds: 0 }) },
  ];
};

/** It is drained, or not, and its work ends within hours. */
const drained: Story = context => [
  ...fault(context),
  ...workEnded(context.random, context.model, addDuration(context.time, hours(1))),
];

const LIFE: readonly (readonly [weight: number, story: Story])[] = [
  [8, blip],
  [1, broken],
  [1.5, turnedOver],
  [8, work],
  [1, drained],
];

/** Each to one node, at any time. */
export function drawDailyLife(
  random: Random,
  districts: readonly District[],
  start: EpochMs,
  span: DurationMs,
): readonly Draft[] {
  return districts.flatMap(({ model }, index) => {
    const own = random.stream(String(index));
    const count = Math.ceil(((model.nodes.length / EVERY) * span) / hours(24));
    return times(count).flatMap(() => {
      const time = addDuration(start, drawDuration(own, seconds(0), span));
      const story = pickWeighted(own, LIFE);
      return story({ random: own, model: ofFleet(model, { ...model, nodes: [own.pick(model.nodes)] }), time });
    });
  });
}
