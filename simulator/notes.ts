/** What may not be meant as it stands in a scenario, and is no failure. */
import { valueAt } from './match.ts';
import type { Scenario, ScenarioFault } from './scenario/scenario.ts';
import type { TraceEntry } from './trace.ts';

/** What Curfew warns of in settings that are in force anyway, at the object in the file. */
export function warningNotes(
  { file, objects, steps }: Scenario,
  warnings: readonly TraceEntry[],
): readonly ScenarioFault[] {
  const applied = steps.flatMap(({ action, place }) =>
    action.kind === 'apply' ? [{ manifest: action.manifest, place }] : [],
  );
  return warnings.map(({ line }) => {
    const kind = valueAt(line, 'about.kind');
    const name = valueAt(line, 'about.name');
    const found = [...objects, ...applied].find(({ manifest }) => manifest.kind === kind && manifest.name === name);
    const { message } = line;
    return {
      place: found?.place ?? { file, line: 1, path: '' },
      message: typeof message === 'string' ? message : JSON.stringify(line),
    };
  });
}
