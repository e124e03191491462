/** Replays a past day under other policies. */
import type { Day } from '../../packages/timeline/src/day/types.ts';
import type { TraceLine } from '../../packages/timeline/src/trace/lines.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { traceOf } from '../../simulator/checked-trace.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../simulator/world.ts';
import { withObjects } from '../compare.ts';
import { scenarioRefusal } from '../findings/refuse.ts';
import { UsageError } from '../usage-error.ts';
import { scenarioOf } from './replay-scenario.ts';

export interface Replay {
  readonly lines: readonly TraceLine[];
  /** Remarks on the parts of the history that are not replayed. */
  readonly notices: readonly string[];
}

/** @param policies manifests: policies and NodePools. Throws `UsageError`. */
export async function replayOf(day: Day, policies: readonly KubernetesObject[], file: string): Promise<Replay> {
  if (day.lanes.length === 0) throw new UsageError(`${file} has no nodes to replay`);
  const { scenario: document, notices } = scenarioOf(day, policies);
  const parsed = parseScenarios(JSON.stringify(document), `${file} (replay)`, clusterCatalog());
  if (!parsed.ok) throw scenarioRefusal(parsed.faults);
  const [scenario] = parsed.scenarios;
  if (scenario === undefined) throw new UsageError(`${file} has no nodes to replay`);
  const lines = traceOf(await runScenario(withObjects(scenario, policies, file), { recordsObjects: true }));
  return { lines, notices };
}
