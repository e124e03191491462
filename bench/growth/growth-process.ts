/** One stretch of a cluster's life in a process of its own: what Curfew asks of others in it. */
import * as z from 'zod';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, hours } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../simulator/world.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';
import { dayOf } from '../simulate/day.ts';
import { createTally } from './tally.ts';

const runSchema = z.object({ nodes: z.number(), hours: z.number(), from: z.number(), churn: z.boolean() });

answerQuestions({
  async run(argument) {
    const { churn, from, ...size } = runSchema.parse(argument);
    const { scenario: manifest } = dayOf(size);
    const text = JSON.stringify(churn ? manifest : withoutChurn(manifest));
    const parsed = parseScenarios(text, 'growth', clusterCatalog());
    invariant(parsed.ok && parsed.scenarios[0] !== undefined, 'a day is a scenario');
    const scenario = parsed.scenarios[0];
    const { tally, replacements } = createTally(addDuration(scenario.start, hours(from)));
    const before = readUsage();
    const { buried, violations } = await runScenario(scenario, replacements);
    invariant(buried.length === 0 && violations.length === 0, 'an ordinary day is without faults');
    return { tally, cpuMs: readUsage().cpuMs - before.cpuMs };
  },
});

/** Its pods stay: their protections end. */
function withoutChurn(manifest: JsonObject): JsonObject {
  const { spec } = manifest;
  invariant(isJsonObject(spec), 'a scenario has a spec');
  return { ...manifest, spec: { ...spec, steps: [], expect: [] } };
}
