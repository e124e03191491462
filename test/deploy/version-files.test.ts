/** One version in all parts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageVersion, versionFiles } from '../../deploy/version-files.ts';

const ROOT = join(import.meta.dirname, '..', '..');

it.each(versionFiles(packageVersion()).map(({ path, text }) => [path, text]))(
  '%s has the version of package.json (else: npm run generate)',
  (path, text) => {
    expect(readFileSync(join(ROOT, path), 'utf8')).toBe(text);
  },
);

it('another version is written everywhere', () => {
  const files = versionFiles('1.2.3-rc.1');
  for (const { path, text } of files)
    expect({ path, text }).toMatchObject({ text: expect.stringContaining('1.2.3-rc.1') });
  const deployment = files.find(({ path }) => path === 'deploy/forwarder/deployment.yaml')?.text ?? '';
  expect(deployment.match(/1\.2\.3-rc\.1/g)).toHaveLength(3);
});
