/** The admission policy of terminations on kube-apiserver and on the embedded API server, with Karpenter's own definitions. */
import { describe } from 'vitest';
import { embeddedSubjects } from '../contract/api-server/embedded-subject.ts';
import { defineTerminationPolicyContract } from '../contract/termination-policy.contract.ts';
import { KARPENTER_CRDS, needingKarpenter } from './karpenter-crds.ts';
import { realSubjects } from './real-subject.ts';

describe.skipIf(KARPENTER_CRDS.length === 0)('with Karpenter', () => {
  defineTerminationPolicyContract(needingKarpenter('kube-apiserver'), realSubjects(), KARPENTER_CRDS);
  defineTerminationPolicyContract(needingKarpenter('embedded'), embeddedSubjects(), KARPENTER_CRDS);
});
