/** What becomes of a termination whose object went: its Nodes are terminated by themselves, and what may be left behind is said. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { TERMINATION_METRICS } from '../../shared/contract/metrics.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { addDuration, hours, isDue, minutes, toTimestamp } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { providerIDOf } from './objects.ts';
import { openNodeRecord, type Seen, type Target } from './observe.ts';
import type { TerminationRecord } from './record.ts';
import type { TerminationDeps } from './steps/context.ts';
import { isGone } from './steps/instance.ts';

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
  if (value.observed === true || value.orphanedTime !== undefined) return left;
  for (const [uid, { name }] of Object.entries(value.nodes)) {
    const node = await deps.kubernetes.get({ type: RESOURCES.Node, name });
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

/** A possible orphan is looked at this often, until its instance is gone. */
const ORPHAN_CHECK = hours(24);

/**
 * The object went while its termination was under way: somebody took our finalizer off. While its instance runs on and no NodeClaim has
 * it, it is a possible orphan: said once a day, and kept in its record.
 */
export async function close({ deps, reporter }: Parts, { kind, name, uid }: Target, gone: Gone): Promise<void> {
  const { record, value, subject } = gone;
  // Nothing had begun.
  if (value.observed === true) {
    await record.closeGone();
    return;
  }
  const { providerID } = value;
  const state = providerID === undefined ? undefined : (await deps.instances.describe(providerID))?.state;
  const about = {
    apiVersion: kind === 'Node' ? 'v1' : 'karpenter.sh/v1',
    kind,
    metadata: { name, ...(uid !== undefined && { uid }) },
  };
  const isLeft = !isGone(state) && state !== 'shutting-down';
  if (!isLeft || (value.orphanedTime !== undefined && (await hasClaim(deps, providerID)))) {
    await record.closeGone();
    await reporter.report({
      about,
      decision: 'close',
      reason: 'SubjectGone',
      message: `${kind} ${name} is gone, its record is closed`,
    });
    return;
  }
  const now = deps.clock.now();
  const orphanedTime = value.orphanedTime ?? now;
  const saved = await record.save({
    subject,
    value: { ...value, orphanedTime },
    wakeTime: addDuration(now, ORPHAN_CHECK),
  });
  const isNews = value.orphanedTime === undefined || isDue(now, addDuration(value.orphanedTime, hours(1)));
  if (!saved.written || !isNews) return;
  await reporter.report({
    about,
    decision: 'orphan',
    reason: EVENT_REASONS.possibleOrphan,
    message: `${kind} ${name} went before its termination was over, and instance ${providerID ?? ''} is ${state ?? ''}: the finalizer was taken off by somebody else`,
    details: { providerID: providerID ?? null, state: state ?? null, since: toTimestamp(orphanedTime) },
    metric: { name: TERMINATION_METRICS.possibleOrphan },
    event: { type: 'Warning' },
  });
}

/** A NodeClaim that has the instance by now ends it. */
async function hasClaim({ kubernetes }: TerminationDeps, providerID: string | undefined): Promise<boolean> {
  const claims = (await kubernetes.list(RESOURCES.NodeClaim)) ?? [];
  return claims.some(claim => providerIDOf(claim) === providerID);
}
