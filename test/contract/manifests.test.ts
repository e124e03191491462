/** The embedded API server takes `deploy/` as it is, like kube-apiserver. */
import { embeddedSubjects } from './api-server/embedded-subject.ts';
import { defineManifestsContract } from './manifests.contract.ts';

defineManifestsContract('embedded', embeddedSubjects());
