/** What a pass sees before it decides: the pool's record and rules, its nodes with what is remembered of them, and the cluster where guards count it. */
import { isDeepStrictEqual } from 'node:util';
import { fewAtATime, inParallel } from '../../shared/cluster/in-parallel.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { activity } from '../../shared/contract/budget-schedule.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { TERMINATION_TIMESTAMP_ANNOTATION, type NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import { type NodeView, readNode } from '../../shared/domain/node.ts';
import { AWS_REPAIR_STATEMENTS, matchStatements, statementsOf } from '../../shared/domain/repair-policy.ts';
import { addDuration, isDue, minutes, seconds } from '../../shared/domain/time.ts';
import { type TimedRecord, openRecord } from '../../shared/lifecycle/timed-record.ts';
import { basisOf as basisOfValues } from '../../shared/lifecycle/refusals.ts';
import { objectOf, objectsOf, orNotKnown } from '../../shared/ports/read-answer.ts';
import { remediationAnswer } from './actions/made-resources.ts';
import { type Asked, nodeAsk, nodeCodec, nodeRecordId, poolCodec, poolRecordId } from './rule/codec.ts';
import { newNode, settledTime } from './rule/attempt.ts';
import { intoNode, isSettledBy } from './rule/carry-over.ts';
import type { PassWithAsk } from './deps.ts';
import { lookAtGone } from './rule/follow.ts';
import { type Surroundings, surroundingsOf } from './rule/guards.ts';
import { rungsOf } from './rule/ladder.ts';
import {
  type ClusterNodes,
  type PoolRules,
  loadAskedOfOthers,
  loadClusterNodes,
  loadPoolView,
  loadRules,
} from './observe.ts';
import { readableSettings } from './rule/node-verdict.ts';
import type { LookContext } from './rule/judged-node.ts';
import { NEW_POOL, type NodeRecord, type PoolRecord } from './rule/record.ts';
import type { DecisionScope } from './report.ts';
import { dueOf, wasWithoutOwner } from './rule/turn.ts';
import type { NodeLook } from './rule/verdict.ts';

/** What is remembered of a node, and whether an earlier version wrote it. */
interface HeldNode {
  readonly value: NodeRecord;
  readonly isOld: boolean;
}

export interface PassObservation {
  readonly pool: string | undefined;
  readonly rules: PoolRules;
  readonly scope: DecisionScope;
  readonly state: PoolRecord;
  readonly record: TimedRecord<PoolRecord>;
  /** There was a record. */
  readonly isKnown: boolean;
  /** Of the pool. */
  readonly nodes: readonly NodeView[];
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  readonly held: ReadonlyMap<string, HeldNode>;
  readonly recordOf: (uid: string) => TimedRecord<NodeRecord>;
  /** An earlier version wrote it, or it is about to be forgotten. */
  readonly isOld: (uid: string) => boolean;
  readonly looks: readonly NodeLook[];
  /** All nodes; undefined: nothing is due that they are counted for. */
  readonly cluster: ClusterNodes | undefined;
  readonly surroundings: Surroundings | undefined;
  readonly asked: ReadonlyMap<string, string>;
  readonly basisOf: (claim: NodeClaimView | undefined) => string;
}

/** `newer`: a later version of this function keeps the pool. `nothing`: the pool has neither rules nor anything that is remembered. */
export async function look(
  deps: PassWithAsk,
  pool: string | undefined,
  asks: Asked,
): Promise<PassObservation | 'newer' | 'nothing'> {
  const record = openRecord(deps, poolCodec, poolRecordId(pool));
  const [loaded, rules, view] = await inParallel([record.load(), loadRules(deps, pool), loadPoolView(deps, pool)]);
  if (loaded.kind === 'newer') return 'newer';
  const state = loaded.kind === 'known' ? loaded.value : NEW_POOL;
  const settings = readableSettings(rules.rules);
  const owners = indexOwners(view.nodes, view.claims);
  const claims = new Map(view.claims.map(claim => [claim.uid, claim]));
  const own = view.nodes.filter(node => ownsNode(node, pool, view.claims));
  const statements = settings === undefined ? AWS_REPAIR_STATEMENTS : statementsOf(settings);
  const ill = own.filter(node => matchStatements(node, statements).length > 0);
  const remembered = await readNodes(deps, own, { ill, state, asks });
  if (remembered === 'newer') return 'newer';
  const { recordOf, records } = remembered;
  const carried = carryOver(state, records, own, rules);
  await inquire(deps, records, own);

  const now = deps.clock.now();
  const basisOf = (claim: NodeClaimView | undefined): string =>
    basisOfValues([
      // Each try sets this one, and takes it back.
      claim && { ...claim.annotations, [TERMINATION_TIMESTAMP_ANNOTATION]: undefined },
      claim?.finalizers,
      rules.pool?.spec,
      rules.policies.policies.map(({ object }) => object.spec),
    ]);
  const base: Omit<LookContext, 'owners' | 'asked'> = {
    now,
    pool,
    rules: rules.rules,
    claims,
    observedTimes: asks.observedTimes,
    changesTime: asks.changesTime,
    drainEnds: asks.drainEnds,
    basisOf,
    nodesByName: new Map(own.map(node => [node.name, node])),
    launchesFrom: state.launchPause?.until,
  };
  const found = own.filter(node => records.has(node.uid) || ill.includes(node) || asks.uids.has(node.uid));
  const handed = await handOver(deps, { pool, own: found, records, claims: view.claims, asks });
  const judged = found.filter(({ uid }) => !handed.has(uid));
  const lookIn = (context: LookContext, node: NodeView): NodeLook =>
    deps.lookAt(context, node, records.get(node.uid)?.value);
  const nothingAsked: ReadonlyMap<string, string> = new Map();
  let looks: readonly NodeLook[] = judged.map(node => lookIn({ ...base, owners, asked: nothingAsked }, node));
  const isDueNow = looks.some(look => dueOf(look) !== undefined);
  const countsAll =
    pool === undefined ||
    settings?.freeze !== undefined ||
    settings?.zoneOutage !== undefined ||
    rules.rules.limits !== undefined;
  const [cluster, asked] = isDueNow
    ? await inParallel([countsAll ? loadClusterNodes(deps, rules) : undefined, loadAskedOfOthers(deps, now)])
    : [undefined, nothingAsked];
  if (isDueNow) {
    const all = cluster === undefined ? owners : indexOwners(withAll(cluster.nodes, own), view.claims);
    // Nothing else of what was read since is about a single node: the others are judged already.
    looks = looks.map(each => {
      const { view: node } = each;
      if (node === undefined) return each;
      const isNews = asked.has(node.name) || !isDeepStrictEqual(ownerOf(node, all), ownerOf(node, owners));
      return isNews ? lookIn({ ...base, owners: all, asked }, node) : each;
    });
  }
  looks = await withoutReplaced(deps, looks, records);
  const gone = await lookAtMissing(deps, { pool, own, records, base: { ...base, owners, asked } });
  const surroundings =
    settings &&
    surroundingsOf({
      pool,
      settings,
      own,
      claims: view.claims,
      cluster,
      state,
      now,
      nodePool: rules.pool,
      looks,
      activity,
    });
  const scope: DecisionScope = { pool, source: rules.rules.source, settings: rules.rules.settings };
  if (loaded.kind === 'none' && looks.length === 0 && gone.length === 0) return 'nothing';
  return {
    pool,
    rules,
    scope,
    state: { ...state, carried },
    record,
    isKnown: loaded.kind === 'known',
    nodes: own,
    claims,
    held: records,
    recordOf,
    isOld: uid => records.get(uid)?.isOld === true,
    looks: [...looks, ...gone],
    cluster,
    surroundings,
    asked,
    basisOf,
  };
}

/** Nodes and NodeClaims are listed one after the other: a node that nobody seems to claim may be another one by now. */
async function withoutReplaced(
  deps: PassWithAsk,
  looks: readonly NodeLook[],
  records: ReadonlyMap<string, HeldNode>,
): Promise<readonly NodeLook[]> {
  const gone = new Set<string>();
  const isDoubtful = ({ verdict }: NodeLook): boolean =>
    verdict?.kind === 'unclaimed' || (verdict?.kind === 'blocked' && verdict.reason === 'AmbiguousNodeClaim');
  const isNews = (look: NodeLook): boolean => isDoubtful(look) && !wasWithoutOwner(look.record);
  await fewAtATime(looks.filter(isNews), async ({ node: { name, uid } }) => {
    const object = objectOf(await deps.kubernetes.get({ type: RESOURCES.Node, name }), { notServed: 'notKnown' });
    if (object?.metadata.uid !== uid) gone.add(uid);
  });
  const soon = addDuration(deps.clock.now(), seconds(1));
  return looks.map(look =>
    gone.has(look.node.uid)
      ? { ...look, record: records.get(look.node.uid)?.value, verdict: undefined, time: soon }
      : look,
  );
}

/** A node of the pool by its NodeClaim; its own label counts only while no other pool's NodeClaim names it. */
function ownsNode(node: NodeView, pool: string | undefined, claims: readonly NodeClaimView[]): boolean {
  return (
    nodePoolOf(node) === pool ||
    claims.some(({ nodeName, providerID }) => nodeName === node.name && providerID === node.providerID)
  );
}

const withAll = (all: readonly NodeView[], own: readonly NodeView[]): readonly NodeView[] => {
  const known = new Set(all.map(({ uid }) => uid));
  return [...all, ...own.filter(({ uid }) => !known.has(uid))];
};

/** The records of the nodes that are ill, in flight, or asked for. */
async function readNodes(
  deps: PassWithAsk,
  own: readonly NodeView[],
  { ill, state, asks }: { readonly ill: readonly NodeView[]; readonly state: PoolRecord; readonly asks: Asked },
) {
  const wanted = new Set([
    ...ill.map(({ uid }) => uid),
    ...Object.keys(state.inFlight),
    ...state.followed,
    ...asks.uids,
    ...(state.carried ?? []).map(({ node }) => node.uid),
  ]);
  const names = new Map(own.map(({ uid, name }) => [uid, name]));
  const open = new Map<string, TimedRecord<NodeRecord>>();
  const recordOf = (uid: string): TimedRecord<NodeRecord> => {
    const record = open.get(uid) ?? openRecord(deps, nodeCodec, nodeRecordId(uid));
    open.set(uid, record);
    return record;
  };
  const records = new Map<string, HeldNode>();
  let isNewer = false;
  await fewAtATime([...wanted], async uid => {
    const loaded = await recordOf(uid).load();
    if (loaded.kind === 'newer') isNewer = true;
    if (loaded.kind !== 'known') return;
    const name = names.get(uid) ?? loaded.stored.subject.name;
    const { schemaVersion } = loaded.stored.state;
    const wakeTime = loaded.stored.nextWakeTime;
    const isOld =
      schemaVersion !== nodeCodec.schemaVersion || wakeTime === undefined || isDue(deps.clock.now(), wakeTime);
    records.set(uid, { value: { ...loaded.value, name }, isOld });
  });
  return isNewer ? 'newer' : { recordOf, records };
}

/** What the pool's record knew of its nodes in earlier versions goes into theirs; answers what stays, for want of readable settings. */
function carryOver(
  { carried }: PoolRecord,
  records: Map<string, HeldNode>,
  own: readonly NodeView[],
  { rules }: PoolRules,
): PoolRecord['carried'] {
  if (carried === undefined) return undefined;
  const settings = readableSettings(rules);
  const present = new Set(own.map(({ uid }) => uid));
  const left = carried.filter(each => !isSettledBy(each, present));
  if (settings === undefined) return left.length === 0 ? undefined : left;
  for (const each of left) {
    const { uid, name } = each.node;
    const known = records.get(uid)?.value ?? newNode(name, undefined);
    records.set(uid, {
      value: intoNode(known, each, rungsOf(settings)),
      isOld: true,
    });
  }
  return undefined;
}

/** EC2 did not say what became of an instance: it is asked again after this long. */
const UNKNOWN_INSTANCE_CHECK = minutes(5);

/** What is asked about attempts where Node and NodeClaim do not tell: the live answer before each pass. */
async function inquire(deps: PassWithAsk, records: Map<string, HeldNode>, own: readonly NodeView[]): Promise<void> {
  const providerIDs = new Map(own.map(({ uid, providerID }) => [uid, providerID]));
  await fewAtATime([...records], async ([uid, held]) => {
    const { attempt, ours } = held.value;
    if (attempt === undefined) return;
    const now = deps.clock.now();
    const note = (change: Partial<NodeRecord>): void =>
      void records.set(uid, { ...held, value: { ...held.value, ...change } });
    if (attempt.action === 'CustomResource' && attempt.phase === 'accepted' && attempt.answer === undefined) {
      const answer = await remediationAnswer(deps, ours ?? {});
      if (answer !== undefined) note({ attempt: { ...attempt, answer } });
      return;
    }
    const isOpen = attempt.phase === 'intended' && isDue(now, settledTime(attempt));
    const providerID = providerIDs.get(uid);
    if (attempt.action !== 'Terminate' || attempt.claim !== undefined || !isOpen || providerID === undefined) return;
    const found = await orNotKnown(deps.instances.describe(providerID));
    // Nobody knows, and nothing is repeated (I4): it is asked again, and the other repairs of the pool go on.
    if (found !== undefined && 'kind' in found)
      return note({ attempt: { ...attempt, askTime: addDuration(now, UNKNOWN_INSTANCE_CHECK) } });
    const isEnding = found === undefined || found.state === 'shutting-down' || found.state === 'terminated';
    if (isEnding) note({ attempt: { ...attempt, phase: 'accepted' } });
  });
}

interface Missing {
  readonly pool: string | undefined;
  readonly own: readonly NodeView[];
  readonly records: ReadonlyMap<string, HeldNode>;
  readonly base: LookContext;
}

/** What is remembered of nodes that are not among those of the pool: they are gone, or another pool's by now. */
async function lookAtMissing(deps: PassWithAsk, { pool, own, records, base }: Missing): Promise<readonly NodeLook[]> {
  const present = new Set(own.map(({ uid }) => uid));
  const looks: NodeLook[] = [];
  await fewAtATime(
    [...records].filter(([uid]) => !present.has(uid)),
    async ([uid, { value }]) => {
      const object = objectOf(await deps.kubernetes.get({ type: RESOURCES.Node, name: value.name }), {
        notServed: 'notKnown',
      });
      if (object?.metadata.uid !== uid) return void looks.push(lookAtGone({ uid, held: value }, base));
      const other = await poolNow(deps, readNode(object));
      if (other !== pool) await deps.ask(other, nodeAsk(uid));
    },
  );
  return looks;
}

async function poolNow(deps: PassWithAsk, node: NodeView): Promise<string | undefined> {
  const claims = await orNotKnown(deps.kubernetes.list(RESOURCES.NodeClaim));
  if ('error' in claims) return nodePoolOf(node);
  const claim = objectsOf(claims, { notServed: 'none' }).find(each => each.status?.['nodeName'] === node.name);
  return claim === undefined ? nodePoolOf(node) : nodePoolOf({ labels: claim.metadata.labels ?? {} });
}

/** Nodes without a NodeClaim of the pool that it has nothing to do with yet: one of another pool, or of none, may name them. Answers the UIDs of those. */
async function handOver(
  deps: PassWithAsk,
  {
    pool,
    own,
    records,
    claims,
    asks,
  }: {
    readonly pool: string | undefined;
    readonly own: readonly NodeView[];
    readonly records: ReadonlyMap<string, HeldNode>;
    readonly claims: readonly NodeClaimView[];
    readonly asks: Asked;
  },
): Promise<ReadonlySet<string>> {
  const handed = new Set<string>();
  const index = indexOwners(own, claims);
  const isKnown = (uid: string): boolean => {
    const held = records.get(uid)?.value;
    // What was begun here ends here.
    return held !== undefined && (held.pool === pool || held.attempt !== undefined);
  };
  const strays = own.filter(
    node => !isKnown(node.uid) && node.providerID !== undefined && ownerOf(node, index).kind === 'none',
  );
  if (strays.length === 0) return handed;
  const listed = objectsOf(await deps.kubernetes.list(RESOURCES.NodeClaim), { notServed: 'none' });
  for (const stray of strays) {
    const claim = listed.find(
      each => each.status?.['nodeName'] === stray.name && each.status['providerID'] === stray.providerID,
    );
    const other = claim && nodePoolOf({ labels: claim.metadata.labels ?? {} });
    if (claim === undefined || other === pool) continue;
    handed.add(stray.uid);
    await deps.ask(other, nodeAsk(stray.uid, asks.observedTimes.get(stray.uid)));
  }
  return handed;
}
