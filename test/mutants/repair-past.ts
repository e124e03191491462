/** Mistakes about what went before: a node that comes and goes, and repairs that did not help. */
import { REPLACES_ANNOTATION } from '../../shared/domain/node.ts';
import { annotated, type Mutant, withListed } from './mutant.ts';
import { remembering, seeing, withSettings } from './repair-seeing.ts';

export const REPAIR_PAST_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-blind-to-flapping',
    mistake: 'does not add up how long a node was unhealthy in all',
    breaks: ['I5'],
    scenario: 'repair-sees-through-flapping.yaml#repair-flapping-that-stays',
    mutation: seeing({ repair: repair => withSettings(repair, () => ({ flapping: undefined })) }),
  },
  {
    name: 'repair-forgets-episodes',
    mistake: 'forgets how long a node was unhealthy when it is well again',
    breaks: ['I5'],
    scenario: 'repair-sees-through-flapping.yaml#repair-flapping-that-stays',
    mutation: remembering(held => ({ ...held, episodes: [] })),
  },
  {
    name: 'repair-that-does-not-help',
    mistake: 'goes on replacing nodes whose replacements fail as they did',
    breaks: ['I3'],
    scenario: 'repair-gives-up-what-does-not-help.yaml#repair-futility',
    mutation: seeing({ repair: repair => withSettings(repair, () => ({ futility: undefined })) }),
  },
  {
    name: 'repair-blind-to-marks',
    mistake: 'does not look for replacements that no record knows',
    breaks: ['I7'],
    scenario: 'repair-replacement-lost.yaml#repair-replacement-of-a-lost-table',
    mutation: withListed('repair', 'NodeClaim', claim => annotated(claim, { [REPLACES_ANNOTATION]: undefined })),
  },
];
