/** Where the version of package.json stands again: `npm run generate` writes it there, a test compares. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ManifestFile } from './manifests.ts';

const ROOT = join(import.meta.dirname, '..');
const VERSION = String.raw`\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?`;

/** What stands before the version, in each file from the root of the repository. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'shared/contract/version.ts': ["VERSION = '"],
  'deploy/chart/Chart.yaml': ['\nversion: ', '\nappVersion: '],
  'deploy/kustomization.yaml': ['newTag: '],
  'deploy/forwarder/deployment.yaml': ['image: curfew-forwarder:', 'app.kubernetes.io/version: '],
  'docs/deploying.md': ['curfew-forwarder, newTag: ', 'curfew-forwarder, tag: '],
  'docs/forwarder.md': ['-t curfew-forwarder:'],
  'forwarder/Dockerfile': ['-t curfew-forwarder:', 'ARG VERSION='],
};

/** The version of package.json. */
export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return version;
}

/** Each file with the version in its places. Throws when a place is gone. */
export function versionFiles(version: string): readonly ManifestFile[] {
  return Object.entries(PLACES).map(([path, places]) => {
    let text = readFileSync(join(ROOT, path), 'utf8');
    for (const place of places) {
      const pattern = new RegExp(`(?<=${place.replaceAll(/[.$]/g, String.raw`\$&`)})${VERSION}`, 'g');
      if (!pattern.test(text)) throw new Error(`${path} has no version behind ${place.trim()}`);
      text = text.replaceAll(pattern, version);
    }
    return { path, text };
  });
}
