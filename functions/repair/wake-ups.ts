/**
 * Which timers, events and rounds ask for a pass, and for what. A pool has one pass at a time; requests meanwhile
 * share the next one, and the coalescer keeps them (`shared/lifecycle/coalesce.ts`).
 */
import type { PassAsk, PassDeps } from './context.ts';
import type { RepairAsks } from './rule/pool-facts.ts';
import { isMarked } from './rule/attempt.ts';
import { poolOf } from './rule/node-verdict.ts';
import { answer, type EndedDrain } from './attempt-record.ts';
import { nodeCodec, nodeRecordId, OWNER, poolCodec, poolRecordId } from './record.ts';
import { OWN_BLOCKS } from './settings.ts';
import { getNodeClaimView, getNodeView } from '../../shared/cluster/lists.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { loadPolicySets } from '../../shared/cluster/kept-policies.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { createSayOutOfSight, OUT_OF_SIGHT_CHECK, textOutOfSight } from '../../shared/cluster/out-of-sight.ts';
import { loadCluster } from '../../shared/cluster/owner.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import { definitionNameOf } from '../../shared/custom-resource/out-of-sight.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import * as z from '../../shared/contract/zod.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import { readJson } from '../../shared/domain/json.ts';
import type { KubernetesObject, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { AWS_REPAIR_STATEMENTS, matchStatements, type RepairStatement } from '../../shared/domain/repair-policy.ts';
import { type DurationMs, type EpochMs, parseTimestamp, seconds, toEpochMs } from '../../shared/domain/time.ts';
import { createCoalescer, ROUND_KIND, type RoundAnswer } from '../../shared/lifecycle/coalesce.ts';
import type { Ask, Scopes } from '../../shared/lifecycle/next-round.ts';
import { ofThisVersion } from '../../shared/lifecycle/record-codec.ts';
import { isTimerOf, openRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { createSettingsRounds, type SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import { ofKind, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf, objectsOf, orNotKnown, OutOfSight } from '../../shared/ports/read-answer.ts';

export const nodeSubject = (name: string, uid: string): Subject => ({ apiVersion: 'v1', kind: 'Node', name, uid });

/** Stands for the nodes without a NodePool: no NodePool can have this name. */
const NO_POOL = KARPENTER.nodePoolLabel;

/** What a wake-up for a pass is about. */
export const poolSubject = (name: string | undefined): Subject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  name: name ?? NO_POOL,
});

/** The pool that a wake-up for a pass is about. */
const poolOfSubject = ({ name }: Pick<Subject, 'name'>): string | undefined => (name === NO_POOL ? undefined : name);

export const FOR_POOL: PassAsk = { kind: 'pool' };

const FOR_SETTINGS: PassAsk = { kind: 'settings' };

export const forNode = (uid: string, observedTime?: EpochMs): PassAsk => ({ kind: 'node', uid, observedTime });

const POOL_NAME = 'due';
const SETTINGS_NAME = 'settings';

export function toAsk(ask: PassAsk): Ask {
  switch (ask.kind) {
    case 'pool':
      return { kind: 'scope', name: POOL_NAME };
    case 'settings':
      return { kind: 'scope', name: SETTINGS_NAME };
    case 'node': {
      const { uid, observedTime } = ask;
      return { kind: 'scope', name: observedTime === undefined ? uid : `${uid}@${observedTime}` };
    }
    case 'drainEnd':
      return { kind: 'message', text: JSON.stringify({ uid: ask.uid, ...ask.end }) };
  }
}

const drainEnd = z.object({ uid: z.string(), requestId: z.string(), answer });

function ofAsk(ask: Ask): PassAsk {
  switch (ask.kind) {
    case 'all':
      return FOR_SETTINGS;
    case 'scope': {
      if (ask.name === POOL_NAME) return FOR_POOL;
      if (ask.name === SETTINGS_NAME) return FOR_SETTINGS;
      const [uid = '', time] = ask.name.split('@');
      return forNode(uid, time === undefined ? undefined : toEpochMs(Number(time)));
    }
    case 'message': {
      const { data } = drainEnd.safeParse(readJson(ask.text));
      // Another version wrote it: it may be about any node.
      if (data === undefined) return FOR_SETTINGS;
      const { uid, ...end } = data;
      return { kind: 'drainEnd', uid, end };
    }
  }
}

/** All that a pass is asked for. */
export function readAsks(asks: readonly Ask[]): RepairAsks {
  const uids = new Set<string>();
  const observedTimes = new Map<string, EpochMs>();
  const drainEnds = new Map<string, EndedDrain>();
  let isOfPool = false;
  let isOfSettings = false;
  for (const ask of asks.map(ofAsk)) {
    switch (ask.kind) {
      case 'pool':
        isOfPool = true;
        break;
      case 'settings':
        isOfSettings = true;
        break;
      case 'node': {
        const { uid, observedTime: time } = ask;
        uids.add(uid);
        // By the first of several changes the node became unhealthy.
        if (time !== undefined) observedTimes.set(uid, toEpochMs(Math.min(time, observedTimes.get(uid) ?? time)));
        break;
      }
      case 'drainEnd':
        uids.add(ask.uid);
        drainEnds.set(ask.uid, ask.end);
    }
  }
  const isOfChanges =
    !isOfPool && !isOfSettings && observedTimes.size > 0 && [...uids].every(uid => observedTimes.has(uid));
  const changesTime = isOfChanges ? toEpochMs(Math.max(...observedTimes.values())) : undefined;
  return { uids, observedTimes, changesTime, drainEnds, isOfSettings };
}

/** The shortest time between two passes of one pool. */
export const PASS_SPACING = seconds(1);

export interface Passes {
  /** Ensures that a pass of the pool begins from now on. */
  ask(pool: string | undefined, ask: PassAsk): Promise<void>;
  /** Of the coalescers, which come when a pass waits for its turn or has died, and of the pools' records. */
  readonly timers: readonly WakeUpRoute[];
}

const PREFIX = 'pass/';

/** Nodes without a NodePool have no object to carry the Event. The definition of the kind that is not served carries it. */
const definitionOf = (type: ResourceType): Subject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  name: definitionNameOf(type),
});

