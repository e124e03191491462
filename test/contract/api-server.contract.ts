/** What an API server answers over HTTP: the same assertions on the embedded one and on kube-apiserver. */
import { describe } from 'vitest';
import { defineAdmissionPolicies } from './api-server/admission-policies.ts';
import { defineAdmitting } from './api-server/admitting.ts';
import { defineMutatingPolicies } from './api-server/mutating-policies.ts';
import { defineApplying } from './api-server/applying.ts';
import { defineAuthorizing } from './api-server/authorizing.ts';
import { defineBuiltInKinds } from './api-server/built-in-kinds.ts';
import { defineCreating } from './api-server/creating.ts';
import { defineCustomResources } from './api-server/custom-resources.ts';
import { defineDefinitions } from './api-server/definitions.ts';
import { defineDeleteOptions } from './api-server/delete-options.ts';
import { defineDeleting } from './api-server/deleting.ts';
import { defineDiscovering } from './api-server/discovering.ts';
import { defineEvicting } from './api-server/evicting.ts';
import { defineLeasesAndEvents } from './api-server/leases-and-events.ts';
import { definePatching } from './api-server/patching.ts';
import { defineReading } from './api-server/reading.ts';
import { defineSchema } from './api-server/schema.ts';
import type { MakeSubject } from './api-server/subject.ts';
import { defineUpdating } from './api-server/updating.ts';
import { defineWatching } from './api-server/watching.ts';

/** @param name of the server, under which the cases are counted */
export function defineApiServerContract(name: string, makeSubject: MakeSubject): void {
  describe(`API server: ${name}`, () => {
    defineReading(makeSubject);
    defineWatching(makeSubject);
    defineCreating(makeSubject);
    defineAdmitting(makeSubject);
    defineAdmissionPolicies(makeSubject);
    defineMutatingPolicies(makeSubject);
    definePatching(makeSubject);
    defineUpdating(makeSubject);
    defineApplying(makeSubject);
    defineDeleting(makeSubject);
    defineDeleteOptions(makeSubject);
    defineEvicting(makeSubject);
    defineLeasesAndEvents(makeSubject);
    defineDefinitions(makeSubject);
    defineCustomResources(makeSubject);
    defineSchema(makeSubject);
    defineDiscovering(makeSubject);
    defineBuiltInKinds(makeSubject);
    defineAuthorizing(makeSubject);
  });
}
