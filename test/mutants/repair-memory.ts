/** Mistakes about who counts and holds, and about what guards remember. */
import type { PoolDecision, PoolObservation } from '../../functions/repair/rule/pool-decision.ts';
import { failureOf } from '../../functions/repair/node/rule/attempt.ts';
import type { DueCondition } from '../../functions/repair/node/attempt-record.ts';
import type { PoolRecord } from '../../functions/repair/pool-record.ts';
import { fieldsOf, objectIn } from '../../shared/domain/json.ts';
import type { NodeCondition } from '../../shared/domain/node.ts';
import { addDuration, minutes, toDurationMs } from '../../shared/domain/time.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { withoutEvents } from './denials.ts';
import { type Mutant, withRecords, withRepairRules } from './mutant.ts';
import { guardsSeeing, remembering, seeing, withSettings } from './repair-seeing.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';

/** What is remembered of the pool after a pass, changed. */
const remembersOfPool = (change: (decision: PoolDecision, seen: PoolObservation) => Partial<PoolRecord>): Mutation =>
  withRepairRules(rules => ({
    ...rules,
    decide(seen) {
      const decision = rules.decide(seen);
      return { ...decision, poolRecord: { ...decision.poolRecord, ...change(decision, seen) } };
    },
  }));

const isOff = ({ repair: { gateOpen, settings, mode } }: PoolObservation): boolean =>
  !gateOpen || settings === undefined || 'invalid' in settings || mode === 'Observe';

/** Terminations that never were beside those that were; each once. */
const withMore = (
  { terminations }: PoolRecord,
  more: readonly { readonly node: { readonly uid: string }; readonly dueCondition: DueCondition }[],
  { now }: PoolObservation,
): Pick<PoolRecord, 'terminations'> => {
  const known = new Set(terminations.map(({ node }) => node));
  const added = more.filter(({ node }) => !known.has(node.uid));
  return {
    terminations: [
      ...terminations,
      ...added.map(({ node, dueCondition }) => ({ condition: failureOf(dueCondition), time: now, node: node.uid })),
    ],
  };
};

