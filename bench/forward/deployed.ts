/** How the forwarder is run in a cluster, read out of its manifest. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';

const MANIFEST = join(import.meta.dirname, '..', '..', 'deploy', 'forwarder', 'deployment.yaml');

const envSchema = z.array(z.looseObject({ name: z.string(), value: z.string().optional() }));
const deploymentSchema = z.object({
  kind: z.literal('Deployment'),
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.array(z.object({ env: envSchema })) }) }) }),
});

/** `NODE_OPTIONS` of its container. Throws when the manifest sets none. */
export function readNodeOptions(manifest: string = readFileSync(MANIFEST, 'utf8')): string {
  const values = parseAllDocuments(manifest).flatMap(document => {
    const deployment = deploymentSchema.safeParse(document.toJS());
    if (!deployment.success) return [];
    return deployment.data.spec.template.spec.containers.flatMap(({ env }) =>
      env.flatMap(({ name, value }) => (name === 'NODE_OPTIONS' && value !== undefined ? [value] : [])),
    );
  });
  const [options] = values;
  if (options === undefined) throw new Error('the deployment of the forwarder sets no NODE_OPTIONS');
  return options;
}
