/** Finds the nodes of a pool that count as in flight, and since when. Pure. */
import type { PoolRecord } from '../pool-record.ts';
import { hasTrait, type NodeFinding } from './finding.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, type EpochMs, isDue } from '../../../shared/domain/time.ts';

/** UIDs of nodes with an attempt under way, and of nodes on which a run that may still be at work set out to act. */
export function inFlightOf(findings: readonly NodeFinding[], state: PoolRecord, now: EpochMs): ReadonlySet<string> {
  const isBegun = (finding: NodeFinding): boolean => {
    const since = begunTime(finding, state);
    if (since === undefined || hasTrait(finding.verdict, 'awaitsNoRun')) return false;
    return !isDue(now, addDuration(since, RUN_ENDS_WITHIN));
  };
  const counted = findings.filter(finding => finding.state === 'inFlight' || isBegun(finding));
  return new Set(counted.map(({ node }) => node.uid));
}

/**
 * The time at which a run of ours set out to act on the node; undefined: none did. A place that another controller's
 * work takes does not count, and neither does one that is older than the record of that work.
 */
export function begunTime(finding: NodeFinding, { inFlight }: Pick<PoolRecord, 'inFlight'>): EpochMs | undefined {
  const since = inFlight[finding.node.uid];
  if (finding.kind === 'gone' || since === undefined) return undefined;
  const { otherWorkTime } = finding;
  return otherWorkTime !== undefined && since <= otherWorkTime ? undefined : since;
}
