/** One scenario file, parsed and run as `curfew simulate` does it, in a process of its own. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { formatFailures, isGood } from '../../simulator/report.ts';
import { formatFinding, toFinding } from '../../simulator/scenario/finding.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../simulator/world.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';

answerQuestions({
  async run(argument) {
    const file = z.string().parse(argument);
    const startTime = performance.now();
    const parsed = parseScenarios(readFileSync(file, 'utf8'), file, clusterCatalog());
    if (!parsed.ok) throw new Error(parsed.faults.map(fault => formatFinding(toFinding(fault))).join('\n'));
    const [scenario] = parsed.scenarios;
    invariant(scenario !== undefined, 'the file holds a scenario');
    const parsedTime = performance.now();
    const result = await runScenario(scenario);
    const endTime = performance.now();
    if (!isGood(result)) throw new Error(`the scenario does not end as it must:\n${formatFailures(result).join('\n')}`);
    return {
      parseMs: parsedTime - startTime,
      runMs: endTime - parsedTime,
      traceLines: result.trace.length,
      peakRssBytes: readUsage().peakRssBytes,
    };
  },
});
