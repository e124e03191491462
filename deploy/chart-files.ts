/** The chart's copies of manifests: Helm reads no file outside of the chart. `npm run generate` writes them, a test compares. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ManifestFile } from './manifests.ts';

/** All that the kustomization applies but the Namespace, which Helm needs before a release, and the settings, which are values. */
const COPIED = [
  '{crds,rbac,policies}/*.yaml',
  'config/config.toml',
  'forwarder/{deployment,pod-disruption-budget,rbac}.yaml',
];

/** From the root of the repository. */
export const CHART_FILES = 'deploy/chart/files';

/** As the files that they are copies of stand on disk. */
export function chartFiles(): readonly ManifestFile[] {
  const cwd = import.meta.dirname;
  return globSync(COPIED, { cwd }).map(file => ({
    path: `${CHART_FILES}/${file}`,
    text: readFileSync(join(cwd, file), 'utf8'),
  }));
}
