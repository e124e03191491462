/** Reads what is remembered of the unhealthy nodes' past, where `flapping` asks for it. */
import type { NodeView } from '../../../shared/domain/node.ts';
import { matchStatements, statementsOf } from '../../../shared/domain/repair-policy.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { RepairRules } from '../decide.ts';
import type { Episode } from '../incident.ts';
import { nodeCodec, nodeRecordId, OWNER } from '../record.ts';
import { inBatches } from './batches.ts';

export async function loadEpisodes(
  { records }: Pick<FunctionDeps, 'records'>,
  { settings }: RepairRules,
  nodes: readonly NodeView[],
): Promise<ReadonlyMap<string, readonly Episode[]>> {
  const found = new Map<string, readonly Episode[]>();
  if (settings === undefined || 'invalid' in settings || settings.flapping === undefined) return found;
  const statements = statementsOf(settings);
  const unhealthy = nodes.filter(node => matchStatements(node, statements).length > 0);
  await inBatches(unhealthy, async ({ uid }) => {
    const stored = await records.get({ owner: OWNER, id: nodeRecordId(uid) });
    if (stored !== undefined) found.set(uid, nodeCodec.parse(stored.state).episodes);
  });
  return found;
}
