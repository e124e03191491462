/** Mistakes in how a repair climbs its ladder of actions. */
import type { PassDecision, PassObservation } from '../../functions/repair/pass/decision.ts';
import type { RepairAttempt } from '../../functions/repair/pass/pool.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { addDuration, isDue, minutes, toEpochMs } from '../../shared/domain/time.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { withKubernetes, withPorts, withRepairRules, type Mutant } from './mutant.ts';

const REBOOTS = 'repair-reboots-first.yaml';
const DRAINS = 'repair-drains-before-it-terminates.yaml';

/** The pass with other attempts than there are. */
const remembering = (change: (attempt: RepairAttempt, seen: PassObservation) => RepairAttempt | undefined): Mutation =>
  withRepairRules(({ decide, decidePass }) => ({
    decide,
    decidePass(seen) {
      const attempts = seen.state.attempts.flatMap(attempt => change(attempt, seen) ?? []);
      return decidePass({ ...seen, state: { ...seen.state, attempts } });
    },
  }));

/** The pass, whose attempts are remembered otherwise. */
const forgetting = (isForgotten: (attempt: RepairAttempt) => boolean): Mutation =>
  withRepairRules(({ decide, decidePass }) => ({
    decide,
    decidePass(seen): PassDecision {
      const { state, ...decision } = decidePass(seen);
      return { ...decision, state: { ...state, attempts: state.attempts.filter(attempt => !isForgotten(attempt)) } };
    },
  }));

/** As ill as it was when the repair began. */
function stillIll(node: NodeView, incident: RepairAttempt['incident'] | undefined): NodeView {
  if (incident === undefined) return node;
  const { conditionType, conditionStatus, lastTransitionTime } = incident;
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
    mutation: remembering(attempt => {
      const { intendedTime, until } = attempt;
      return until === undefined ? attempt : { ...attempt, until: toEpochMs((intendedTime + until) / 2) };
    }),
  },
  {
    name: 'ladder-by-any-boot',
    mistake: 'takes a reboot for a success although the boot ID is the one of before',
    breaks: ['I6'],
    scenario: `${REBOOTS}#repair-reboot-has-not-shown`,
    mutation: remembering(attempt => ({ ...attempt, bootID: undefined })),
  },
  {
    name: 'ladder-without-drain',
    mistake: 'terminates at once where it is to drain first',
    breaks: ['I3'],
    seed: 87,
    scenario: `${DRAINS}#repair-drain-takes-too-long`,
    mutation: withRepairRules(({ decide, decidePass }) => ({
      decide,
      decidePass(seen) {
        const { settings } = seen.rules;
        if (settings === undefined || 'invalid' in settings) return decidePass(seen);
        const actions = settings.actions.map(action =>
          action.type === 'DrainThenTerminate' ? { ...action, type: 'Terminate' as const } : action,
        );
        return decidePass({ ...seen, rules: { ...seen.rules, settings: { ...settings, actions } } });
      },
    })),
  },
  {
    name: 'ladder-reboots-again',
    mistake: 'reboots once more when a reboot has not helped in its time',
    breaks: ['I4'],
    seed: 115,
    scenario: `${REBOOTS}#repair-reboot-does-not-help`,
    mutation: remembering((attempt, { now }) => {
      const { action, phase, until } = attempt;
      const isOver = action === 'Reboot' && phase === 'accepted' && until !== undefined && isDue(now, until);
      return isOver ? undefined : attempt;
    }),
  },
  {
    name: 'ladder-after-recovery',
    mistake: 'goes on to the next action although the node is well',
    breaks: ['I3'],
    scenario: `${REBOOTS}#repair-reboot-helps`,
    mutation: withRepairRules(({ decide, decidePass }) => ({
      decide: seen => decide({ ...seen, node: stillIll(seen.node, seen.escalates) }),
      decidePass(seen) {
        const incidents = new Map(seen.state.attempts.map(({ node, incident }) => [node.uid, incident]));
        return decidePass({ ...seen, nodes: seen.nodes.map(node => stillIll(node, incidents.get(node.uid))) });
      },
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
    mistake: 'begins the ladder anew when an action was not carried out and a veto held it then',
    breaks: ['I4', 'I3'],
    scenario: 'repair-calls-its-drain-off.yaml#repair-gate-calls-its-drain-off',
    mutation: forgetting(({ phase, until, intendedTime }) => phase === 'accepted' && until === intendedTime),
  },
  {
    name: 'ladder-forgets-over-observe',
    mistake: 'begins the ladder anew after a time in mode Observe: a reboot is repeated for the same illness',
    breaks: ['I4', 'I3'],
    scenario: 'repair-observes-the-ladder.yaml#repair-goes-on-after-observe',
    mutation: remembering(attempt => ({ ...attempt, carriedOut: undefined })),
  },
  {
    name: 'ladder-waits-for-the-next-try',
    mistake: 'tries a refused action once more before it sees that the time of the action is over',
    breaks: ['I5'],
    scenario: `${REBOOTS}#repair-reboot-fails-until-the-timeout`,
    mutation: remembering((attempt, { now }) => {
      const { phase, retryTime } = attempt;
      const isWaiting = phase === 'refused' && retryTime !== undefined && !isDue(now, retryTime);
      return isWaiting ? { ...attempt, until: addDuration(retryTime, minutes(1)) } : attempt;
    }),
  },
];
