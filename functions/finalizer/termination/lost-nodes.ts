/** Notices that somebody took our finalizer off a Node in the middle of its termination. */
import { DONE } from '../../../shared/lifecycle/settle.ts';
import type { SaveOutcome } from '../../../shared/lifecycle/timed-record.ts';
import { isRegistered } from './rule/objects.ts';
import type { RecordWriter } from './record-writer.ts';
import { reportLost } from './report.ts';
import type { StepContext } from './context.ts';

/** Reports Nodes that went while there is still something to do before they may: nobody but us releases them. */
export async function reportLostNodes(context: StepContext, writer: RecordWriter): Promise<SaveOutcome> {
  const { observed } = context;
  const value = writer.value();
  const isShared = observed.claim === undefined || observed.sharedWith.length > 0 || !isRegistered(observed.claim);
  const here = new Set(observed.nodes.map(({ metadata }) => metadata.uid));
  const lost = isShared
    ? []
    : Object.entries(value.nodes).filter(([uid, node]) => !here.has(uid) && node.isAccountedFor !== true);
  if (lost.length === 0) return { ...DONE, written: true };
  await reportLost(
    context,
    lost.map(([, { name }]) => name),
  );
  const gone = Object.fromEntries(lost.map(([uid, node]) => [uid, { ...node, isAccountedFor: true }]));
  return await writer.saveForSweep({ ...value, nodes: { ...value.nodes, ...gone } });
}
