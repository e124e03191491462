/** The packages that are in what is released: which, and under what terms. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { z } from 'zod';
import type { Entry } from './archive.ts';
import { ROOT } from './files.ts';

const FOLDER = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** Folders of packages, from the root of the repository, whose code is in the outputs of a bundle. */
export function packagesIn(metafile: Metafile): ReadonlySet<string> {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs: each }) =>
    Object.entries(each).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  return new Set(inputs.flatMap(file => FOLDER.exec(file)?.[0] ?? []));
}

/** The same out of the source maps among these files. */
export function packagesInMaps(files: readonly Entry[]): ReadonlySet<string> {
  const sources = files
    .filter(({ path }) => path.endsWith('.map'))
    .flatMap(({ contents }) => z.object({ sources: z.array(z.string()) }).parse(JSON.parse(String(contents))).sources);
  return new Set(sources.flatMap(source => FOLDER.exec(source.replace(/^(\.\.\/)+/, ''))?.[0] ?? []));
}

/** What their licences want to be passed on. */
export function noticesOf(folders: ReadonlySet<string>): string {
  const parts = [...folders].toSorted().map(folder => {
    const cwd = join(ROOT, folder);
    const { name, version, license }: { name: string; version: string; license?: string } = JSON.parse(
      readFileSync(join(cwd, 'package.json'), 'utf8'),
    );
    const texts = globSync('{LICEN[CS]E,LICEN[CS]E.*,licen[cs]e,licen[cs]e.*,NOTICE,NOTICE.*}', { cwd })
      .toSorted()
      .map(file => readFileSync(join(cwd, file), 'utf8').trim());
    return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n');
  });
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
