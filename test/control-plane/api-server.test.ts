/** kube-apiserver itself, against the contracts over HTTP that the embedded API server is held to. */
import { defineApiServerContract } from '../contract/api-server.contract.ts';
import { defineKarpenterContract } from '../contract/karpenter.contract.ts';
import { defineManifestsContract } from '../contract/manifests.contract.ts';
import { realSubjects } from './real-subject.ts';

const { makeSubject, karpenterCrds } = realSubjects();

defineApiServerContract('kube-apiserver', makeSubject);
defineManifestsContract('kube-apiserver', makeSubject);
defineKarpenterContract('kube-apiserver', makeSubject, karpenterCrds);
