/** What `kubectl apply -f examples/playground` brings to the local cluster: valid without a remark, and served without a warning. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { playgroundObjects } from '../../cli/start/story.ts';
import { filesIn } from '../../simulator/scenario/folder.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { runHere } from '../cli/run-curfew.ts';

const FOLDER = 'examples/playground';
const anObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const manifests = filesIn(FOLDER).flatMap(file =>
  parseAllDocuments(readFileSync(file, 'utf8')).map(document => anObject.parse(document.toJS())),
);

let cluster: EmbeddedCluster;
beforeAll(async () => {
  cluster = await startEmbeddedCluster(systemClock, 0);
  for (const object of playgroundObjects(systemClock.now())) cluster.core.seed(object);
});
afterAll(() => cluster.close());

describe('examples/playground', () => {
  it('is valid, without a remark', async () => {
    const { code, stdout } = await runHere(['validate', FOLDER, '--strict', '--output', 'json']);
    expect(code).toBe(0);
    const { checked } = z
      .object({ checked: z.array(z.object({ findings: z.array(z.unknown()) })) })
      .parse(JSON.parse(stdout));
    expect(checked.map(({ findings }) => findings)).toEqual([[], []]);
  });

  it('is taken by the local cluster without a warning, and says how nodes are drained', () => {
    const warnings: string[] = [];
    for (const manifest of manifests) {
      const resource = cluster.core.resourceForKind(manifest.apiVersion, manifest.kind);
      if (resource === undefined) throw new Error(`${manifest.kind} is not served`);
      const { namespace } = z.looseObject({ namespace: z.string().optional() }).parse(manifest.metadata);
      const ref = { type: resource, name: manifest.metadata.name, ...(namespace !== undefined && { namespace }) };
      const patch = { type: 'merge', body: JSON.parse(JSON.stringify(manifest)) } as const;
      const options = { onWarning: (warning: string) => void warnings.push(warning) };
      // The configuration is there already.
      if (manifest.kind === 'ConfigMap') cluster.core.patch(ref, patch, options);
      else cluster.core.create(resource, manifest, options);
    }
    expect(manifests.map(({ kind }) => kind)).toEqual(['ConfigMap', 'NodeLifecyclePolicy']);
    expect(warnings).toEqual([]);
  });
});
