/** An Event that could not be recorded is lost without a word to the caller: what lasts is said again until it is heard (I6). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RECONCILERS } from '../../runtime/functions.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../simulator/world.ts';

const FOLDER = new URL('../../examples/scenarios/', import.meta.url);
const REFUSALS: readonly string[] = [
  EVENT_REASONS.nodeChangeRefused,
  EVENT_REASONS.changeRefused,
  EVENT_REASONS.finalizationError,
];

function scenariosOf(file: string) {
  const parsed = parseScenarios(readFileSync(new URL(file, FOLDER), 'utf8'), file, clusterCatalog());
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.scenarios;
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

describe('a refusal whose Event was lost is said with the next try', () => {
  it.each<[FunctionName, string]>([
    ['grace-period', 'do-not-disrupt-that-admission-denies.yaml'],
    ['drain', 'drain-that-admission-denies.yaml'],
    ['finalizer', 'finalizer-rule-that-admission-denies.yaml'],
    ['finalizer', 'finalizer-that-admission-denies.yaml'],
    ['repair', 'policy-whose-status-admission-denies.yaml'],
  ])('%s, in %s', async (name, file) => {
    const lost: string[] = [];
    for (const scenario of scenariosOf(file)) {
      const { violations } = await runScenario(scenario, { reconcilers: losing(name, lost) });
      expect(violations.map(({ message }) => `${scenario.name}: ${message}`)).toEqual([]);
    }
    expect(lost).not.toEqual([]);
  });
});
