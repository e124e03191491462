/** Wake-ups of the nodes with annotated pods after a change of settings; a burst of changes costs one round. */
import { batchesOf, inParallel, throwFailures } from '../../shared/cluster/in-parallel.ts';
import { listNodes } from '../../shared/cluster/lists.ts';
import { poolQuery } from '../../shared/cluster/node-pool.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { nodeSubject } from '../../shared/domain/node.ts';
import type { RoundTargets } from '../../shared/lifecycle/next-round.ts';
import { createSettingsRounds, type SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { RecordKey } from '../../shared/ports/record-store.ts';
import { OWNER, recordIdOf } from './record.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** Records read at the same time; a cluster of 5,000 nodes takes a second or two. */
const READ_AT_ONCE = 50;

const keyOf = (uid: string): RecordKey => ({ owner: OWNER, id: recordIdOf(uid) });

/** Rounds after changes of settings; their targets are NodePools. */
export function settingsRounds(deps: Deps): SettingsRounds {
  return createSettingsRounds(deps, OWNER, targets => annotatedNodes(deps, targets));
}

interface NodeName {
  readonly name: string;
  readonly uid: string;
}

/** The nodes of which there is a record: those with annotated pods. */
async function annotatedNodes(deps: Deps, targets: RoundTargets): Promise<readonly Subject[]> {
  const pools = targets === 'all' ? [undefined] : targets;
  const namesIn = async (pool: string | undefined): Promise<readonly NodeName[]> =>
    (await listNodes(deps, poolQuery(pool))).map(({ metadata }) => metadata);
  const nodes = (await inParallel(pools.map(namesIn))).flat();
  const annotated: NodeName[] = [];
  for (const batch of batchesOf(nodes, READ_AT_ONCE)) {
    // One record of many that cannot be read must not stop all others: such a node is looked at, if need be for nothing.
    const answers = await Promise.allSettled(batch.map(({ uid }) => deps.records.get(keyOf(uid))));
    if (answers.every(({ status }) => status === 'rejected')) throwFailures(answers);
    annotated.push(
      ...batch.filter((_node, index) => {
        const answer = answers[index];
        return answer?.status !== 'fulfilled' || answer.value !== undefined;
      }),
    );
  }
  return annotated.map(nodeSubject);
}
