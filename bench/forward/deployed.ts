/** How the forwarder is run in a cluster, read out of its manifest and the Dockerfile of its image. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const MANIFEST = join(REPOSITORY, 'deploy', 'forwarder', 'deployment.yaml');
const DOCKERFILE = join(REPOSITORY, 'forwarder', 'Dockerfile');

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

/** The options between `node` and the program in the image's entry point. Throws when it has none of that form. */
export function readNodeFlags(dockerfile: string = readFileSync(DOCKERFILE, 'utf8')): readonly string[] {
  const [, entryPoint] = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile) ?? [];
  if (entryPoint === undefined) throw new Error('the image of the forwarder has no entry point');
  const [program, ...rest] = z.array(z.string()).parse(JSON.parse(entryPoint));
  if (program !== 'node') throw new Error(`the image of the forwarder runs ${program}, not node`);
  return rest.slice(0, -1);
}
