/** A random cluster at one instant, what `curfew explain` says of its nodes there, and what happens in the hour after it when nobody interferes. */
import { explain } from '../../../cli/explain.ts';
import { textAt } from '../../../packages/kube-apiserver/src/json.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, seconds, toDurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import { objectsOf } from '../../../shared/ports/read-answer.ts';
import type { RecordStore } from '../../../shared/ports/record-store.ts';
import { dig, listOf } from '../../../simulator/invariants/reading.ts';
import { createRandom } from '../../../simulator/random.ts';
import { runScenario } from '../../../simulator/run.ts';
import type { Scenario, Step } from '../../../simulator/scenario/scenario.ts';
import { generateScenario } from '../../../simulator/swarm/generate/scenario.ts';

/** A claim of an hour is held against that hour. */
export const HORIZON = hours(1);

export interface Instant {
  readonly seed: number;
  readonly now: EpochMs;
  readonly nodes: readonly {
    readonly node: KubernetesObject;
    /** As `--output json` prints it. */
    readonly explanation: unknown;
  }[];
  readonly nodeClaims: readonly KubernetesObject[];
  /** Lines of the trace, of the hour after it. */
  readonly after: readonly JsonObject[];
}

export const timeOf = (line: JsonObject): number => Date.parse(textAt(line, 't') ?? '');
export const ownerOf = (line: JsonObject): string | undefined => textAt(line, 'by') ?? textAt(line, 'function');

export const isAbout = (line: JsonObject, names: ReadonlySet<string>): boolean =>
  [line['name'], dig(line, 'about', 'name'), ...listOf(dig(line, 'details', 'nodes'))].some(
    name => typeof name === 'string' && names.has(name),
  );

/** Some instant soon after such a step; undefined: there is none. */
function instantOf(seed: number, { steps, end }: Scenario, isSuch: (step: Step) => boolean): EpochMs | undefined {
  const random = createRandom(seed).stream('claims');
  const told = steps.filter(isSuch);
  if (told.length === 0) return undefined;
  const time = addDuration(random.pick(told).time, seconds(random.integer(5, 60)));
  return time < end ? addDuration(time, toDurationMs(0 - (time % 1000))) : undefined;
}

/**
 * Undefined where that seed has no such instant.
 *
 * @param isSuch steps soon after which it is
 * @param isKept of the story
 */
export async function observeInstant(
  seed: number,
  isSuch: (step: Step) => boolean,
  isKept: (step: Step) => boolean = () => true,
): Promise<Instant | undefined> {
  const scenario = generateScenario(seed);
  const now = instantOf(seed, scenario, isSuch);
  if (now === undefined) return undefined;
  const steps = scenario.steps.filter(step => step.time <= now && isKept(step));
  const cut = { ...scenario, steps, expectations: [] };
  let records: RecordStore | undefined;
  const { core } = await runScenario(
    { ...cut, end: now },
    {
      parts: parts => {
        ({ records } = parts.store);
        return parts;
      },
    },
  );
  const kubernetes = createInProcessKubernetesApi(core, 'explain');
  const there = async (type: typeof RESOURCES.Node): Promise<readonly KubernetesObject[]> =>
    objectsOf(await kubernetes.list(type), { ifNotServed: 'throw' });
  const nodeClaims = await there(RESOURCES.NodeClaim).catch(() => []);
  const nodes: { node: KubernetesObject; explanation: unknown }[] = [];
  for (const node of await there(RESOURCES.Node)) {
    const text = await explain({ kubernetes, now, records }, { kind: 'node', name: node.metadata.name }, true);
    if (text !== undefined) nodes.push({ node, explanation: JSON.parse(text) });
  }
  const later = await runScenario({ ...cut, end: addDuration(now, HORIZON) });
  const after = later.trace.map(({ line }) => line).filter(line => timeOf(line) > now);
  return { seed, now, nodes, nodeClaims, after };
}
