/** A run's trace as it is printed and as a page is made from it: a line that says what it is of, what happened, a line that says how it ended. */
import { TRACE_VERSION } from '../packages/timeline/src/trace/lines.ts';
import type { JsonObject } from '../shared/domain/kubernetes-object.ts';
import { toIsoText } from '../shared/domain/time.ts';
import { formatFailures, isGood } from './report.ts';
import type { RunResult } from './run.ts';

export function linesOf(result: RunResult): readonly JsonObject[] {
  const { scenario, seed, trace, verdicts, faults } = result;
  const [start, end] = [toIsoText(scenario.start), toIsoText(scenario.end)];
  return [
    {
      t: start,
      kind: 'trace',
      version: TRACE_VERSION,
      source: 'simulation',
      name: scenario.name,
      file: scenario.file,
      start,
      end,
      // Without faults, no seed makes a difference.
      ...(faults.size > 0 && { seed }),
    },
    ...trace.map(({ line }) => line),
    {
      t: end,
      kind: 'end',
      ...((verdicts.length > 0 || !isGood(result)) && { ok: isGood(result) }),
      problems: formatFailures(result),
    },
  ];
}
