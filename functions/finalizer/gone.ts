/** The end of a termination whose object is gone, or not ours any more: its Nodes become subjects of their own, and what may be left behind is reported. */
import { RESOURCES } from '../../shared/contract/resources.ts';
import { addDuration, minutes } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { Turn } from '../../shared/lifecycle/settle.ts';
import { reconcileInstance } from './orphans/reconcile.ts';
import { openNodeRecord, type Look, type Seen, type Target } from './observe.ts';
import { hasBegun, type TerminationRecord } from './record.ts';
import type { TerminationDeps } from './steps/context.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

type Gone = Extract<Seen, { kind: 'gone' }>;

interface Parts {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
}

/**
 * A NodeClaim went before its Nodes did: each of them is from now on terminated by itself, and what was promised for it goes along, so
 * that no hook runs twice and no deadline is lost.
 */
export async function handOver({ deps }: Parts, { value: held, subject }: Gone): Promise<readonly Target[]> {
  const left: Target[] = [];
  const keyUid = held.keyUid ?? subject.uid;
  const value: TerminationRecord = { ...held, ...(keyUid !== undefined && { keyUid }) };
  if (!hasBegun(value) || value.orphanedTime !== undefined || value.unheld === true) return left;
  for (const [uid, { name }] of Object.entries(value.nodes)) {
    const node = objectOf(await deps.kubernetes.get({ type: RESOURCES.Node, name }), { notServed: 'notKnown' });
    if (node?.metadata.uid !== uid || node.metadata.deletionTimestamp === undefined) continue;
    const record = openNodeRecord(deps, uid);
    if ((await record.load()).kind === 'none') {
      const subject = { apiVersion: 'v1', kind: 'Node', name, uid };
      await record.save({ subject, value, wakeTime: addDuration(deps.clock.now(), minutes(1)) });
    }
    left.push({ kind: 'Node', name, uid });
  }
  return left;
}

/**
 * The object went while its termination was under way: somebody took our finalizer off. While its instance runs on and no NodeClaim has
 * it, it is a possible orphan, and the ledger of instances takes over.
 */
export async function close(parts: Parts, { kind, name, uid }: Target, gone: Gone): Promise<void> {
  const { record, value } = gone;
  if (!hasBegun(value)) {
    await record.closeGone();
    return;
  }
  const { providerID, orphanedTime, launchTime } = value;
  const apiVersion = kind === 'Node' ? 'v1' : 'karpenter.sh/v1';
  const object = { apiVersion, kind, name, ...(uid !== undefined && { uid }) };
  const since = orphanedTime ?? parts.deps.clock.now();
  // The ledger first: a run that dies in between finds the entry there.
  const isOrphan =
    providerID !== undefined && (await reconcileInstance(parts, providerID, { left: { object, since, launchTime } }));
  await record.closeGone();
  if (isOrphan || value.unheld === true) return;
  await parts.reporter.report({
    about: { apiVersion, kind, metadata: { name, ...(uid !== undefined && { uid }) } },
    decision: 'close',
    reason: 'SubjectGone',
    message: `${kind} ${name} is gone, its record is closed`,
  });
}

/** Its termination had begun, and nothing of ours holds what is left of it: this run's predecessor let it go, or a person did. */
export const isUnheld = ({ stored, object }: Look): boolean =>
  stored !== undefined && hasBegun(stored) && object.metadata.deletionTimestamp !== undefined;

/**
 * Somebody else's finalizer keeps the object, and nothing of ours does. The record of a NodeClaim is kept until it goes, for what becomes
 * of its instance is known only then; a Node alone ends none. Said first: a run that dies in between says it again (I9).
 */
export async function closeUnheld({ reporter }: Parts, { object, stored, record, now }: Look): Promise<Turn> {
  const { kind, apiVersion, metadata } = object;
  const isKept = kind === 'NodeClaim' && stored?.providerID !== undefined;
  if (stored?.unheld !== true) {
    await reporter.report({
      about: object,
      decision: 'close',
      reason: 'FinalizerGone',
      message: `${kind} ${metadata.name} carries no finalizer of ours any more, ${isKept ? 'its instance is looked at when it goes' : 'its record is closed'}`,
      details: { nodes: Object.values(stored?.nodes ?? {}).map(({ name }) => name) },
    });
  }
  if (!isKept) return record.closeGone();
  const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
  return record.save({ subject, value: { ...stored, unheld: true }, wakeTime: addDuration(now, UNHELD_CHECK) });
}

/** Its event says when it goes; should that be lost, it is found this late (I5). */
const UNHELD_CHECK = minutes(5);
