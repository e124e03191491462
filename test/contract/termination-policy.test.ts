/** The admission policy of terminations on the embedded API server, with the definitions that local clusters have. */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { embeddedSubjects } from './api-server/embedded-subject.ts';
import { defineTerminationPolicyContract } from './termination-policy.contract.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = globSync('simulator/crds/*.yaml', { cwd: root }).map(file => `${root}${file}`);

defineTerminationPolicyContract('embedded', embeddedSubjects(), files);
