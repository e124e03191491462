/** Mistakes about what a drain takes back. */
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { annotated, withObjects, type Mutant } from './mutant.ts';

export const DRAIN_LEFT_MUTANTS: readonly Mutant[] = [
  {
    name: 'drain-leaves-its-cordon',
    mistake: 'does not take its cordon back when nobody asks for the drain any more',
    breaks: ['I7'],
    seed: 54,
    mutation: withObjects('drain', 'Node', node => annotated(node, { [ANNOTATIONS.cordonedByDrain]: undefined })),
  },
];