export const REPAIR_MEMORY_MUTANTS: readonly Mutant[] = [
  {
    name: 'interrupted-drain-counts',
    mistake: 'goes on to the reboot when a node is unhealthy again ten seconds after its drain was called off',
    breaks: ['I3'],
    scenario: 'repair-relapse.yaml#repair-relapse-during-the-drain-of-a-reboot',
    mutation: remembering(held => {
      if (held.incident?.interrupted === undefined) return held;
      const { interrupted: _, ...incident } = held.incident;
      return { ...held, incident };
    }),
  },
  {
    name: 'opened-by-a-person-forgotten',
    mistake: 'reboots a node that a person has opened while its reboot was refused',
    breaks: ['I2'],
    scenario: 'repair-closed-nodes-are-opened.yaml#repair-opened-while-the-reboot-is-refused',
    mutation: remembering(held => {
      if (held.incident?.stopped === undefined) return held;
      const { stopped: _, ...incident } = held.incident;
      return { ...held, incident };
    }),
  },
  {
    name: 'drain-counts-after-a-well-moment',
    mistake: 'takes a node for drained that was opened since',
    breaks: ['I2'],
    scenario: 'repair-closed-nodes-are-opened.yaml#repair-drains-what-came-back-before-the-reboot',
    mutation: remembering(held => {
      if (held.incident?.interrupted === undefined) return held;
      const { interrupted: _, ...incident } = held.incident;
      return { ...held, incident };
    }),
  },
  {
    name: 'acts-forgotten-after-half-an-hour',
    mistake: 'forgets what was done to a node half an hour ago, and takes the action as often again',
    breaks: ['I12'],
    seed: 3,
    mutation: remembering((held, now) => ({
      ...held,
      acts: held.acts.filter(({ time }) => now - time < minutes(30)),
    })),
  },
  {
    name: 'launches-taken-back-are-free',
    mistake: 'launches a replacement each time that a node comes and goes',
    breaks: ['I12', 'I11'],
    scenario: 'repair-replaces-twice.yaml#repair-replacements-of-a-node-that-comes-and-goes',
    mutation: remembering(held => ({ ...held, acts: held.acts.filter(({ action }) => action !== 'Replace') })),
  },
  {
    name: 'settling-forgotten',
    mistake: 'repairs what is left when the others have come back a moment ago',
    breaks: ['I3'],
    scenario: 'repair-settling.yaml#repair-settling-nodes-that-come-back',
    mutation: guardsSeeing(guardInputs => ({ ...guardInputs, isActedUpon: () => true })),
  },
  {
    name: 'settling-by-clocks-that-are-right',
    mistake: 'does not count a node as coming back while its clock is ahead',
    breaks: ['I3'],
    scenario: 'repair-settling.yaml#repair-settling-clocks-ahead',
    mutation: guardsSeeing(guardInputs => {
      const isAhead = ({ lastTransitionTime: time }: NodeCondition): boolean => (time ?? 0) > guardInputs.now;
      return {
        ...guardInputs,
        isActedUpon: node => guardInputs.isActedUpon(node) || node.conditions.some(isAhead),
      };
    }),
  },
  {
    name: 'settling-takes-other-holds-for-its-own',
    mistake: 'counts the time of a zone outage towards the longest time of settling',
    breaks: ['I3'],
    scenario: 'repair-settling.yaml#repair-settling-counts-its-own-time',
    mutation: remembering((held, now) => {
      const { incident } = held;
      if (incident?.recovering === undefined || incident.recovering.since !== undefined) return held;
      const since = addDuration(now, toDurationMs(-incident.recovering.totalMs - minutes(15)));
      return { ...held, incident: { ...incident, recovering: { totalMs: 0, since } } };
    }),
  },
  {
    name: 'replacement-in-use-forgotten',
    mistake: 'launches a second replacement beside the one that is in use',
    breaks: ['I10', 'I7'],
    scenario: 'repair-replaces-twice.yaml#repair-replaces-by-the-one-in-use',
    mutation: remembering(held => {
      if (held.attempt !== undefined || held.leftovers?.replacement === undefined) return held;
      const { replacement: _, ...leftovers } = held.leftovers;
      return { ...held, leftovers };
    }),
  },
  {
    name: 'launch-pause-ends-with-the-repair',
    mistake: 'launches a replacement right after a failed launch when nothing else of the pool is remembered',
    breaks: ['I12', 'I11'],
    scenario: 'repair-replaces-twice.yaml#repair-replaces-pause-outlives-the-repair',
    mutation: remembersOfPool(({ poolRecord: { launchPause, followed, inFlight } }) =>
      followed.length === 0 && Object.keys(inFlight).length === 0 && launchPause ? { launchPause: undefined } : {},
    ),
  },
  {
    name: 'settling-without-an-end',
    mistake: 'waits for nodes that come back for as long as some do',
    breaks: ['I5'],
    scenario: 'repair-settling.yaml#repair-settling-fifteen-minutes-at-most',
    mutation: remembering(held => {
      if (held.incident?.recovering === undefined) return held;
      const { recovering: _, ...incident } = held.incident;
      return { ...held, incident };
    }),
  },
  {
    name: 'settling-counts-new-nodes',
    mistake: 'waits for nodes that were made a moment ago',
    breaks: ['I5'],
    scenario: 'repair-settling.yaml#repair-settling-without-new-nodes',
    mutation: guardsSeeing(({ thresholdNodes, nodes, ...guardInputs }) => ({
      ...guardInputs,
      thresholdNodes: thresholdNodes.map(node => ({ ...node, creationTime: undefined })),
      nodes: nodes?.map(node => ({ ...node, creationTime: undefined })),
    })),
  },
  {
    name: 'allowance-without-a-bound',
    mistake: 'takes an action as often as a node is unhealthy',
    breaks: ['I11'],
    seed: 100_065,
    scenario: 'repair-again.yaml#repair-again-when-an-allowance-returns',
    mutation: seeing({
      repair: repair =>
        withSettings(repair, ({ actions }) => ({ actions: actions?.map(action => ({ ...action, attempts: 1_000 })) })),
    }),
  },
  {
    name: 'threshold-counts-the-vetoed',
    mistake: 'counts nodes in the threshold that nobody may repair',
    breaks: ['I5'],
    scenario: 'repair-threshold-who-counts.yaml#repair-threshold-without-vetoed-ill',
    mutation: guardsSeeing(({ thresholdNodes, ...guardInputs }) => ({
      ...guardInputs,
      thresholdNodes: thresholdNodes.map(node => ({ ...node, annotations: {} })),
    })),
  },
  {
    name: 'threshold-counts-the-left-over',
    mistake: 'counts nodes in the threshold whose NodeClaim is gone',
    breaks: ['I5'],
    seed: 143,
    scenario: 'repair-threshold-who-counts.yaml#repair-threshold-without-left-over',
    mutation: guardsSeeing(guardInputs => ({
      ...guardInputs,
      knownOf: node => ({ ...guardInputs.knownOf(node), isLeftOver: false }),
    })),
  },
  {
    name: 'outage-counts-the-stopped',
    mistake: 'counts machines that somebody has stopped as an outage',
    breaks: ['I5'],
    scenario: 'repair-outage-who-counts.yaml#repair-zone-does-not-count-stopped',
    mutation: guardsSeeing(({ nodes, ...guardInputs }) => ({
      ...guardInputs,
      nodes: nodes?.map(node => ({ ...node, taints: [] })),
    })),
  },
  {
    name: 'stuck-holds-for-good',
    mistake: 'lets a termination that never ends hold the slot of the others',
    breaks: ['I5'],
    scenario: 'repair-in-flight.yaml#repair-concurrent-stuck',
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode(context, node, held) {
        const look = rules.judgeNode(context, node, held);
        return look.verdict?.kind === 'stuck' ? { ...look, state: 'inFlight' } : look;
      },
    })),
  },
  {
    name: 'stuck-in-silence',
    mistake: 'does not say that a termination never ends',
    breaks: ['I6'],
    scenario: 'repair-in-flight.yaml#repair-concurrent-stuck',
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode(context, node, held) {
        const { verdict, ...look } = rules.judgeNode(context, node, held);
        return { ...look, verdict: verdict?.kind === 'stuck' ? undefined : verdict };
      },
    })),
  },
  {
    name: 'ramp-forgotten-while-off',
    mistake: 'forgets the ramp when the gate is closed for a moment',
    breaks: ['I3', 'I12'],
    scenario: 'repair-ramp.yaml#repair-ramp-outlives-the-gate',
    mutation: remembersOfPool((_, seen) => (isOff(seen) ? { blockingGuards: [], ramp: undefined } : {})),
  },
  {
    name: 'hold-forgotten-before-the-ramp',
    mistake: 'forgets what had held the repairs before it begins the first: if the run dies then, the next has no ramp',
    breaks: ['I12'],
    seed: 100_033,
    mutation: withRecords('repair', records => ({
      async put(record, version) {
        const { inFlight, held, ramp } = record.state;
        const before = held === undefined ? undefined : await records.get(record);
        const isBegun =
          Object.keys(fieldsOf(inFlight)).length > Object.keys(objectIn(before?.state, 'inFlight')).length;
        const isForgotten = isBegun && ramp === undefined;
        return records.put(isForgotten ? { ...record, state: { ...record.state, held: [] } } : record, version);
      },
    })),
  },
  {
    name: 'futility-forgotten-while-off',
    mistake: 'forgets what did not help when the block cannot be read for a moment',
    breaks: ['I3', 'I12'],
    scenario: 'repair-futility-memory.yaml#repair-futility-outlives-a-typo',
    mutation: remembersOfPool((_, seen) => (isOff(seen) ? { terminations: [] } : {})),
  },
  {
    name: 'futility-counts-the-refused',
    mistake: 'counts terminations that were refused among those that did not help',
    breaks: ['I5'],
    scenario: 'repair-futility-memory.yaml#repair-futility-does-not-count-refused',
    mutation: remembersOfPool(({ poolRecord, granted }, seen) =>
      withMore(
        poolRecord,
        granted.map(({ finding: { node }, attempt: { dueCondition } }) => ({ node, dueCondition })),
        seen,
      ),
    ),
  },
  {
    name: 'futility-counts-the-observed',
    mistake: 'counts terminations that were only observed among those that did not help',
    breaks: ['I5'],
    scenario: 'repair-futility-memory.yaml#repair-futility-does-not-count-observed',
    mutation: remembersOfPool(({ poolRecord, findings }, seen) =>
      withMore(
        poolRecord,
        findings.flatMap(({ node, verdict }) =>
          verdict?.kind === 'wouldRepair' ? [{ node, dueCondition: verdict.attempt.dueCondition }] : [],
        ),
        seen,
      ),
    ),
  },
  {
    name: 'others-at-work-unseen',
    mistake: 'does not look at who else is at work on a node',
    breaks: ['I3'],
    scenario: 'repair-beside-others.yaml#repair-beside-a-disruption',
    mutation: seeing({
      node: node => ({ ...node, taints: [] }),
      claim: claim => ({ ...claim, conditions: [] }),
    }),
  },
  {
    name: 'status-looked-at-each-time',
    mistake: 'lists the whole cluster for the status of policies each time that a number changes',
    breaks: ['I11'],
    scenario: 'repair-status-of-a-pool-that-grows.yaml#repair-status-of-a-pool-that-grows',
    mutation: withRecords('repair', records => ({
      async get(key) {
        const record = await records.get(key);
        if (record?.id !== 'policy-status') return record;
        return { ...record, state: { ...record.state, lookTime: 0, countTime: 0 } };
      },
    })),
  },
  {
    name: 'status-numbers-at-each-look',
    mistake: 'writes what is nothing but numbers into a status at each look, whatever the look is for',
    breaks: ['I11'],
    scenario: 'repair-status-of-a-pool-that-grows.yaml#repair-status-of-a-pool-that-flickers',
    mutation: withRecords('repair', records => ({
      async get(key) {
        const record = await records.get(key);
        if (record?.id !== 'policy-status') return record;
        return { ...record, state: { ...record.state, countTime: 0 } };
      },
    })),
  },
  {
    name: 'missing-in-silence',
    mistake: 'does not say how many nodes were not replaced',
    breaks: ['I6'],
    scenario: 'repair-tells-what-was-not-replaced.yaml#repair-tells-what-was-not-replaced',
    mutation: withoutEvents('repair', EVENT_REASONS.nodesNotReplaced),
  },
];
