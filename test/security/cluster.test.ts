/** What `docs/security.md` says of the cluster: what parts of Curfew may read and change there, and what objects can make them do. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeGrant } from '../../runtime/permissions/describe.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { configSchema } from '../../shared/contract/config-schema.ts';
import { PERMISSIONS } from '../../shared/contract/permissions.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { ROOT } from '../docs/documents.ts';
import { documentOf, rowsOf } from '../docs/observability.ts';

const READS = ['get', 'list', 'watch'];
const grants = Object.values(PERMISSIONS).flatMap(({ kubernetes }) => kubernetes);

describe('no part of Curfew', () => {
  it('reads a Secret, or another ConfigMap than its configuration', () => {
    expect(grants.filter(({ resource }) => resource === 'secrets')).toEqual([]);
    const configMaps = grants.filter(({ resource }) => resource === 'configmaps');
    expect(configMaps.length).toBeGreaterThan(3);
    for (const { namespace, names } of configMaps) {
      expect({ namespace, names }).toEqual({ namespace: CONFIG_MAP.namespace, names: [CONFIG_MAP.name] });
    }
  });

  it('creates what runs, gives permissions, makes tokens, or enters a pod', () => {
    const created = grants.filter(({ verbs }) => verbs.includes('create'));
    const names = created.map(({ resource, subresource }) => [resource, subresource].filter(Boolean).join('/'));
    // A replacement that is launched before the ill node goes is a NodeClaim: Karpenter makes the machine, by the NodePool's own template.
    expect([...new Set(names)].toSorted()).toEqual(['events', 'leases', 'nodeclaims', 'pods/eviction']);
    expect(grants.filter(({ group }) => /rbac|authentication|certificates|admission/.test(group))).toEqual([]);
    expect(JSON.stringify(grants)).not.toMatch(/"(\*|escalate|bind|impersonate|approve|sign)"/);
  });
});

it('no role of others gets rights on what makes Curfew act', () => {
  const manifests = globSync('deploy/**/*.yaml', { cwd: ROOT }).map(file => readFileSync(join(ROOT, file), 'utf8'));
  expect(manifests.length).toBeGreaterThan(10);
  expect(manifests.filter(text => /aggregate-to-|aggregationRule/.test(text))).toEqual([]);
});

it('docs/security.md says what each part may change', () => {
  const rows = rowsOf(documentOf('docs/security.md'), 'What each part may change');
  const said = rows.map(([part = '', cluster = '', cloud = '']) => [
    part.replaceAll('`', ''),
    cluster.match(/(?<=`)[^`,]+(?=`)/g) ?? [],
    cloud.match(/(?<=`)[^`,]+(?=`)/g) ?? [],
  ]);
  const granted = Object.entries(PERMISSIONS).map(([part, { kubernetes, ec2 }]) => [
    part,
    kubernetes.flatMap(grant =>
      grant.verbs.filter(verb => !READS.includes(verb)).map(verb => describeGrant(verb, grant)),
    ),
    ec2.filter(action => !action.includes('Describe')),
  ]);
  expect(said).toEqual(granted);
});

/** Names of all fields of a JSON Schema. */
function fieldsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const properties: unknown = Reflect.get(schema, 'properties');
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return [...own, ...Object.values(schema).flatMap(fieldsOf)];
}

it('no object and no configuration names an address that Curfew would connect to', () => {
  const config: unknown = z.toJSONSchema(configSchema(), { io: 'input', unrepresentable: 'any' });
  const own = customResourceDefinitions().filter(({ metadata }) => metadata.name?.endsWith('.curfew.dev') === true);
  const fields = [config, ...own.map(({ spec }) => spec)].flatMap(fieldsOf);
  expect(fields.length).toBeGreaterThan(100);
  expect(fields.filter(name => /url|uri|host|address|endpoint|port$|proxy|webhook/i.test(name))).toEqual([]);
});
