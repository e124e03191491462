/** What `npm ci` brings is what was reviewed: exact versions with a hash each, from the registry, and no script runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from '../docs/documents.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const entry = z.object({
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
});
const { packages } = z.object({ packages: z.record(z.string(), entry) }).parse(JSON.parse(read('package-lock.json')));
const installed = Object.entries(packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && link !== true,
);

it('each package has a hash, or comes inside of one that has', () => {
  const own = installed.filter(([, { inBundle }]) => inBundle !== true);
  expect(own.length).toBeGreaterThan(300);
  const unchecked = own.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true);
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

it('no package comes from elsewhere than the registry', () => {
  const elsewhere = installed.filter(([, { version, resolved }]) => version === undefined || resolved !== undefined);
  expect(elsewhere.map(([path]) => path)).toEqual([]);
});

it('dependencies are exact versions', () => {
  const dependencies = z.record(z.string(), z.string()).default({});
  const manifest = z.object({ dependencies, devDependencies: dependencies, optionalDependencies: dependencies });
  const { dependencies: own, devDependencies, optionalDependencies } = manifest.parse(JSON.parse(read('package.json')));
  const loose = Object.entries({ ...own, ...devDependencies, ...optionalDependencies }).filter(
    ([name, version]) => !name.startsWith('@curfew/') && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  );
  expect(loose).toEqual([]);
});

it('no script of a package runs, in the build of the image either', () => {
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
  expect(read('forwarder/Dockerfile')).toMatch(/COPY package\.json package-lock\.json \.npmrc \.\/\nRUN npm ci\n/);
});
