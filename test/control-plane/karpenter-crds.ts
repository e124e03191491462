/** Karpenter's own definitions, and why there are none, where that is so. */
import { ensureControlPlaneBinaries } from './build.ts';

export const { karpenterCrds: KARPENTER_CRDS } = await ensureControlPlaneBinaries(() => undefined);

/** The name of a suite that needs them; with the reason where it is skipped. */
export const needingKarpenter = (name: string): string =>
  KARPENTER_CRDS.length > 0
    ? name
    : `${name} (skipped: Karpenter's definitions come from its Go module, and there is no Go)`;
