/** Hints to look at nodes with annotated pods again, after what applies to them changed. */
import { toDurationMs } from '../../shared/domain/time.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { RecordKey } from '../../shared/ports/record-store.ts';
import { loadPoolNodes } from '../../shared/cluster/node-pool.ts';

import { OWNER, recordIdOf } from './record.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** Records read at the same time; a cluster of 5,000 nodes takes a second or two. */
const READ_AT_ONCE = 50;

const keyOf = (uid: string): RecordKey => ({ owner: OWNER, id: recordIdOf(uid) });

/** Sends a wake-up for each node of the pool (undefined: of the cluster) of which there is a record: those with annotated pods. */
export async function wakeAnnotatedNodes(deps: Deps, pool: string | undefined): Promise<void> {
  const nodes = await loadPoolNodes(deps, pool);
  for (let start = 0; start < nodes.length; start += READ_AT_ONCE) {
    const batch = nodes.slice(start, start + READ_AT_ONCE);
    // One record of many that cannot be read must not hold up all others: such a node is looked at, if need be for nothing.
    const answers = await Promise.allSettled(batch.map(({ uid }) => deps.records.get(keyOf(uid))));
    const failures = answers.flatMap(answer => (answer.status === 'rejected' ? [answer] : []));
    if (failures.length === batch.length) throw failures[0]?.reason;
    await wake(
      deps,
      batch.filter((_node, index) => {
        const answer = answers[index];
        return answer?.status !== 'fulfilled' || answer.value !== undefined;
      }),
    );
  }
}

async function wake({ wakeUps, clock }: Deps, nodes: readonly NodeView[]): Promise<void> {
  const wakeTime = clock.now();
  await wakeUps.send(
    nodes.map(({ name, uid }) => ({
      wakeUp: { owner: OWNER, subject: { apiVersion: 'v1', kind: 'Node', name, uid }, wakeTime },
      delay: toDurationMs(0),
    })),
  );
}
