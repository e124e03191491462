/** The order in which `npm test` and the suites of the control plane begin their files. */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Half a minute and more each; begun last, one of them would run alone at the end. */
const LONGEST: readonly string[] = [
  'test/examples/scenarios.test.ts',
  'test/simulator/explorer.test.ts',
  'test/simulator/mutants.test.ts',
  'test/end-to-end/kills.test.ts',
  'test/fuzz/json.test.ts',
  'test/stored-items/stored-items.test.ts',
  'test/docs/commands.test.ts',
  'test/docs/guides.test.ts',
  'test/control-plane/end-to-end.test.ts',
  'test/control-plane/karpenter-repair.test.ts',
];

/** The longest files first, the others as Vitest orders them: on a fresh clone it knows their sizes alone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.indexOf(relative(this.ctx.config.root, moduleId));
      return index === -1 ? LONGEST.length : index;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- no array's
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
