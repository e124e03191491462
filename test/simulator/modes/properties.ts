/**
 * What one policy more may change, over the whole system on virtual time: each world runs twice, without that policy and with it, and the
 * writes to cluster and cloud are compared. Events, audit and the status of policies are no writes here.
 */
import { objectAt, textAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { runScenario } from '../../../simulator/run.ts';
import type { Mutation } from '../../../simulator/swarm/seed.ts';
import { instanceOf, isSelecting, scenarioOf, type BlockName, type DrawnNode, type World } from './world.ts';

export interface Write {
  /** Since the start; ms. */
  readonly time: number;
  readonly by: string;
  /** Verb and object. */
  readonly what: string;
  /** The node that it is about; undefined: none. */
  readonly node: string | undefined;
  readonly body: string;
}

const VERSIONS: readonly string[] = ['resourceVersion', 'uid'];
/** What of a body differs between any two runs. */
const withoutVersions = (body: unknown): string =>
  JSON.stringify(body, (key, value: unknown) => (VERSIONS.includes(key) ? undefined : value)) ?? '';

/** The node that a name is about: its own, its instance's, or that of a pod on it. */
export const nodeNamed = (name: string, { nodes }: World): DrawnNode | undefined =>
  nodes.find(node => node.name === name || instanceOf(node.name) === name || node.pods.some(pod => pod.name === name));

/** @param start of the run; ms since the epoch */
export function toWrite(line: JsonObject, world: World, start: number): Write {
  const text = (key: string): string => textAt(line, key) ?? '';
  const name = text('name');
  // Of a hook: the object that it is called for.
  const subject = textAt(objectAt(line, 'about'), 'name') ?? name;
  const node = nodeNamed(subject, world);
  return {
    time: Date.parse(text('t')) - start,
    by: text('by'),
    what: [text('verb'), text('resource'), text('subresource'), name, subject === name ? '' : subject].join(' '),
    node: node?.name,
    body: withoutVersions(line['body']),
  };
}

export interface Run {
  readonly writes: readonly Write[];
  /** What the invariants say. */
  readonly violation: string | undefined;
}

async function run(world: World, hasAdded: boolean, mutation: Mutation): Promise<Run> {
  const scenario = scenarioOf(world, hasAdded);
  const { trace, violations } = await runScenario(scenario, mutation);
  const writes = trace.filter(({ kind }) => kind === 'write').map(({ line }) => toWrite(line, world, scenario.start));
  const [violation] = violations;
  return {
    writes: writes.filter(({ what }) => !what.includes('nodelifecyclepolicies')),
    violation: violation && `${violation.invariant}: ${violation.message}`,
  };
}

const describe = ({ time, by, what, body }: Write): string => `${time / 60_000}m ${by} ${what} ${body}`;
const keyOf = ({ by, what }: Write): string => `${by} ${what}`;

/** One world, run twice. */
export interface Pair {
  readonly world: World;
  readonly without: Run;
  readonly withIt: Run;
}

/** @param mutation a mistake put into both runs */
export async function runTwice(world: World, mutation: Mutation = {}): Promise<Pair> {
  return { world, without: await run(world, false, mutation), withIt: await run(world, true, mutation) };
}

/** What contradicts a property, in words; undefined: it holds. */
export type ModeProperty = (pair: Pair) => string | undefined;

/** (a) A policy more in mode Observe adds no write, in kind and object: what it holds may come later, or never. */
export const observedAddsNoWrite: ModeProperty = ({ without, withIt }) => {
  const known = new Set(without.writes.map(keyOf));
  const more = withIt.writes.find(write => !known.has(keyOf(write)));
  return more && `added: ${describe(more)}`;
};

/** Of which function's writes a block is. */
const WRITER: Readonly<Record<BlockName, string>> = {
  repair: 'repair',
  drain: 'drain',
  termination: 'finalizer',
  protection: 'grace-period',
};

/** (b) A policy more that states one block changes no write that follows from another, and of its own only where it is the most specific. */
export const ofOneBlockAlone: ModeProperty = ({ world, without, withIt }) => {
  const { added, addedAt, nodes } = world;
  const [block] = Object.keys(added.blocks) as readonly BlockName[];
  if (block === undefined) return 'it states no block';
  const reached = new Set(nodes.filter(node => isReached(node, block, world)).map(({ name }) => name));
  const affected = new Set(nodes.filter(node => isAffected(node, block)).map(({ name }) => name));
  const isCompared = ({ node, by, time }: Write): boolean => {
    if (node === undefined || !reached.has(node) || time < addedAt * 60_000) return true;
    return by !== WRITER[block] && !affected.has(node);
  };
  return firstDifference(without.writes.filter(isCompared), withIt.writes.filter(isCompared));
};

/** Whether the added policy is the most specific that states the block for the node: among equals the first by name. */
function isReached(node: DrawnNode, block: BlockName, { pools, policies, added }: World): boolean {
  const pool = pools.find(({ name }) => name === node.pool);
  if (!isSelecting(added, pool)) return false;
  return !policies.some(
    other =>
      other.blocks[block] !== undefined &&
      isSelecting(other, pool) &&
      (other.requirements > added.requirements ||
        (other.requirements === added.requirements && other.name < added.name)) &&
      // One that is only observed takes nothing from a protection that is enforced.
      (block !== 'protection' || other.mode === 'Enforce' || added.mode === 'Observe'),
  );
}

/** Whether the end of the node itself follows from the block. */
function isAffected({ role, pods }: DrawnNode, block: BlockName): boolean {
  switch (block) {
    case 'repair':
      return role === 'ill';
    case 'drain':
      return role === 'drained';
    case 'termination':
      return role === 'ill' || role === 'deleted';
    case 'protection':
      return pods.some(({ doNotDisrupt }) => doNotDisrupt !== undefined);
  }
}

/** (c) A policy more in mode Observe changes no hold of protection, on nodes that are there in both runs. */
export const holdsStay: ModeProperty = ({ world, without, withIt }) => {
  const isCompared = ({ by, node, time }: Write): boolean => {
    const own = world.nodes.find(({ name }) => name === node);
    const end = own?.role === 'ill' || own?.role === 'deleted' ? own.at * 60_000 : Infinity;
    return by === 'grace-period' && time < end;
  };
  return firstDifference(without.writes.filter(isCompared), withIt.writes.filter(isCompared));
};

/** The policy itself, and its messages, may put off what is done at one instant by a little. */
const TOLERANCE_MS = 30_000;

/** The first write of one run that has none like it in the other, at about that time. @param tolerance ms */
export function firstDifference(
  left: readonly Write[],
  right: readonly Write[],
  tolerance = TOLERANCE_MS,
): string | undefined {
  const find = (from: readonly Write[], of: readonly Write[]): Write | undefined => {
    const free = [...of];
    return from.find(write => {
      const index = free.findIndex(
        other =>
          keyOf(other) === keyOf(write) && other.body === write.body && Math.abs(other.time - write.time) <= tolerance,
      );
      if (index >= 0) free.splice(index, 1);
      return index < 0;
    });
  };
  const gone = find(left, right);
  const added = find(right, left);
  if (gone !== undefined) return `missing: ${describe(gone)}`;
  return added && `added: ${describe(added)}`;
}

/** No invariant is broken, with or without the policy. */
export const keepsInvariants: ModeProperty = ({ without, withIt }) => without.violation ?? withIt.violation;