/** Whether a pass would do anything: while repair is switched off it ends what was begun. */
async function isMissed(deps: Omit<PassDeps, 'ask'>, pool: string | undefined): Promise<boolean> {
  const { featureGates } = await loadConfig(OWNER, deps);
  return featureGates.nodeRepair || (await isBusy(deps, pool));
}

/** @param run one pass; answers how long the next one waits */
export function createPasses(
  deps: Omit<PassDeps, 'ask'>,
  run: (deps: PassDeps, pool: string | undefined, asks: readonly Ask[]) => Promise<DurationMs>,
): Passes {
  const sayOutOfSight = createSayOutOfSight(deps);
  /** A pass that cannot see a kind by which it would judge is asked for the same again every minute: nobody repeats what it was told. */
  const passOrWait = async (pool: string | undefined, asks: readonly Ask[]): Promise<RoundAnswer> => {
    try {
      return await run({ ...deps, ask }, pool, asks);
    } catch (error) {
      if (!(error instanceof OutOfSight)) throw error;
      if (await isMissed(deps, pool))
        await sayOutOfSight(pool === undefined ? definitionOf(error.type) : poolSubject(pool), textOutOfSight(error));
      return { askAgainAfter: OUT_OF_SIGHT_CHECK };
    }
  };
  const coalescerOf = (pool: string | undefined) =>
    createCoalescer(deps, {
      owner: OWNER,
      name: `${PREFIX}${poolSubject(pool).name}`,
      spacing: PASS_SPACING,
      run: asks => passOrWait(pool, asks),
    });
  const ask = async (pool: string | undefined, what: PassAsk): Promise<void> => {
    await coalescerOf(pool).request(toAsk(what));
  };
  const poolTimerDue = async (pool: string | undefined, wakeUp: UsedWakeUp): Promise<void> => {
    const loaded = await openRecord(deps, poolCodec, poolRecordId(pool)).load();
    if (isTimerOf(loaded, wakeUp, deps.clock.now())) await ask(pool, FOR_POOL);
  };
  return {
    ask,
    timers: [
      {
        takes: ({ kind, name }) => kind === ROUND_KIND && name.startsWith(PREFIX),
        timerDue: wakeUp =>
          coalescerOf(poolOfSubject({ name: wakeUp.subject.name.slice(PREFIX.length) })).timerDue(wakeUp),
      },
      ofKind('NodePool', wakeUp => poolTimerDue(poolOfSubject(wakeUp.subject), wakeUp)),
    ],
  };
}

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'> & { readonly passes: Passes };

