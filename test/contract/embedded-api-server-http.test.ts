/** The embedded API server against the contract that kube-apiserver is held to. */
import { embeddedSubjects } from './api-server/embedded-subject.ts';
import { defineApiServerContract } from './api-server.contract.ts';

defineApiServerContract('embedded', embeddedSubjects());
