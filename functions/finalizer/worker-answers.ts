/** The event by which a worker answers a hook or a clean-up: finds what it is about by its key. */
import { oneByOne } from '../../shared/cluster/in-parallel.ts';
import { hookAnswerOf } from '../../shared/contract/hook-answer.ts';
import type { HookAnswer } from '../../shared/domain/hook-answer.ts';
import { TerminalError } from '../../shared/errors.ts';
import { throwIfNewer } from '../../shared/lifecycle/record-codec.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';
import { listNodes } from '../../shared/cluster/lists.ts';
import type { TerminationSubject } from './termination/observe.ts';
import { claimUnderWay } from './termination/hook-owner.ts';
import { hookOwnerUidOf, openTermination, type TerminationRecord } from './termination/record.ts';
import type { TerminationContext } from './termination/context.ts';
import { reconcileTarget } from './termination/reconcile.ts';
import { LEDGER_CODEC } from './objects/record.ts';
import type { ObjectContext } from './objects/context.ts';
import { reconcileObject } from './objects/reconcile.ts';

/** Handles a change of a hook's custom resource. @param key of its call */
export async function reconcileHook(context: TerminationContext, key: string): Promise<void> {
  const [uid = ''] = key.split('/');
  const nothing = new Map<string, HookAnswer>();
  if (!(await reconcileTermination(context, uid, nothing))) await reconcileLeftNodes(context, uid, nothing);
}

/** Looks at the termination of this object. False: there is none. */
async function reconcileTermination(
  context: TerminationContext,
  uid: string,
  answers: ReadonlyMap<string, HookAnswer>,
): Promise<boolean> {
  for (const kind of KINDS) {
    const stored = await openTermination(context.deps, kind, uid).load();
    const loaded = answers.size > 0 ? throwIfNewer(stored, `${kind} ${uid}`) : stored;
    if (loaded.kind !== 'known' || loaded.value.orphanedTime !== undefined) continue;
    const target = await callerOf(context, loaded.value, { kind, name: loaded.stored.subject.name, uid });
    await reconcileTarget(context, target, undefined, answers);
    return true;
  }
  return false;
}

/** Looks at the Nodes that this NodeClaim, which went, has left with its hooks. False: there are none. */
async function reconcileLeftNodes(
  context: TerminationContext,
  uid: string,
  answers: ReadonlyMap<string, HookAnswer>,
): Promise<boolean> {
  const nodes = await leftNodesOf(context, uid, answers.size > 0);
  await oneByOne(nodes, async node => void (await reconcileTarget(context, node, undefined, answers)));
  return nodes.length > 0;
}

/** The Nodes that a NodeClaim which went has left with its hooks. */
async function leftNodesOf(
  { deps }: TerminationContext,
  uid: string,
  isOnlyCopy: boolean,
): Promise<readonly TerminationSubject[]> {
  const nodes: TerminationSubject[] = [];
  for (const { metadata } of await listNodes(deps)) {
    if (metadata.deletionTimestamp === undefined) continue;
    const stored = await openTermination(deps, 'Node', metadata.uid).load();
    const loaded = isOnlyCopy ? throwIfNewer(stored, `Node ${metadata.name}`) : stored;
    if (loaded.kind !== 'known' || loaded.value.hookKeyUid !== uid) continue;
    nodes.push(await callerOf({ deps }, loaded.value, { kind: 'Node', name: metadata.name, uid: metadata.uid }));
  }
  return nodes;
}

/** The subject in whose termination the hooks are called: that of the record, or the NodeClaim that goes on with the calls of its Node. */
async function callerOf(
  { deps }: Pick<TerminationContext, 'deps'>,
  value: TerminationRecord,
  target: TerminationSubject,
): Promise<TerminationSubject> {
  const hookOwnerUid = hookOwnerUidOf(value);
  const claim = hookOwnerUid === undefined ? undefined : await claimUnderWay(deps, hookOwnerUid);
  return claim === undefined ? target : { kind: 'NodeClaim', name: claim.name, uid: claim.uid };
}

const KINDS = ['NodeClaim', 'Node'] as const satisfies readonly TerminationSubject['kind'][];

/**
 * Handles a worker's answer by its key alone, which was made of the object's UID and the name of the hook or FinalizerRule. An answer that cannot
 * be read is a failure of its hook or clean-up; without a key nobody can be told, and `TerminalError` parks the message.
 */
export async function reconcileAnswer(
  context: TerminationContext & ObjectContext,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { key } = detail;
  const [, uid, name] = (typeof key === 'string' ? /^([^/]+)\/(.+)$/.exec(key) : null) ?? [];
  if (uid === undefined || name === undefined) {
    throw new TerminalError('InvalidMessage', 'detail of TerminationHookAnswered: key: must be the key of the call');
  }
  const answer = hookAnswerOf(detail, 'the worker');
  const answers = new Map([[name, answer]]);
  if (await reconcileTermination(context, uid, answers)) return;
  const loaded = throwIfNewer(await openRecord(context.deps, LEDGER_CODEC, `object/${uid}`).load(), `object ${uid}`);
  if (loaded.kind === 'known') {
    return reconcileObject(context, loaded.stored.subject, undefined, { ...answer, rule: name });
  }
  if (await reconcileLeftNodes(context, uid, answers)) return;
  await context.reporter.report({
    about: { apiVersion: '', kind: 'TerminationHook', metadata: { name, uid } },
    decision: 'ignore',
    reason: 'NothingWaits',
    message: `an answer to ${name} came for an object that nothing waits for any more`,
  });
}
