/** The same definitions of Karpenter, from its Go module, on the embedded API server. */
import { describe } from 'vitest';
import { embeddedSubjects } from '../contract/api-server/embedded-subject.ts';
import { defineKarpenterContract } from '../contract/karpenter.contract.ts';
import { KARPENTER_CRDS, needingKarpenter } from './karpenter-crds.ts';

const makeSubject = embeddedSubjects();

describe.skipIf(KARPENTER_CRDS.length === 0)('with Karpenter', () => {
  defineKarpenterContract(needingKarpenter('embedded'), makeSubject, KARPENTER_CRDS);
});
