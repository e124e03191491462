/** Mistakes in what becomes of a request: its turn, its end, and errors on its way. */
import type { ActiveDrain } from '../../functions/drain/record.ts';
import type { DrainRequest, FinishedDrain } from '../../functions/drain/request-record.ts';
import { endOf } from '../../functions/drain/rule/history.ts';
import { isRequest } from '../../functions/drain/rule/phase.ts';
import { FULL } from '../../functions/drain/rule/pods.ts';
import { toFinished } from '../../functions/drain/rule/take-request.ts';
import { NO_DRAIN_LIMITS } from '../../shared/domain/drain-limits.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { deciding, seeing, withPolicies } from './drain-mutations.ts';
import { firstListsFail } from './fault.ts';
import { takenForNone, withKubernetes, withoutErrors, type Mutant } from './mutant.ts';

const takesSlot = (active: ActiveDrain | undefined): boolean =>
  active?.phase.kind === 'waiting' && active.phase.takesSlot;

/** Begins by what it saw before it marked its Node: shows only when the looks of two nodes meet. */
export const BEGINS_WITHOUT_A_SECOND_LOOK: Mutation = seeing(seen =>
  takesSlot(seen.record.active) && seen.poolDrains !== undefined
    ? { ...seen, poolDrains: { ...seen.poolDrains, drainingCount: 0 } }
    : seen,
);

const refusal = (request: DrainRequest, now: EpochMs): FinishedDrain =>
  toFinished(
    request,
    { status: 'Failed', reason: 'TooManyRequests', message: 'too many requests wait', left: [] },
    { now, scope: FULL, drained: 0 },
  );

export const DRAIN_REQUEST_MUTANTS: readonly Mutant[] = [
  {
    name: 'drain-of-the-whole-pool-at-once',
    mistake: 'does not look at how many nodes of a pool may be drained',
    breaks: ['I3'],
    scenario: 'drain-limits.yaml#drain-limits-one-after-the-other',
    mutation: withPolicies({ limits: NO_DRAIN_LIMITS }),
  },
  {
    name: 'drain-takes-a-slot-that-others-took',
    mistake: 'counts those that wait and not those that are drained',
    breaks: ['I3'],
    scenario: 'drain-limits.yaml#drain-limits-one-after-the-other',
    mutation: seeing(seen => ({ ...seen, poolDrains: seen.poolDrains && { ...seen.poolDrains, drainingCount: 0 } })),
  },
  {
    name: 'drain-refuses-where-many-wait',
    mistake: 'refuses what comes to a node on which as many requests wait as its record holds',
    breaks: ['I5'],
    scenario: 'drain-crowded.yaml#drain-crowded',
    mutation: deciding((decision, seen) =>
      decision.kind === 'take' && (seen.record.active?.requests.length ?? 0) >= 50
        ? { kind: 'answer', answer: refusal(decision.request, seen.now), novelty: 'new', record: seen.record }
        : decision,
    ),
  },
  {
    name: 'drain-takes-an-answer-for-given',
    mistake: 'does not see that a request on the Node lacks the answer that it was given',
    breaks: ['I12'],
    scenario: 'drain-asked-on-the-node.yaml#drain-asked-on-the-node-is-answered-again',
    mutation: seeing(({ incoming, ...seen }) => ({
      ...seen,
      incoming: isRequest(incoming) && endOf(seen.record, incoming.request.id) !== undefined ? undefined : incoming,
    })),
  },
  {
    name: 'drain-despite-a-recovery',
    mistake: 'does not listen when the fault is over',
    breaks: ['I2', 'I5'],
    seed: 96,
    scenario: 'drain-is-cancelled.yaml#drain-is-cancelled-by-recovery',
    mutation: seeing(seen => {
      const { incoming, ...rest } = seen;
      return incoming === undefined || isRequest(incoming) ? seen : { ...rest, incoming: undefined };
    }),
  },
  {
    name: 'drain-of-the-skipped',
    mistake: 'does not read drainOverrides.skip',
    breaks: ['I2'],
    scenario: 'drain-covers.yaml#drain-covers',
    mutation: seeing(seen => {
      const { incoming } = seen;
      if (!isRequest(incoming)) return seen;
      const { request } = incoming;
      const event = { ...request.event, drainOverrides: undefined };
      return { ...seen, incoming: { ...incoming, request: { ...request, event } } };
    }),
  },
  {
    name: 'drain-in-observe-mode',
    mistake: 'acts where the mode is Observe',
    breaks: ['I2'],
    scenario: 'drain-is-held-in-observe-mode.yaml#drain-is-held-in-observe-mode',
    mutation: withPolicies({ mode: 'Enforce' }),
  },
  {
    name: 'drain-takes-errors-for-nothing',
    mistake: 'takes an error of the API server for a node without pods',
    breaks: ['I2', 'I5', 'I6'],
    seed: 105,
    scenario: 'drain-evicts-at-once.yaml#drain-evicts-at-once',
    fault: () => firstListsFail('drain', 'Pod', 4),
    mutation: withKubernetes('drain', api => ({
      list: (type, query, options) => api.list(type, query, options).catch(takenForNone),
    })),
  },
  {
    name: 'drain-swallows-errors',
    mistake: 'logs what went wrong and reports success',
    breaks: ['I5'],
    scenario: 'drain-protects.yaml#drain-protects-until-the-node-claim-is-forced',
    fault: () => firstListsFail('drain', 'Pod'),
    mutation: withoutErrors('drain'),
  },
];
