/** The same definitions of Karpenter, from its Go module, on the embedded API server. */
import { beforeAll } from 'vitest';
import { embeddedSubjects } from '../contract/api-server/embedded-subject.ts';
import { defineKarpenterContract } from '../contract/karpenter.contract.ts';
import { ensureControlPlaneBinaries } from './build.ts';

let files: readonly string[] = [];
beforeAll(async () => {
  ({ karpenterCrds: files } = await ensureControlPlaneBinaries(() => undefined));
});

defineKarpenterContract('embedded', embeddedSubjects(), () => files);
