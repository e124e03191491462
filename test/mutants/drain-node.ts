/** Mistakes in what a drain writes on its Node, takes back, and sees of what people do there. */
import type { Preparation } from '../../functions/drain/rule/decision.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { deciding, seeing, seeingAny } from './drain-mutations.ts';
import { RetryableError } from '../../shared/errors.ts';
import { annotated, isA, withKubernetes, withObjects, withPortsOfRun, type Mutant } from './mutant.ts';

const uncordoned = (prepare: Preparation): Preparation => ({ ...prepare, cordon: { ...prepare.cordon, by: 'none' } });

export const DRAIN_NODE_MUTANTS: readonly Mutant[] = [
  {
    name: 'drain-cannot-end-what-it-has-forgotten',
    mistake: 'waits for the record of a drain that the table has lost',
    breaks: ['I9'],
    seed: 20012,
    scenario: 'table-restored.yaml#a-drain-that-the-table-has-forgotten',
    mutation: withPortsOfRun('drain', ({ records }) => {
      let missed = 0;
      return {
        records: {
          put: (record, version) => records.put(record, version),
          delete: (key, version) => records.delete(key, version),
          async get(key) {
            const found = await records.get(key);
            if (found === undefined && (missed += 1) > 1) throw new RetryableError('a drain has begun', {});
            return found;
          },
        },
      };
    }),
  },
  {
    name: 'drain-never-hides-its-conditions',
    mistake: 'leaves Drained on a node that was opened',
    breaks: ['I7'],
    scenario: 'drain-conditions.yaml#drain-conditions',
    mutation: seeingAny(seen => ({
      ...seen,
      node: { ...seen.node, shownDrain: seen.record.active === undefined ? 'nothing' : seen.node.shownDrain },
    })),
  },
  {
    name: 'drain-shows-nothing-on-its-node',
    mistake: 'writes no conditions of a drain',
    breaks: ['I6'],
    scenario: 'drain-conditions.yaml#drain-conditions',
    mutation: withKubernetes('drain', api => ({
      async patch(ref, patch, options) {
        if (options?.subresource !== 'status' || !isA('Node', ref)) return await api.patch(ref, patch, options);
        const answer = await api.get(ref);
        return answer.kind === 'there' ? { kind: 'ok', object: answer.object } : { kind: 'notFound' };
      },
    })),
  },
  {
    name: 'drain-does-not-see-who-opens-a-node',
    mistake: 'does not see that somebody has opened the node after its drain',
    breaks: ['I5', 'I7'],
    seed: 67,
    scenario: 'drain-opened-by-a-person.yaml#drain-opened-by-a-person',
    mutation: seeingAny(seen => {
      const isOver = seen.record.active === undefined && seen.record.requests.length === 0;
      return isOver ? { ...seen, node: { ...seen.node, unschedulable: true } } : seen;
    }),
  },
  {
    name: 'drain-closes-again-what-a-person-opened',
    mistake: 'begins what was to follow a drain that somebody has called off by opening the node',
    breaks: ['I7'],
    scenario: 'drain-opened-by-a-person.yaml#drain-opened-before-the-next-drain',
    mutation: deciding((decision, { record: { active } }) =>
      decision.kind === 'finish' && decision.outcome.reason === 'Uncordoned' && active !== undefined
        ? { ...decision, active }
        : decision,
    ),
  },
  {
    name: 'drain-without-a-cordon',
    mistake: 'does not cordon the node',
    breaks: ['I7'],
    seed: 54,
    scenario: 'drain-asked-on-the-node.yaml#drain-asked-on-the-node',
    mutation: deciding(decision => {
      if (decision.kind === 'prepare') return uncordoned(decision);
      return decision.kind === 'begin' && decision.next ? { ...decision, next: uncordoned(decision.next) } : decision;
    }),
  },
  {
    name: 'drain-despite-a-hand',
    mistake: 'goes on although somebody has uncordoned the node',
    breaks: ['I7'],
    seed: 108,
    scenario: 'drain-is-cancelled.yaml#drain-is-cancelled-by-hand',
    mutation: seeing(seen =>
      seen.record.active?.cordon === undefined ? seen : { ...seen, node: { ...seen.node, unschedulable: true } },
    ),
  },
  {
    name: 'drain-leaves-its-cordon',
    mistake: 'does not take its cordon back when nobody asks for the drain any more',
    breaks: ['I7'],
    seed: 54,
    mutation: withObjects('drain', 'Node', node => annotated(node, { [ANNOTATIONS.cordonedByDrain]: undefined })),
  },
];
