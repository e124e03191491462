/** The end of a node's record. */
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { DONE, type Turn } from '../../shared/lifecycle/settle.ts';
import type { GoneSubject } from '../../shared/lifecycle/subject.ts';
import type { GracePeriodRecord } from './record.ts';

/** The node is gone: whatever was promised about its pods ended with it. */
export async function close(
  { reporter }: { readonly reporter: Reporter },
  { record, subject }: GoneSubject<GracePeriodRecord>,
): Promise<Turn> {
  const closed = await record.closeGone();
  if (closed.kind === 'again') return closed;
  const { apiVersion, kind, name, uid } = subject;
  await reporter.report({
    about: { apiVersion, kind, metadata: { name, ...(uid !== undefined && { uid }) } },
    decision: 'close',
    reason: 'NodeGone',
    message: 'the node is gone, its record is closed',
  });
  return DONE;
}
