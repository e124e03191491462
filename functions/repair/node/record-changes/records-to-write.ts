/** The records that a pass writes. Pure. */
import type { NodeRecord } from '../record.ts';
import { type NodeFinding, verdictOf } from '../rule/finding.ts';
import { isRecordNeeded } from '../rule/incident.ts';

/** The number of nodes whose records one pass writes, beside those that it acts on. */
const MAX_WRITES = 200;

/** Write of a node's record. @property record undefined: the record is closed */
type NodeWrite = Pick<NodeFinding, 'node' | 'record'>;

/**
 * The records that a pass writes: all of nodes that it acted on, then those of others, up to a bound.
 * @returns `areAll`: none is left for the next pass
 */
export function recordsToWrite(
  findings: readonly NodeFinding[],
  {
    acted,
    isStored,
  }: {
    readonly acted: Pick<ReadonlyMap<string, unknown>, 'has'>;
    /** Whether the record of the node is already stored like this. */
    readonly isStored: (uid: string, record: NodeRecord | undefined) => boolean;
  },
): { readonly writes: readonly NodeWrite[]; readonly areAll: boolean } {
  const changed = findings.flatMap((finding): readonly NodeWrite[] => {
    const { node } = finding;
    const seen = { kind: finding.kind, isReported: verdictOf(finding) !== undefined };
    const record = finding.record && isRecordNeeded(finding.record, seen) ? finding.record : undefined;
    return isStored(node.uid, record) ? [] : [{ node, record }];
  });
  const first = changed.filter(({ node }) => acted.has(node.uid));
  const untouched = changed.filter(({ node }) => !acted.has(node.uid));
  return { writes: [...first, ...untouched.slice(0, MAX_WRITES)], areAll: untouched.length <= MAX_WRITES };
}
