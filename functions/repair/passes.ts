/** The passes of pools: one at a time for each, spaced, many requests in one (`shared/lifecycle/coalesce.ts`). */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { loadCluster } from '../../shared/cluster/owner.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { RepairStatement } from '../../shared/domain/repair-policy.ts';
import { type EpochMs, isDue } from '../../shared/domain/time.ts';
import { ROUND_KIND, createCoalescer } from '../../shared/lifecycle/coalesce.ts';
import type { Scopes } from '../../shared/lifecycle/next-round.ts';
import { type UsedWakeUp, openRecord } from '../../shared/lifecycle/timed-record.ts';
import { ofKind, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import { createSettingsRounds, type SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';
import {
  ANY,
  nodeAsk,
  OWNER,
  nodeCodec,
  nodeRecordId,
  poolCodec,
  poolOfSubject,
  poolRecordId,
  poolSubject,
} from './rule/codec.ts';
import type { PassDeps } from './deps.ts';
import { poolOf } from './rule/node-verdict.ts';
import { isSuspicious, readClaim } from './observe.ts';
import { runPass } from './pass.ts';
import { PASS_SPACING } from './rule/times.ts';

export interface Passes {
  /** Sees to it that a pass of the pool looks from now on. @param ask what for: `ANY` or `nodeAsk` of `rule/codec.ts` */
  ask(pool: string | undefined, ask: string): Promise<void>;
  /** Of the coalescers, which come when a pass waits for its turn or has died, and of the pools' records. */
  readonly timers: readonly WakeUpRoute[];
}

const PREFIX = 'pass/';

export function createPasses(deps: PassDeps): Passes {
  const coalescerOf = (pool: string | undefined) =>
    createCoalescer(deps, {
      owner: OWNER,
      name: `${PREFIX}${poolSubject(pool).name}`,
      spacing: PASS_SPACING,
      run: scopes => runPass({ ...deps, ask }, pool, scopes),
    });
  const ask = async (pool: string | undefined, what: string): Promise<void> => {
    await coalescerOf(pool).request([what]);
  };
  const poolTimerDue = async (pool: string | undefined, wakeUp: UsedWakeUp): Promise<void> => {
    const loaded = await openRecord(deps, poolCodec, poolRecordId(pool)).load();
    // Each pass sets the timer anew. A wake-up of an earlier setting would start one more chain of passes, for good.
    const armed = loaded.kind === 'known' ? loaded.stored.nextWakeTime : undefined;
    const isDueNow = armed === wakeUp.wakeTime || (armed !== undefined && isDue(deps.clock.now(), armed));
    if (loaded.kind === 'known' && isDueNow) await ask(pool, ANY);
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
    for (const pool of await concernedPools(deps, scopes)) await deps.passes.ask(pool, ANY);
    return [];
  });
}

async function concernedPools(deps: Deps, scopes: Scopes): Promise<ReadonlySet<string | undefined>> {
  const [{ nodes, claims }, statements] = await inParallel([loadCluster(deps), ownStatementsOf(deps)]);
  const owners = indexOwners(nodes, claims);
  const ill = nodes.filter(node => isSuspicious(node, statements)).map(node => poolOf(node, ownerOf(node, owners)));
  return new Set(scopes === 'all' ? ill : scopes);
}

/** The conditions of users, in policies and NodePools. */
async function ownStatementsOf({ kubernetes }: Pick<FunctionDeps, 'kubernetes'>): Promise<readonly RepairStatement[]> {
  const [policies, pools] = await inParallel([
    kubernetes.list(RESOURCES.NodeLifecyclePolicy),
    kubernetes.list(RESOURCES.NodePool),
  ]);
  return [...objectsOf(policies, { notServed: 'notKnown' }), ...objectsOf(pools, { notServed: 'none' })].flatMap(
    ownStatements,
  );
}

function ownStatements({ spec }: KubernetesObject): readonly RepairStatement[] {
  const block = parseRepairBlock(spec?.['repair'], 'spec.repair');
  return block.ok ? block.value.conditions : [];
}

interface Why {
  /** Of the object that changed. */
  readonly pool: string | undefined;
  readonly observedTime?: EpochMs | undefined;
  /** A NodeClaim of the pool names the node. */
  readonly isClaimed?: boolean;
}

/** Asks for a pass of the node's pool when the node is ill by any rule, or known. */
export async function askForNode(
  deps: Deps,
  node: NodeView,
  { pool, observedTime, isClaimed = false }: Why,
): Promise<void> {
  const [loaded, statements] = await inParallel([
    openRecord(deps, nodeCodec, nodeRecordId(node.uid)).load(),
    ownStatementsOf(deps),
  ]);
  const isKnown = loaded.kind === 'known';
  if (!isKnown && !isSuspicious(node, statements)) return askIfKnown(deps, pool);
  const ask = nodeAsk(node.uid, observedTime);
  const own = isClaimed ? pool : await poolOfNode(deps, node);
  await deps.passes.ask(own, ask);
  // What was begun in another pool ends there.
  if (isKnown && loaded.value.pool !== own) await deps.passes.ask(loaded.value.pool, nodeAsk(node.uid));
}

/** That of the NodeClaim which owns it, else of its label. */
async function poolOfNode(deps: Deps, node: NodeView): Promise<string | undefined> {
  const label = nodePoolOf(node);
  if (label !== undefined || node.ownerClaim === undefined) return label;
  const claim = await readClaim(deps, node.ownerClaim);
  return claim && nodePoolOf(claim);
}

/** A node that came, went or recovered may let others go on: a pass, where something of the pool is held or in flight. */
export async function askIfKnown(deps: Deps, pool: string | undefined): Promise<void> {
  for (const each of new Set([pool, undefined])) {
    const loaded = await openRecord(deps, poolCodec, poolRecordId(each)).load();
    if (loaded.kind !== 'known') continue;
    const { counts, inFlight, followed } = loaded.value;
    const isAnything = counts.held > 0 || Object.keys(inFlight).length > 0 || followed.length > 0;
    if (isAnything) await deps.passes.ask(each, ANY);
  }
}
