/**
 * What `curfew explain` claims of nodes at an instant, held against what happens after it when nobody interferes: the story is cut there, and the
 * run goes on for an hour without faults.
 */
import { explain } from '../../../cli/explain.ts';
import { textAt } from '../../../packages/kube-apiserver/src/json.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, seconds, toDurationMs, toIsoText, type EpochMs } from '../../../shared/domain/time.ts';
import { objectsOf } from '../../../shared/ports/read-answer.ts';
import type { RecordStore } from '../../../shared/ports/record-store.ts';
import { dig, listOf, textOf } from '../../../simulator/invariants/reading.ts';
import { createRandom } from '../../../simulator/random.ts';
import { runScenario } from '../../../simulator/run.ts';
import type { Scenario } from '../../../simulator/scenario/scenario.ts';
import { generateScenario } from '../../../simulator/swarm/generate/scenario.ts';

/** What is said of the repair of one node. */
export interface Claim {
  readonly node: string;
  readonly kind: string;
  readonly message: string;
  readonly due: number | undefined;
}

/** A claim, and what repair did about its node in the hour after it. */
export interface Observed {
  readonly seed: number;
  readonly now: EpochMs;
  readonly claim: Claim;
  readonly after: readonly JsonObject[];
}

/** What is due is done within two minutes, or is said to be held. */
const LATE = 120_000;
/** A round of the pool begins a second before. */
const EARLY = 2_000;

/** Some instant soon after something was said of a node; undefined where nothing is. */
function instantOf(seed: number, { steps, end }: Scenario): EpochMs | undefined {
  const random = createRandom(seed).stream('claims');
  const told = steps.filter(({ action }) => JSON.stringify(action).includes('"conditions"'));
  if (told.length === 0) return undefined;
  const time = addDuration(random.pick(told).time, seconds(random.integer(5, 60)));
  return time < end ? addDuration(time, toDurationMs(0 - (time % 1000))) : undefined;
}

/** All nodes at one instant of that seed; none where nothing is said of a node. */
export async function observeClaims(seed: number): Promise<readonly Observed[]> {
  const scenario = generateScenario(seed);
  const now = instantOf(seed, scenario);
  if (now === undefined) return [];
  const steps = scenario.steps.filter(({ time }) => time <= now);
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
    objectsOf(await kubernetes.list(type), { notServed: 'notKnown' });
  const nodeClaims = await there(RESOURCES.NodeClaim).catch(() => []);
  const later = await runScenario({ ...cut, end: addDuration(now, hours(1)) });
  const lines = later.trace.map(({ line }) => line).filter(line => timeOf(line) > now && ownerOf(line) === 'repair');

  const observed: Observed[] = [];
  for (const node of await there(RESOURCES.Node)) {
    const { name } = node.metadata;
    const text = await explain({ kubernetes, now, records }, { kind: 'node', name }, true);
    if (text === undefined) continue;
    const repair = dig(JSON.parse(text), 'lifecycle', 'repair');
    const due = textOf(dig(repair, 'dueTime'));
    const claim = {
      node: name,
      kind: textOf(dig(repair, 'kind')) ?? '',
      message: textOf(dig(repair, 'message')) ?? '',
      due: due === undefined ? undefined : Date.parse(due),
    };
    const names = new Set([name, textOf(dig(node, 'spec', 'providerID')) ?? name]);
    for (const owner of nodeClaims)
      if (names.has(textOf(dig(owner, 'status', 'providerID')) ?? '')) names.add(owner.metadata.name);
    observed.push({ seed, now, claim, after: lines.filter(line => isAbout(line, names)) });
  }
  return observed;
}

const timeOf = (line: JsonObject): number => Date.parse(textAt(line, 't') ?? '');
const ownerOf = (line: JsonObject): string | undefined => textAt(line, 'by') ?? textAt(line, 'function');
const isAbout = (line: JsonObject, names: ReadonlySet<string>): boolean =>
  [line['name'], dig(line, 'about', 'name'), ...listOf(dig(line, 'details', 'nodes'))].some(
    name => typeof name === 'string' && names.has(name),
  );
const isAct = (line: JsonObject): boolean =>
  textAt(line, 'kind') === 'write' && ['delete', 'terminate', 'reboot'].includes(textAt(line, 'verb') ?? '');

/** The instant before which nothing is done, by what is claimed; undefined: it names none. */
export function datedOf({ kind, message, due }: Claim): number | undefined {
  if (kind === 'tolerate') return due;
  if (kind !== 'vetoed') return undefined;
  const until = / holds until (\d{4}-\S+Z)/.exec(message)?.[1];
  return until === undefined ? Infinity : Date.parse(until);
}

/** What is wrong with a claim; undefined: it came true. */
export function complaintOf({ seed, now, claim, after }: Observed): string | undefined {
  const why = judge(claim, after, now);
  const { node, kind, message } = claim;
  return why === undefined ? undefined : `seed ${seed}, ${toIsoText(now)}, Node ${node}: ${kind}, ${message}: ${why}`;
}

function judge(claim: Claim, after: readonly JsonObject[], now: number): string | undefined {
  const acts = after.filter(isAct);
  const [first] = acts;
  if (claim.kind === 'ignore' && claim.due === undefined)
    return first === undefined ? undefined : `and it is acted on at ${textAt(first, 't')}`;
  const until = datedOf(claim);
  if (until === undefined) return undefined;
  if (first !== undefined && timeOf(first) < until - EARLY)
    return `and it is acted on at ${textAt(first, 't')} already`;
  const isLooked = after.some(line => timeOf(line) >= until - EARLY && timeOf(line) <= until + LATE);
  const isInTime = until + LATE < now + hours(1);
  return claim.kind === 'tolerate' && isInTime && !isLooked ? 'and nothing is done about it then' : undefined;
}
