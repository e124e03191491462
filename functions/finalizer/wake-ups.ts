/**
 * Wake-ups after a change elsewhere: of the terminations under way, and of NodeClaims and Nodes that new settings give a finalizer or take it
 * from. A burst of changes costs one round (`shared/policies/rounds.ts`).
 */
import { OWNER } from './common/context.ts';
import { providerIDOf } from './common/instances.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { listNodeClaims, listNodes } from '../../shared/cluster/lists.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { loadPolicySets } from '../../shared/cluster/kept-policies.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { subjectOf, type KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readNodeClaim } from '../../shared/domain/node-claim.ts';
import { seconds, type EpochMs } from '../../shared/domain/time.ts';
import type { RoundTargets } from '../../shared/lifecycle/next-round.ts';
import { createRounds, type Rounds } from '../../shared/policies/rounds.ts';
import { createSettingsRounds, type SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { decide } from './termination/decide.ts';
import { isLive, toTerminatedClaim, toTerminatedObject } from './termination/rule/objects.ts';
import { loadPool } from '../../shared/cluster/known-pool.ts';
import { effectiveTermination, TERMINATION_BLOCK, type EffectiveTermination } from './termination/settings.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** Objects that are not served count as none: they look again by their own timers. */
const NONE_IF_NOT_SERVED = { ifNotServed: 'empty' } as const;

/** Rounds after changes of settings; their targets are NodePools. */
export function settingsRounds(deps: Deps): SettingsRounds {
  return createSettingsRounds(deps, OWNER, targets => affectedBySettings(deps, targets));
}

/** Rounds for the terminations under way: a PodDisruptionBudget may have opened, a Node may be gone. They have no targets. */
export function terminationRounds(deps: Deps): Rounds {
  return createRounds(deps, {
    owner: OWNER,
    name: 'terminations',
    spacing: seconds(1),
    async findAffected() {
      const [claims, nodes] = await inParallel([listNodeClaims(deps, NONE_IF_NOT_SERVED), listNodes(deps)]);
      return [...claims, ...nodes].filter(isTerminating).map(subjectOf);
    },
  });
}

const isTerminating = (object: KubernetesObject): boolean => !isLive(object);

/** The objects for which the rule asks for something under the settings as they are, and those that are terminating. */
async function affectedBySettings(deps: Deps, targets: RoundTargets): Promise<readonly Subject[]> {
  const [claims, nodes] = await inParallel([listNodeClaims(deps, NONE_IF_NOT_SERVED), listNodes(deps)]);
  const groups = toGroups(claims, nodes).filter(
    ({ pool }) => targets === 'all' || (pool !== undefined && targets.includes(pool)),
  );
  const settings = await loadSettings(deps, new Set(groups.map(({ pool }) => pool)));
  const now = deps.clock.now();
  return groups.flatMap(group => {
    const termination = settings.get(group.pool);
    return termination !== undefined && isAffected(group, termination, now) ? subjectsOf(group) : [];
  });
}

/** Objects that are judged together: a NodeClaim with the Nodes of its instance, or a Node that no single NodeClaim stands for. */
interface JudgedGroup {
  readonly claim: KubernetesObject | undefined;
  readonly nodes: readonly KubernetesObject[];
  readonly pool: string | undefined;
}

function toGroups(claims: readonly KubernetesObject[], nodes: readonly KubernetesObject[]): readonly JudgedGroup[] {
  const claimsOf = Map.groupBy(claims, providerIDOf);
  const nodesOf = Map.groupBy(nodes, providerIDOf);
  const isAlone = (providerID: string | undefined): boolean =>
    providerID !== undefined && claimsOf.get(providerID)?.length === 1;
  const ofClaims = claims.map((claim): JudgedGroup => {
    const providerID = providerIDOf(claim);
    return {
      claim,
      nodes: isAlone(providerID) ? (nodesOf.get(providerID) ?? []) : [],
      pool: nodePoolOf(claim.metadata),
    };
  });
  const lone = nodes.filter(node => !isAlone(providerIDOf(node)));
  return [...ofClaims, ...lone.map(node => ({ claim: undefined, nodes: [node], pool: nodePoolOf(node.metadata) }))];
}

function isAffected({ claim, nodes }: JudgedGroup, settings: EffectiveTermination, now: EpochMs): boolean {
  const objects = [...(claim === undefined ? [] : [claim]), ...nodes];
  if (objects.some(isTerminating)) return true;
  const decision = decide({
    now,
    claim: claim && toTerminatedClaim(claim),
    nodes: nodes.map(toTerminatedObject),
    settings,
    storedDeadline: undefined,
    isDeadlineTakenBack: false,
    isStartReported: false,
    storedNames: [],
  });
  return decision.kind === 'prepare';
}

/** A NodeClaim leads to the Node that it names, and every other Node to its NodeClaim. */
function subjectsOf({ claim, nodes }: JudgedGroup): readonly Subject[] {
  const named = claim && readNodeClaim(claim).nodeName;
  return [...(claim === undefined ? [] : [claim]), ...nodes.filter(({ metadata }) => metadata.name !== named)].map(
    subjectOf,
  );
}

async function loadSettings(
  deps: Deps,
  pools: ReadonlySet<string | undefined>,
): Promise<ReadonlyMap<string | undefined, EffectiveTermination>> {
  const [policies] = await loadPolicySets(deps, OWNER, [TERMINATION_BLOCK]);
  const settingsByPool = new Map<string | undefined, EffectiveTermination>();
  for (const pool of pools) settingsByPool.set(pool, effectiveTermination(await loadPool(deps, pool), policies));
  return settingsByPool;
}
