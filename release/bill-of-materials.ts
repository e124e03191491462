/** The software bill of materials (CycloneDX, by npm) of what is released: the packages whose code is in it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import packageFile from '../package.json' with { type: 'json' };
import { ROOT } from './files.ts';

const component = z.looseObject({ 'bom-ref': z.string(), name: z.string(), version: z.string() });
const bill = z.looseObject({
  metadata: z.looseObject({ component }),
  components: z.array(component),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
});

/** @param folders of the packages, from the root of the repository */
export function billOfMaterials(folders: ReadonlySet<string>): string {
  const printed = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 100_000_000,
    // npm would leave its compiled code in the folder for temporary files.
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
  });
  const all = bill.parse(JSON.parse(printed));
  const refs = new Set(
    [...folders].map(folder => {
      const { name, version } = component
        .pick({ name: true, version: true })
        .parse(JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')));
      return `${name}@${version}`;
    }),
  );
  const missing = [...refs].filter(ref => !all.components.some(each => each['bom-ref'] === ref));
  if (missing.length > 0) throw new Error(`npm sbom has no ${missing.join(', ')}`);
  const root = { ...all.metadata.component, 'bom-ref': `curfew@${packageFile.version}`, name: 'curfew' };
  // A serial number and a time would differ each time.
  const { serialNumber: _, ...rest } = all;
  return `${JSON.stringify(
    {
      ...rest,
      metadata: { ...all.metadata, timestamp: undefined, component: root },
      components: all.components.filter(each => refs.has(each['bom-ref'])),
      dependencies: [
        { ref: root['bom-ref'], dependsOn: [...refs].toSorted() },
        ...all.dependencies
          .filter(({ ref }) => refs.has(ref))
          .map(each => ({ ...each, dependsOn: each.dependsOn.filter(ref => refs.has(ref)) })),
      ],
    },
    undefined,
    1,
  )}\n`;
}
