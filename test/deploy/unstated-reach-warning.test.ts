/** The admission policy of `deploy/policies` on the embedded API server: it says of a policy what `curfew validate` says. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { unstatedReach } from '../../shared/policies/unstated-reach.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { APPLIED_POLICIES } from '../fixtures/unstated-reach-manifests.ts';

const core = createApiServer({ clock: { now: () => 0 } });
for (const definition of customResourceDefinitions()) core.seed(definition);
const anObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const policies = new URL('../../deploy/policies/unstated-reach-warning.yaml', import.meta.url);
for (const document of parseAllDocuments(readFileSync(policies, 'utf8'))) create(anObject.parse(document.toJS()));

/** The warnings of a create. */
function create(manifest: KubernetesManifest, dryRun = false): readonly string[] {
  const resource = core.resourceForKind(manifest.apiVersion, manifest.kind);
  if (resource === undefined) throw new Error(`${manifest.kind} is not served`);
  const warnings: string[] = [];
  core.create(resource, manifest, { dryRun, onWarning: warning => warnings.push(warning) });
  return warnings;
}

describe('unstated-reach-warning.curfew.dev on the embedded API server', () => {
  it.each(APPLIED_POLICIES)('$manifest.metadata.name', ({ manifest, spec, warning }) => {
    const said = create(manifest, true);
    expect(said).toEqual(
      warning === undefined ? [] : [expect.stringMatching(/: enforces on all NodePools \(.*\): state both$/)],
    );
    expect(said.map(line => line.replace(/^.*: (?=enforces)/, ''))).toEqual(warning === undefined ? [] : [warning]);
    const reach = unstatedReach(spec);
    expect(reach && `${reach}: state both`).toBe(warning);
  });
});
