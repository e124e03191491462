/** An Event that could not be recorded is lost without a word to the caller: what lasts is said again until it is heard (I6). */
import { describe, expect, it } from 'vitest';
import { RECONCILERS } from '../../runtime/functions.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import { addDuration, hours } from '../../shared/domain/time.ts';
import { runScenario } from '../../simulator/run.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import type { TraceEntry } from '../../simulator/trace.ts';
import { scenariosIn } from '../examples/files.ts';

const REFUSALS: readonly string[] = [
  EVENT_REASONS.nodeChangeRefused,
  EVENT_REASONS.changeRefused,
  EVENT_REASONS.finalizationError,
];

/** Reason, kind and name of an Event in the trace. */
function keyOf(line: TraceEntry['line']): string {
  const about: unknown = line['about'];
  const { kind, name } = isJsonObject(about) ? about : {};
  return [line['reason'], kind, name].map(String).join(' ');
}

/** The function whose first Event of each refusal, about each object, is lost. */
function losing(name: FunctionName, lost: string[]) {
  const heard = new Set<string>();
  return {
    [name]: (deps: Parameters<(typeof RECONCILERS)[FunctionName]>[0]) =>
      RECONCILERS[name]({
        ...deps,
        events: {
          async record(event) {
            const key = `${event.reason} ${event.about.kind} ${event.about.metadata.name}`;
            if (!REFUSALS.includes(event.reason) || heard.has(key)) return await deps.events.record(event);
            heard.add(key);
            lost.push(key);
          },
        },
      }),
  };
}

/** Within the first hour nothing else can say what was lost. */
const isOfTheFirstHour = (message: string): boolean => message.includes('and no Event says so');

/** The scenario two hours longer, in which what denies stays. */
const withLastingDenial = ({ steps, end, ...scenario }: Scenario): Scenario => ({
  ...scenario,
  steps: steps.filter(step => !JSON.stringify(step).includes('"validatingadmissionpolicybindings"')),
  end: addDuration(end, hours(2)),
});

describe('a refusal whose Event was lost is said again within the hour', () => {
  it.each<[FunctionName, string]>([
    ['grace-period', 'do-not-disrupt-that-admission-denies.yaml'],
    ['finalizer', 'finalizer-rule-that-admission-denies.yaml'],
    ['repair', 'policy-whose-status-admission-denies.yaml'],
  ])('%s, in %s', async (name, file) => {
    const lost: string[] = [];
    const said = new Set<string>();
    for (const scenario of scenariosIn(file)) {
      const { violations, trace } = await runScenario(withLastingDenial(scenario), { reconcilers: losing(name, lost) });
      const others = violations.filter(({ message }) => !isOfTheFirstHour(message));
      expect(others.map(({ message }) => `${scenario.name}: ${message}`)).toEqual([]);
      for (const { kind, line } of trace) if (kind === 'event') said.add(keyOf(line));
    }
    expect(lost).not.toEqual([]);
    expect(lost.some(key => said.has(key))).toBe(true);
  });
});
