/** Mistakes about when an incident starts, and what counts as one. */
import { type EpochMs, isDue } from '../../shared/domain/time.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { JudgeContext } from '../../functions/repair/node/rule/node-facts.ts';
import { type Mutant, withRepairRules, withSpecs } from './mutant.ts';
import { remembering, seeing, withSettings } from './repair-seeing.ts';

const STARTS = 'repair-illness-starts.yaml';

/** Conditions whose time lies in the future have none. */
const withoutFuture = ({ conditions, ...node }: NodeView, now: EpochMs): NodeView => ({
  ...node,
  conditions: conditions.map(({ lastTransitionTime: time, ...condition }) => ({
    ...condition,
    lastTransitionTime: time !== undefined && isDue(now, time) ? time : undefined,
  })),
});

/** Changes of which no event says whether a status changed. */
const unsaid = <Context extends Pick<JudgeContext, 'seenChanges'>>(context: Context): Context => ({
  ...context,
  seenChanges: new Map([...context.seenChanges].map(([uid, { time }]) => [uid, { time }])),
});

export const REPAIR_INCIDENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'illness-older-than-its-node',
    mistake: 'counts an incident from before the Node was made',
    breaks: ['I3'],
    seed: 59,
    scenario: `${STARTS}#repair-illness-starts-after-creation`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode: (context, node, held) => rules.judgeNode(context, { ...node, creationTime: undefined }, held),
    })),
  },
  {
    name: 'illness-by-a-clock-that-is-behind',
    mistake: 'believes the time that a clock far behind has written',
    breaks: ['I3'],
    scenario: `${STARTS}#repair-illness-of-a-clock-that-is-behind`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode: (context, node, held) =>
        rules.judgeNode({ ...context, seenChanges: new Map(), changesTime: undefined }, node, held),
    })),
  },
  {
    name: 'illness-begins-with-each-report',
    mistake: 'counts a status that stays anew each time that its agent writes it',
    breaks: ['I5'],
    scenario: `${STARTS}#repair-illness-whose-time-moves`,
    mutation: remembering(held => ({ ...held, onsets: {} })),
  },
  {
    name: 'illness-begins-with-each-moved-time',
    mistake: 'does not hear that a status stayed while its agent wrote another time',
    breaks: ['I5'],
    scenario: `${STARTS}#repair-illness-of-a-busy-agent`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode: (context, node, held) => rules.judgeNode(unsaid(context), node, held),
    })),
  },
  {
    name: 'illness-goes-on-through-a-well-moment',
    mistake: 'does not hear that a node was well for a few seconds',
    breaks: ['I3'],
    scenario: `${STARTS}#repair-illness-well-between-two-events`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode: (context, node, held) => rules.judgeNode(unsaid(context), node, held),
    })),
  },
  {
    name: 'illness-in-the-future-never-starts',
    mistake: 'waits for a time in the future instead of the first look',
    breaks: ['I5'],
    scenario: `${STARTS}#repair-illness-in-the-future`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode: (context, node, held) => rules.judgeNode(context, withoutFuture(node, context.now), held),
    })),
  },
  {
    name: 'illness-inherits-the-age-of-its-status',
    mistake: 'counts a reason from the transition of its status',
    breaks: ['I3'],
    scenario: `${STARTS}#repair-illness-of-a-new-reason`,
    mutation: seeing({
      repair: repair =>
        withSettings(repair, ({ conditions }) => ({
          conditions: conditions.map(repairCondition => ({ ...repairCondition, reason: undefined })),
        })),
    }),
  },
  {
    name: 'illness-lends-its-clock',
    mistake: 'goes on with the clock of a repair condition that did not hold in between',
    breaks: ['I3'],
    scenario: `${STARTS}#repair-illness-that-ended-starts-anew`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode(context, node, held) {
        const look = rules.judgeNode(unsaid(context), node, held);
        if (held === undefined || look.record === undefined) return look;
        return { ...look, record: { ...look.record, onsets: { ...held.onsets, ...look.record.onsets } } };
      },
    })),
  },
  {
    name: 'illness-over-at-once',
    mistake: 'takes an incident for over as soon as the node looks well',
    breaks: ['I4', 'I11'],
    scenario: 'repair-illness-ends.yaml#repair-illness-goes-on-after-three-minutes',
    mutation: remembering(held => {
      const { incident, lastIncident: _, ...rest } = held;
      return incident?.healthySince === undefined ? held : { ...rest, acts: [] };
    }),
  },
  {
    name: 'never-is-a-long-time',
    mistake: 'reads Never as a toleration of an hour',
    breaks: ['I3', 'I5'],
    scenario: 'repair-toleration-never.yaml#repair-toleration-never',
    mutation: withSpecs('repair', text => text.replaceAll('"Never"', '"1h"')),
  },
];