/** Rounds after changes of settings; their scopes are NodePools. */
export function settingsRounds(deps: Deps): SettingsRounds {
  return createSettingsRounds(deps, OWNER, async scopes => {
    for (const pool of await concernedPools(deps, scopes)) await deps.passes.ask(pool, FOR_SETTINGS);
    return [];
  });
}

async function concernedPools(deps: Deps, scopes: Scopes): Promise<ReadonlySet<string | undefined>> {
  const [{ nodes, claims }, policies, pools] = await inParallel([
    loadCluster(deps),
    loadPolicies(deps),
    deps.kubernetes.list(RESOURCES.NodePool),
  ]);
  const statements = ownStatements([...policies, ...objectsOf(pools, { notServed: 'none' })]);
  const owners = indexOwners(nodes, claims);
  const unhealthy = nodes
    .filter(node => isSuspicious(node, statements))
    .map(node => poolOf(node, ownerOf(node, owners)));
  return new Set(scopes === 'all' ? unhealthy : scopes);
}

/**
 * Whether a rule may call the node unhealthy: one of the provider, or one of these. One that carries marks of a repair
 * has a record, or the table has lost it.
 */
const isSuspicious = (node: NodeView, statements: readonly RepairStatement[]): boolean =>
  matchStatements(node, AWS_REPAIR_STATEMENTS).length > 0 ||
  matchStatements(node, statements).length > 0 ||
  isMarked(node);

/** As they are in force: also by the last version of one that cannot be read any more. */
async function loadPolicies(deps: Pick<FunctionDeps, 'kubernetes' | 'records'>): Promise<readonly KubernetesObject[]> {
  const [{ policies }] = await loadPolicySets(deps, OWNER, [OWN_BLOCKS]);
  return policies.map(({ object }) => object);
}

/** The conditions of users, in policies and NodePools. */
const ownStatements = (objects: readonly KubernetesObject[]): readonly RepairStatement[] =>
  objects.flatMap(({ spec }) => {
    const block = parseRepairBlock(spec?.['repair'], 'spec.repair');
    return block.ok ? block.value.conditions : [];
  });

/** Those of all policies and of the NodePools of these names. */
async function ownStatementsOf(
  deps: Pick<FunctionDeps, 'kubernetes' | 'records'>,
  names: readonly string[],
): Promise<readonly RepairStatement[]> {
  const [policies, pools] = await inParallel([loadPolicies(deps), loadPools(deps, names)]);
  return ownStatements([...policies, ...pools]);
}

async function loadPools(
  { kubernetes }: Pick<FunctionDeps, 'kubernetes'>,
  names: readonly string[],
): Promise<readonly KubernetesObject[]> {
  const pools = await inParallel(names.map(name => kubernetes.get({ type: RESOURCES.NodePool, name })));
  return pools.flatMap(pool => objectOf(pool, { notServed: 'none' }) ?? []);
}

/**
 * Asks for a pass of the pool that the node is remembered in. False: nothing is remembered of it.
 * @param what of a message that nobody repeats
 */
export async function askIfRemembered(deps: Deps, uid: string | undefined, what?: PassAsk): Promise<boolean> {
  if (uid === undefined) return false;
  const stored = await openRecord(deps, nodeCodec, nodeRecordId(uid)).load();
  const loaded = what === undefined ? stored : ofThisVersion(stored, `node ${uid}`);
  if (loaded.kind === 'known') await deps.passes.ask(loaded.value.pool, what ?? forNode(uid));
  return loaded.kind === 'known';
}

