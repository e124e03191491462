/** Takes back what is left of an attempt that was not carried out, or whose repair is over (I7). Doing it twice is doing it once. */
import type { RepairAttempt } from '../pass/pool.ts';
import type { ActionDeps } from './action.ts';
import { deleteRemediations } from './custom-resource.ts';
import { cancelDrain } from './drain.ts';
import { takeBackAnnotation } from './terminate.ts';

export async function withdraw(deps: ActionDeps, attempt: RepairAttempt): Promise<void> {
  const { phase, action, requestId } = attempt;
  if (phase !== 'observed') {
    if (action === 'Terminate') await takeBackAnnotation(deps, attempt);
    // A termination carries the id of the drain before it.
    if (action !== 'CustomResource' && requestId !== undefined) await cancelDrain(deps, attempt);
  }
  await deleteRemediations(deps, attempt);
}
