/** The cluster of a scenario file at some moment of its run: it runs up to there. */
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { clusterCatalog } from '../../simulator/world.ts';
import { nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import { addDuration, parseTimestamp, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';
import type { ClusterQuery } from '../cluster.ts';
import { readScenarioFile } from '../scenario-file.ts';
import { scenarioRefusal } from '../findings/refuse.ts';
import { UsageError } from '../usage-error.ts';

/**
 * Looks at the first scenario of a file, or at the one that is named after a `#`. Throws `UsageError`.
 * @param at a Go duration from its start, or an RFC 3339 instant; default: its end
 */
export async function onScenario<Answer>(
  file: string,
  at: string | undefined,
  look: ClusterQuery<Answer>,
): Promise<Answer> {
  const scenario = await readScenario(file);
  const end = at === undefined ? scenario.end : parseMoment(at, scenario.start);
  if (end < scenario.start || end > scenario.end) {
    const span = `${toIsoText(scenario.start)} to ${toIsoText(scenario.end)}`;
    throw new UsageError(`--at ${at} lies outside the scenario, ${span}`);
  }
  let records: RecordStore | undefined;
  const { core } = await runScenario(
    { ...scenario, expectations: [] },
    {
      until: end,
      parts: parts => {
        ({ records } = parts.store);
        return parts;
      },
    },
  );
  return look({ kubernetes: createInProcessKubernetesApi(core, 'explain'), now: end, records });
}

/** The first scenario of a file, or the one that is named after a `#`. Throws `UsageError`. */
export async function readScenario(place: string): Promise<Scenario> {
  const [file = place, name] = place.split('#');
  const text = await readScenarioFile(file);
  const parsed = parseScenarios(text, file, clusterCatalog());
  if (!parsed.ok) throw scenarioRefusal(parsed.faults, new Map([[file, text]]));
  const [scenario, ...others] = parsed.scenarios.filter(each => name === undefined || each.name === name);
  if (name !== undefined && others.length > 0)
    throw new UsageError(`${file} holds ${others.length + 1} scenarios ${name}: give each a name of its own`);
  if (scenario !== undefined) return scenario;
  throw new UsageError(`${file} holds ${name === undefined ? 'no scenario' : `no scenario ${name}`}`);
}

function parseMoment(text: string, start: EpochMs): EpochMs {
  const instant = parseTimestamp(text);
  if (instant !== undefined) return instant;
  const parsed = parseGoDuration(text);
  if (!parsed.ok) throw new UsageError(`--at takes a Go duration or an RFC 3339 instant: ${parsed.error}`);
  return addDuration(start, nanosecondsToDuration(parsed.nanoseconds));
}
