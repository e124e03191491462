/**
 * A record that stands for all of them: written once, read at each tick. Where it is missing, the table is new, or its records have vanished, which
 * nothing else would say: a table that is empty has no timer that is overdue.
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
