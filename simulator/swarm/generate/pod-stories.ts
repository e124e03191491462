/** What happens to pods: created, edited, finished, deleted, back under the same name on another node. */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, seconds, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { StepAction } from '../../scenario/scenario.ts';
import { drawDuration, drawNear, wholeSecond } from './draw.ts';
import type { Draft, PodPlan, Story, StoryContext } from './model.ts';
import { budgetManifest, DO_NOT_DISRUPT, drawAnnotation, drawPod, podManifest } from './pods.ts';

const patchPod = ({ namespace, name }: PodPlan, merge: JsonObject): StepAction => ({
  kind: 'patch',
  target: { resource: 'pods', namespace, name },
  merge,
});

/** An instant of the pod's life: as a rule about when a protection ends. */
function momentOf({ random, model, time }: StoryContext, pod: PodPlan): EpochMs {
  if (model.durations.length === 0 || random.chance(0.4)) return time;
  const near = drawNear(random, pod.creationTime, random.pick(model.durations));
  return near > time ? near : time;
}

function pickPod({ random, model, time }: StoryContext): PodPlan {
  return model.pods.length > 0 ? random.pick(model.pods) : drawPod(random, model, time);
}

const created: Story = context => {
  const { random, model, time } = context;
  const pod = drawPod(random, model, time);
  const drafts: Draft[] = [
    {
      time,
      act() {
        model.pods.push(pod);
        return { kind: 'apply', manifest: podManifest(random, model, pod) };
      },
    },
  ];
  if (random.chance(0.3)) {
    const startTime = toTimestamp(wholeSecond(time));
    const later = drawNear(random, time, seconds(5));
    drafts.push({ time: later, act: () => patchPod(pod, { status: { phase: 'Running', startTime } }) });
  }
  return drafts;
};

const annotated: Story = context => {
  const { random, model } = context;
  const pod = pickPod(context);
  return [
    {
      time: momentOf(context, pod),
      act() {
        const value = random.chance(0.25) ? null : drawAnnotation(random, model);
        return patchPod(pod, { metadata: { annotations: { [DO_NOT_DISRUPT]: value } } });
      },
    },
  ];
};

const finished: Story = context => {
  const pod = pickPod(context);
  const phase = context.random.pick(['Succeeded', 'Failed']);
  return [{ time: momentOf(context, pod), act: () => patchPod(pod, { status: { phase } }) }];
};

const deleted: Story = context => {
  const { random, model } = context;
  const pod = pickPod(context);
  const { namespace, name } = pod;
  const time = momentOf(context, pod);
  // At once, so that what comes back under its name is another pod and not an edit of this one.
  const isReplaced = !pod.lingers && random.chance(0.5);
  const drafts: Draft[] = [
    {
      time,
      act: () => ({
        kind: 'delete',
        target: { resource: 'pods', namespace, name },
        ...(isReplaced
          ? { gracePeriodSeconds: 0 }
          : random.chance(0.5) && { gracePeriodSeconds: random.pick([0, 0, 1, 600]) }),
      }),
    },
  ];
  if (isReplaced) {
    const back = drawNear(random, time, drawDuration(random, seconds(0), minutes(2)));
    drafts.push({
      time: back,
      act() {
        pod.node = random.pick(model.nodes).name;
        pod.creationTime = wholeSecond(back);
        return { kind: 'apply', manifest: podManifest(random, model, pod) };
      },
    });
  }
  return drafts;
};

/** Bound later than created; a binding never changes. */
const bound: Story = context => {
  const { random, model, time } = context;
  const pod = { ...drawPod(random, model, time), waits: true };
  const { node } = pod;
  return [
    {
      time,
      act() {
        model.pods.push(pod);
        return { kind: 'apply', manifest: podManifest(random, model, pod) };
      },
    },
    { time: momentOf(context, pod), act: () => patchPod(pod, { spec: { nodeName: node } }) },
  ];
};

const budget: Story = ({ random, model, time }) => {
  const manifest = budgetManifest(random, `budget-${(model.counter += 1)}`);
  const { namespace, name } = manifest;
  const drafts: Draft[] = [{ time, act: () => ({ kind: 'apply', manifest }) }];
  if (random.chance(0.5)) {
    drafts.push({
      time: drawNear(random, time, minutes(10)),
      act: () => ({ kind: 'delete', target: { resource: 'poddisruptionbudgets', namespace, name } }),
    });
  }
  return drafts;
};

export const POD_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [4, created],
  [4, annotated],
  [2, finished],
  [3, deleted],
  [1, bound],
  [0.5, budget],
];
