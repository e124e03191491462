/** Mistakes in how a repair climbs its ladder of actions. */
import type { Attempt } from '../../functions/repair/node/attempt-record.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { isDue, toEpochMs } from '../../shared/domain/time.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { type Mutant, withKubernetes, withPorts, withRepairRules, withSpecs } from './mutant.ts';
import { remembering } from './repair-seeing.ts';

const REBOOTS = 'repair-reboots-first.yaml';
const DRAINS = 'repair-drains-before-it-terminates.yaml';

/** A node whose attempt was another one. */
const attempting = (change: (attempt: Attempt) => Attempt): Mutation =>
  remembering(held => (held.attempt === undefined ? held : { ...held, attempt: change(held.attempt) }));

/** As unhealthy as it was when the repair began. */
function stillUnhealthy(node: NodeView, dueCondition: Attempt['dueCondition'] | undefined): NodeView {
  if (dueCondition === undefined) return node;
  const { conditionType, conditionStatus, lastTransitionTime } = dueCondition;
  const conditions = node.conditions.map(condition =>
    condition.type === conditionType ? { ...condition, status: conditionStatus, lastTransitionTime } : condition,
  );
  return { ...node, conditions };
}

export const LADDER_MUTANTS: readonly Mutant[] = [
  {
    name: 'ladder-ahead-of-time',
    mistake: 'goes on to the next action when half of the time of the one before is over',
    breaks: ['I3'],
    seed: 87,
    scenario: `${REBOOTS}#repair-reboot-does-not-help`,
    mutation: attempting(attempt => ({ ...attempt, until: toEpochMs((attempt.time + attempt.until) / 2) })),
  },
  {
    name: 'ladder-by-any-boot',
    mistake: 'takes a reboot for a success although the boot ID is the one of before',
    breaks: ['I6'],
    scenario: `${REBOOTS}#repair-reboot-has-not-shown`,
    mutation: attempting(attempt => ({ ...attempt, bootID: undefined })),
  },
  {
    name: 'ladder-without-drain',
    mistake: 'terminates at once where it is to drain first',
    breaks: ['I3'],
    seed: 79,
    scenario: `${DRAINS}#repair-drain-takes-too-long`,
    mutation: withSpecs('repair', text => text.replaceAll('"DrainThenTerminate"', '"Terminate"')),
  },
  {
    name: 'ladder-reboots-again',
    mistake: 'reboots once more when a reboot has not helped in its time',
    breaks: ['I4', 'I11', 'I12'],
    seed: 115,
    scenario: `${REBOOTS}#repair-reboot-does-not-help`,
    mutation: remembering((held, now) => {
      const { attempt, incident } = held;
      if (attempt?.action !== 'Reboot' || attempt.phase !== 'accepted' || !isDue(now, attempt.until)) return held;
      const { attempt: _, ...rest } = held;
      return { ...rest, acts: [], ...(incident && { incident: { ...incident, taken: [] } }) };
    }),
  },
  {
    name: 'ladder-after-recovery',
    mistake: 'goes on to the next action although the node is well',
    breaks: ['I3'],
    scenario: `${REBOOTS}#repair-reboot-helps`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode: (context, node, held) =>
        rules.judgeNode(context, stillUnhealthy(node, held?.attempt?.dueCondition), held),
    })),
  },
  {
    name: 'ladder-keeps-its-drain',
    mistake: 'does not call off the drain of a node that is well again',
    breaks: ['I7'],
    scenario: `${DRAINS}#repair-drain-is-not-needed-any-more`,
    mutation: withPorts('repair', ({ bus }) => ({
      bus: {
        async publish(entries) {
          const isCall = entries.some(({ detailType }) => detailType === 'HealthEvent');
          return isCall ? entries.map(() => ({ kind: 'published' as const })) : await bus.publish(entries);
        },
      },
    })),
  },
  {
    name: 'ladder-keeps-its-resources',
    mistake: 'leaves its custom resource behind when the repair is over',
    breaks: ['I7'],
    seed: 87,
    scenario: 'repair-asks-by-custom-resource.yaml#repair-custom-resource-succeeds',
    mutation: withKubernetes('repair', api => ({
      async delete(ref, options) {
        return ref.type.resource === 'nodefixes' ? { kind: 'notFound' } : await api.delete(ref, options);
      },
    })),
  },
  {
    name: 'ladder-forgets-its-place',
    mistake:
      'begins at the first action again when its drain is called off: a reboot is repeated for the same incident',
    breaks: ['I12', 'I4', 'I3', 'I11'],
    seed: 231,
    scenario: 'repair-calls-its-drain-off.yaml#repair-gate-calls-its-drain-off',
    mutation: remembering(held =>
      held.attempt !== undefined || held.incident === undefined
        ? held
        : { ...held, acts: [], incident: { ...held.incident, taken: [] } },
    ),
  },
];
