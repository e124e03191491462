/** The functions as they run in one process: one line each. */
import { createReconciler as drain } from '../functions/drain/route.ts';
import { createReconciler as finalizer } from '../functions/finalizer/route.ts';
import { createReconciler as gracePeriod } from '../functions/grace-period/route.ts';
import { createReconciler as repair } from '../functions/repair/route.ts';
import { createSweep as timer } from '../functions/timer/route.ts';
import type { FunctionName } from '../shared/contract/names.ts';
import type { FunctionDeps, Reconcile } from '../shared/ports/function-deps.ts';

export type ReconcilerFactory = (deps: FunctionDeps) => Reconcile;

export const RECONCILERS: Readonly<Record<FunctionName, ReconcilerFactory>> = {
  finalizer,
  drain,
  repair,
  'grace-period': gracePeriod,
  timer,
};
