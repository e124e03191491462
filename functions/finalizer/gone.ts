/** What becomes of a termination whose object went: its Nodes are terminated by themselves, and what may be left behind is said. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { TERMINATION_METRICS } from '../../shared/contract/metrics.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { addDuration, minutes } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { Turn } from '../../shared/lifecycle/settle.ts';
import { openNodeRecord, type Target } from './observe.ts';
import type { TerminationRecord } from './record.ts';
import type { TerminationDeps } from './steps/context.ts';
import { isGone } from './steps/instance.ts';

interface Parts {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
}

/**
 * A NodeClaim went before its Nodes did: each of them is from now on terminated by itself, and what was promised for it goes along, so
 * that no hook runs twice and no deadline is lost.
 */
export async function handOver({ deps }: Parts, value: TerminationRecord): Promise<readonly Target[]> {
  const left: Target[] = [];
  if (value.observed === true) return left;
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

/** The object went while its termination was under way: somebody took our finalizer off. What it stood for may be left behind. */
export async function close(
  { deps, reporter }: Parts,
  { kind, name, uid }: Target,
  { record, value }: { readonly record: { closeGone(): Promise<Turn> }; readonly value: TerminationRecord },
): Promise<void> {
  // Nothing had begun.
  if (value.observed === true) {
    await record.closeGone();
    return;
  }
  const { providerID } = value;
  const state = providerID === undefined ? undefined : (await deps.instances.describe(providerID))?.state;
  const isLeft = !isGone(state) && state !== 'shutting-down';
  const about = {
    apiVersion: kind === 'Node' ? 'v1' : 'karpenter.sh/v1',
    kind,
    metadata: { name, ...(uid !== undefined && { uid }) },
  };
  if (isLeft) {
    await reporter.report({
      about,
      decision: 'orphan',
      reason: EVENT_REASONS.possibleOrphan,
      message: `${kind} ${name} went before its termination was over, and instance ${providerID ?? ''} is ${state ?? ''}: the finalizer was taken off by somebody else`,
      details: { providerID: providerID ?? null, state: state ?? null },
      metric: { name: TERMINATION_METRICS.possibleOrphan },
      event: { type: 'Warning' },
    });
  } else {
    await reporter.report({
      about,
      decision: 'close',
      reason: 'SubjectGone',
      message: `${kind} ${name} is gone, its record is closed`,
    });
  }
  await record.closeGone();
}
