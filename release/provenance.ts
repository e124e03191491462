/** Of what and how a release was made, as an in-toto statement with SLSA's provenance, not signed. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageFile from '../package.json' with { type: 'json' };
import type { Entry } from './archive.ts';
import { ROOT } from './files.ts';

export interface Revision {
  /** Of git; `unknown` outside of a checkout. */
  readonly commit: string;
  /** Something is not committed. */
  readonly isDirty: boolean;
}

export function revisionOf(): Revision {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return { commit: git('rev-parse', 'HEAD'), isDirty: git('status', '--porcelain') !== '' };
  } catch {
    return { commit: 'unknown', isDirty: false };
  }
}

export const sha256 = (contents: Uint8Array | string): string => createHash('sha256').update(contents).digest('hex');

/** @param base of the forwarder's image */
export function provenanceOf(artefacts: readonly Entry[], { commit, isDirty }: Revision, base: string): string {
  const read = (file: string): Buffer => readFileSync(join(ROOT, file));
  return `${JSON.stringify(
    {
      _type: 'https://in-toto.io/Statement/v1',
      subject: artefacts.map(({ path, contents }) => ({ name: path, digest: { sha256: sha256(contents) } })),
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          buildType: 'https://curfew.dev/release/v1',
          externalParameters: { command: 'npm ci && npm run release', version: packageFile.version },
          internalParameters: { node: process.version, isDirty },
          resolvedDependencies: [
            { uri: 'git:HEAD', digest: { gitCommit: commit } },
            { uri: 'package-lock.json', digest: { sha256: sha256(read('package-lock.json')) } },
            { uri: base.split('@')[0], digest: { sha256: base.split('@sha256:')[1] } },
          ],
        },
        runDetails: { builder: { id: 'https://curfew.dev/release/local' } },
      },
    },
    undefined,
    1,
  )}\n`;
}
