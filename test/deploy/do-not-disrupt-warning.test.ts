/** The admission policy of `deploy/policies` on the embedded API server: it warns of exactly what the grace-period function takes for not valid. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { parseDoNotDisrupt } from '../../shared/domain/protection.ts';
import { APPLIED, podWith, TOO_LONG, WRAPPED_VECTORS } from '../fixtures/do-not-disrupt-manifests.ts';

const policies = new URL('../../deploy/policies/do-not-disrupt-warning.yaml', import.meta.url);
const fixture = new URL('../fixtures/conformance/go-duration-vectors.json', import.meta.url);
const { vectors } = z
  .object({ vectors: z.array(z.object({ id: z.string(), input: z.string() })) })
  .parse(JSON.parse(readFileSync(fixture, 'utf8')));

const core = createApiServer({ clock: { now: () => 0 } });
const anObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
for (const document of parseAllDocuments(readFileSync(policies, 'utf8'))) create(anObject.parse(document.toJS()));

/** The warnings of a create. */
function create(manifest: KubernetesManifest, dryRun = false): readonly string[] {
  const resource = core.resourceForKind(manifest.apiVersion, manifest.kind);
  if (resource === undefined) throw new Error(`${manifest.kind} is not served`);
  const warnings: string[] = [];
  core.create(resource, manifest, { dryRun, onWarning: warning => warnings.push(warning) });
  return warnings;
}

/** Longer than 292 years by a nanosecond: the CEL library here has longer durations than Go. */
const LONGER_THAN_GO = ['D128', 'D155'];

describe('do-not-disrupt-warning.curfew.dev on the embedded API server', () => {
  it.each(APPLIED)('$manifest.kind $manifest.metadata.name: warns $warns', ({ manifest, warns }) => {
    const said = create(manifest, true);
    expect(said).toHaveLength(warns ? 1 : 0);
    expect(said.every(line => line.includes('is neither "true" nor a positive Go duration'))).toBe(true);
  });

  it('does not parse what is very long', () => {
    expect(create(podWith('long', TOO_LONG), true)).toEqual([expect.stringContaining('has more than 256 characters')]);
  });

  it('answers every vector as the grace-period function does', () => {
    const judged = vectors.filter(({ id }) => !WRAPPED_VECTORS.includes(id));
    const isGood = (id: string, input: string): boolean =>
      parseDoNotDisrupt(input, 'Design').kind !== 'invalid' || LONGER_THAN_GO.includes(id);
    const verdicts = judged.map(({ id, input }) => `${id} ${create(podWith('vector', input), true).length === 0}`);
    const expected = judged.map(({ id, input }) => `${id} ${isGood(id, input)}`);
    expect(verdicts).toEqual(expected);
  });
});
