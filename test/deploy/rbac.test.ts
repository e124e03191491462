import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rbacFiles } from '../../deploy/manifests.ts';
import { PERMISSIONS } from '../../shared/contract/permissions.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the manifests in deploy/', () => {
  it.each(rbacFiles().map(({ path, text }) => [path, text]))(
    '%s grants what the permission table says (else: npm run generate)',
    (path, text) => {
      expect(readFileSync(join(root, path), 'utf8')).toBe(text);
    },
  );

  it('grant nothing to anybody else', () => {
    const written = rbacFiles().map(({ path }) => path);
    expect(readdirSync(join(root, 'deploy/rbac')).map(file => `deploy/rbac/${file}`)).toEqual(
      written.filter(path => path.startsWith('deploy/rbac/')).toSorted(),
    );
  });
});

describe('the permission table', () => {
  it('gives no two functions the same records', () => {
    const owners = Object.values(PERMISSIONS).flatMap(({ records }) => records);
    expect(new Set(owners).size).toBe(owners.length);
  });

  it('lets only the timer wake others', () => {
    for (const name of FUNCTION_NAMES.filter(deployed => deployed !== 'timer')) {
      expect(PERMISSIONS[name].wakes).toEqual([name]);
    }
  });
});
