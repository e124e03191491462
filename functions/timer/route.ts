/** The timer: a tick sweeps the due records. Anything else in its inbox is done with at once. */
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import { lookAtCanary } from './canary.ts';
import { sweep, type TimerDeps } from './reconcile.ts';

/** Creates the timer as it is deployed: after each sweep it looks at the canary. */
export function createReconciler(deps: TimerDeps): Reconcile {
  return onTick(async () => {
    await sweep(deps);
    await lookAtCanary(deps);
  });
}

/** Creates the sweep without the canary, for one process: no table vanishes by itself there. */
export function createSweep(deps: TimerDeps): Reconcile {
  return onTick(() => sweep(deps));
}

function onTick(work: () => Promise<void>): Reconcile {
  return async message => {
    switch (message.kind) {
      case 'tick':
        return work();
      case 'clusterEvent':
      case 'customResource':
      case 'busEvent':
      case 'wakeUp':
        return;
    }
  };
}
