/** kube-apiserver itself, against the contracts over HTTP that the embedded API server is held to. */
import { describe } from 'vitest';
import { defineApiServerContract } from '../contract/api-server.contract.ts';
import { defineKarpenterContract } from '../contract/karpenter.contract.ts';
import { defineManifestsContract } from '../contract/manifests.contract.ts';
import { KARPENTER_CRDS, needingKarpenter } from './karpenter-crds.ts';
import { realSubjects } from './real-subject.ts';

const SERVER = 'kube-apiserver';
const makeSubject = realSubjects();

defineApiServerContract(SERVER, makeSubject);
defineManifestsContract(SERVER, makeSubject);
describe.skipIf(KARPENTER_CRDS.length === 0)('with Karpenter', () => {
  defineKarpenterContract(needingKarpenter(SERVER), makeSubject, KARPENTER_CRDS);
});