/** A Node changed, came or went. */
export async function askForChange(
  deps: Deps,
  event: Extract<InboxMessage, { kind: 'clusterEvent' }>['event'],
): Promise<void> {
  const { subject, change, changed, hints, resync } = event;
  const { uid, name } = subject;
  const node = change === 'Deleted' ? undefined : await getNodeView(deps, name);
  if (node?.uid !== uid && !(await askIfRemembered(deps, uid))) await askIfBusy(deps, hints.nodePool);
  if (node === undefined) return;
  const isChange = change === 'Modified' && resync !== true && changed.includes('conditions');
  const observedTime = isChange ? parseTimestamp(event.observedTime) : undefined;
  await askForNode(deps, node, { pool: hints.nodePool, observedTime });
}

interface AskContext {
  /** Of the object that changed. */
  readonly pool: string | undefined;
  readonly observedTime?: EpochMs | undefined;
  /** A NodeClaim of the pool names the node. */
  readonly isClaimed?: boolean;
}

/** Asks for a pass of the node's pool when the node is unhealthy by any rule, or known. */
export async function askForNode(
  deps: Deps,
  node: NodeView,
  { pool, observedTime, isClaimed = false }: AskContext,
): Promise<void> {
  const [loaded, pools] = await inParallel([
    openRecord(deps, nodeCodec, nodeRecordId(node.uid)).load(),
    isClaimed ? poolsOf(pool) : poolsOfNode(deps, node),
  ]);
  const isKnown = loaded.kind === 'known';
  if (!isKnown && !(await isConcerned(deps, node, pools))) return askIfBusy(deps, pool);
  const [own] = pools;
  await deps.passes.ask(own, forNode(node.uid, observedTime));
  // A repair ends in the pool in which it began.
  if (isKnown && loaded.value.pool !== own) await deps.passes.ask(loaded.value.pool, forNode(node.uid));
}

/**
 * The conditions of policies are not known while these are not served: of a node that is unhealthy without them the
 * pass says so.
 */
async function isConcerned(
  deps: Pick<FunctionDeps, 'kubernetes' | 'records'>,
  node: NodeView,
  pools: readonly string[],
): Promise<boolean> {
  try {
    return isSuspicious(node, await ownStatementsOf(deps, pools));
  } catch (error) {
    if (!(error instanceof OutOfSight)) throw error;
    if (isSuspicious(node, []) || isSuspicious(node, ownStatements(await loadPools(deps, pools)))) return true;
    throw error;
  }
}

const poolsOf = (...names: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(names.filter(name => name !== undefined)),
];

/**
 * The pools whose rules the node may be judged by: that of its label, and that of the NodeClaim that owns it. The
 * first one is asked, and its pass asks the other where the NodeClaim names that. Where the label says one, a NodeClaim
 * that cannot be read stops nothing.
 */
async function poolsOfNode(deps: Deps, node: NodeView): Promise<readonly string[]> {
  const label = nodePoolOf(node);
  if (node.ownerClaim === undefined) return poolsOf(label);
  const reading = getNodeClaimView(deps, node.ownerClaim);
  const claim = label === undefined ? await reading : await orNotKnown(reading);
  const isRead = claim !== undefined && !('error' in claim);
  return poolsOf(label, isRead ? nodePoolOf(claim) : undefined);
}

/** Asks for a pass where something is held or in flight: a node that came, went or recovered may let others go on. */
export async function askIfBusy(deps: Deps, pool: string | undefined): Promise<void> {
  for (const each of new Set([pool, undefined])) {
    if (await isBusy(deps, each)) await deps.passes.ask(each, FOR_POOL);
  }
}

async function isBusy(deps: Pick<Deps, 'records' | 'wakeUps' | 'clock'>, pool: string | undefined): Promise<boolean> {
  const loaded = await openRecord(deps, poolCodec, poolRecordId(pool)).load();
  if (loaded.kind !== 'known') return false;
  const { counts, inFlight, followed } = loaded.value;
  return counts.held > 0 || Object.keys(inFlight).length > 0 || followed.length > 0;
}
