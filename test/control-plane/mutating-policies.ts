/** Whether the release under test serves MutatingAdmissionPolicy in v1. */
import { ensureControlPlaneBinaries } from './build.ts';
import { minorOf } from './flags.ts';

const { versions } = await ensureControlPlaneBinaries(() => undefined);

export const SERVES_MUTATING_POLICIES = minorOf(versions.kubernetes) >= 36;
