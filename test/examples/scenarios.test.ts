/** Every example scenario is valid and holds, and with the swarm they make use of every permission that is granted. */
import { describe, expect, it } from 'vitest';
import { formatFailures } from '../../simulator/report.ts';
import { runScenario } from '../../simulator/run.ts';
import { toFaultMix } from '../../simulator/swarm/faults.ts';
import { trialOf } from '../../simulator/swarm/seed.ts';
import type { TraceEntry } from '../../simulator/trace.ts';
import { auditReference } from '../docs/observability.ts';
import { exampleFiles, scenariosIn } from './files.ts';
import { repeatedLines } from './repeated-lines.ts';
import { allPermissions, describeUse, SELDOM_USED } from '../shared/contract/seldom-used.ts';
import { withoutStacks } from '../builders/without-stacks.ts';

withoutStacks();

const used = new Set<string>();
const onPermissionUsed = (part: string, permission: string): void => void used.add(describeUse(part, permission));
const unused = (): readonly string[] => allPermissions().filter(permission => !used.has(permission));

const TIMEOUT_MS = 60_000;

const reference = auditReference();
/** An audit line that `docs/observability.md` does not have. */
function undocumented({ kind, line }: TraceEntry): readonly string[] {
  if (kind !== 'audit') return [];
  const row = reference.find(each => each.function === line['function'] && each.decision === line['decision']);
  const isKnown = row?.isOpen === true || row?.reasons.some(reason => reason === line['reason']) === true;
  return isKnown ? [] : [JSON.stringify(line)];
}

describe('examples/scenarios', () => {
  it.each(exampleFiles())(
    '%s',
    async file => {
      for (const scenario of scenariosIn(file)) {
        expect(scenario.expectations.length).toBeGreaterThan(0);
        const result = await runScenario(scenario, { onPermissionUsed });
        expect(formatFailures(result)).toEqual([]);
        // Runs that overlap say what each of them did: `call-duration.test.ts` judges those.
        if (scenario.callDuration === undefined) expect(repeatedLines(result.trace)).toEqual([]);
        expect(result.trace.flatMap(undocumented)).toEqual([]);
      }
    },
    TIMEOUT_MS,
  );
});

/** Seeds with faults; any others would do. */
const SEEDS = [20, 31, 78];

describe('what the permission table grants', () => {
  it('is made use of by these scenarios, but for what is listed with its reason', () => {
    expect(unused().filter(permission => !(permission in SELDOM_USED))).toEqual([]);
  });

  it(
    'is made use of by them and the swarm, but for what nothing simulated does',
    async () => {
      for (const seed of SEEDS) {
        const { scenario, faults } = trialOf(seed);
        expect(faults.mix).not.toBe('none');
        await runScenario(scenario, { seed, faults: toFaultMix(faults), onPermissionUsed });
      }
      expect(unused().filter(permission => (SELDOM_USED[permission]?.where ?? 'faults') === 'faults')).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it('is what the list speaks of', () => {
    expect(Object.keys(SELDOM_USED).filter(permission => !allPermissions().includes(permission))).toEqual([]);
  });
});
