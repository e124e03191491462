/**
 * Example scenarios again with calls that take time, as they do outside of simulations: each third file, or all with `CALL_DURATION_FILES=all`. What must happen at an instant may come a second
 * later, and two runs at once may say the same twice; else all holds, or is listed with its reason.
 */
import { describe, expect, it } from 'vitest';
import { addDuration, seconds, toDurationMs } from '../../shared/domain/time.ts';
import { evaluate, type FinalState, type Verdict } from '../../simulator/expect.ts';
import { runScenario } from '../../simulator/run.ts';
import type { Expectation, Scenario } from '../../simulator/scenario/scenario.ts';
import type { TraceEntry } from '../../simulator/trace.ts';
import { withoutStacks } from '../builders/without-stacks.ts';
import { exampleFiles, scenariosIn } from './files.ts';
import { KNOWN_DIFFERENCES } from './call-duration-differences.ts';

withoutStacks();

const CALL_DURATION = toDurationMs(7);
/** How much later something may come, and two runs at once may say the same. */
const GRANULARITY = seconds(1);
const TIMEOUT_MS = 60_000;

/** Of three files, `npm test` takes one: all of them take as long as two runs of `scenarios.test.ts`. */
const EACH = process.env['CALL_DURATION_FILES'] === 'all' ? 1 : 3;
const files = exampleFiles().filter((_, index) => index % EACH === 0);
const seen = new Set<string>();

/** One that ends at a whole second ends later. What must not happen, or before an instant, stays. */
function aSecondLater(expectation: Expectation): Expectation {
  if (expectation.kind !== 'trace' || expectation.times.min === 0) return expectation;
  const { window } = expectation;
  if (window.to === undefined || window.to % 1000 !== 0) return expectation;
  return { ...expectation, window: { ...window, to: addDuration(window.to, GRANULARITY) } };
}

/** Without what two runs at once both say. */
function saidOnce(entries: readonly TraceEntry[]): readonly TraceEntry[] {
  const said = new Map<string, number>();
  return entries.filter(({ kind, line, time }) => {
    if (kind !== 'audit' && kind !== 'event') return true;
    const key = JSON.stringify({ ...line, t: undefined });
    const last = said.get(key);
    said.set(key, time);
    return last === undefined || time - last > GRANULARITY;
  });
}

/** Whole seconds that are left until a deadline: a call later there is one less. */
function withASecondLess(expectation: Expectation): Expectation {
  if (expectation.kind !== 'trace') return expectation;
  const { pattern } = expectation;
  const { gracePeriodSeconds } = pattern.fields;
  if (typeof gracePeriodSeconds !== 'number') return expectation;
  const fields = { ...pattern.fields, gracePeriodSeconds: gracePeriodSeconds - 1 };
  return { ...expectation, pattern: { ...pattern, fields } };
}

const NOTHING_AT_THE_END: FinalState = { object: () => undefined, instance: () => undefined };

function fails({ holds, expectation }: Verdict, trace: readonly TraceEntry[]): boolean {
  if (holds) return false;
  if (expectation.kind !== 'trace') return true;
  const candidates = [expectation, withASecondLess(expectation)];
  return evaluate(candidates, saidOnce(trace), NOTHING_AT_THE_END).every(verdict => !verdict.holds);
}

async function complaints(scenario: Scenario): Promise<readonly string[]> {
  const expectations = scenario.expectations.map(aSecondLater);
  const { verdicts, violations, trace } = await runScenario(
    { ...scenario, expectations },
    { callDuration: CALL_DURATION },
  );
  return [
    ...verdicts.filter(verdict => fails(verdict, trace)).map(({ title, seen: found }) => [title, ...found].join('\n')),
    ...violations.map(({ invariant, message }) => `${invariant}: ${message}`),
  ];
}

describe('examples/scenarios, with calls that take time', () => {
  it.each(files)(
    '%s',
    async file => {
      const unexpected: string[] = [];
      for (const scenario of scenariosIn(file)) {
        const name = `${file}#${scenario.name}`;
        const found = await complaints(scenario);
        if (!(name in KNOWN_DIFFERENCES)) unexpected.push(...found.map(each => `${scenario.name}: ${each}`));
        else if (found.length > 0) seen.add(name);
      }
      expect(unexpected).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it('differ in nothing that is listed for no reason', () => {
    const listed = Object.keys(KNOWN_DIFFERENCES).filter(name => files.includes(name.split('#')[0] ?? ''));
    expect(listed.filter(name => !seen.has(name))).toEqual([]);
  });
});
