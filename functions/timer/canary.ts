/**
 * One record that stands for all others: written once, read at each tick. If it is missing, the table is new, or its records have vanished.
 * Nothing else would tell: an empty table has no overdue timer.
 */
import { METRICS } from '../../shared/contract/metrics.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

const CANARY = { owner: 'timer', id: 'canary' } as const;

export async function lookAtCanary({ records, metrics }: Pick<FunctionDeps, 'records' | 'metrics'>): Promise<void> {
  if ((await records.get(CANARY)) !== undefined) return;
  const subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'Record', name: CANARY.id };
  const outcome = await records.put({ ...CANARY, subject, state: { schemaVersion: 1 } }, 0);
  if (outcome.kind === 'written') metrics.count(METRICS.recordsVanished);
}
