/**
 * A record that stands for all of them: written once, read at each tick. Where it is missing, the table is new, or its records have vanished, which
 * nothing else would say: a table that is empty has no timer that is overdue. Only a deployment has it; in a simulation no table vanishes by itself.
 */
import { METRICS } from '../../shared/contract/metrics.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import { createReconciler, type TimerDeps } from './reconcile.ts';

const CANARY = { owner: 'timer', id: 'canary' } as const;

/** The timer as it is deployed: the sweep, and after it a look at the canary. */
export function createWatchedTimer(deps: TimerDeps): Reconcile {
  const reconcile = createReconciler(deps);
  return async message => {
    await reconcile(message);
    if (message.kind === 'tick') await lookAtCanary(deps);
  };
}

async function lookAtCanary({ records, metrics }: Pick<TimerDeps, 'records' | 'metrics'>): Promise<void> {
  if ((await records.get(CANARY)) !== undefined) return;
  const subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'Record', name: CANARY.id };
  const outcome = await records.put({ ...CANARY, subject, state: { schemaVersion: 1 } }, 0);
  if (outcome.kind === 'written') metrics.count(METRICS.recordsVanished);
}
