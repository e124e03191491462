import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { usage } from '../../forwarder/config.ts';
import { createPrometheusMetrics } from '../../forwarder/prometheus.ts';
import { customResource, DRAIN_RESOURCES, WATCHED_RESOURCES } from '../../forwarder/resources.ts';
import {
  aBudget,
  aConfigMap,
  aDatabase,
  aFinalizerRule,
  anAttachment,
  aNode,
  aNodeClaim,
  aNodePool,
  aPod,
  aPolicy,
} from './builders.ts';

const text = readFileSync(new URL('../../docs/forwarder.md', import.meta.url), 'utf8');
const internals = readFileSync(new URL('../../docs/internals/forwarder.md', import.meta.url), 'utf8');

describe('docs/forwarder.md', () => {
  it('names every option with its variable', () => {
    const options = [...usage().matchAll(/^ {2}(--[a-z-]+) \((\w+)\)$/gm)];
    expect(options).toHaveLength(17);
    for (const [, option, variable] of options) expect(text).toContain(`| \`${option}\` | \`${variable}\` |`);
  });

  it('names every metric', async () => {
    const own = (await createPrometheusMetrics(() => undefined).registry.getMetricsAsJSON())
      .map(({ name }) => name)
      .filter(name => name.startsWith('curfew_forwarder_'));
    expect(own.length).toBeGreaterThan(15);
    for (const name of own) expect(text).toContain(`\`${name.replace('curfew_forwarder_', '')}\``);
  });

  it('names every watched resource and the parts of it that count', () => {
    const named = { group: 'example.com', version: 'v1', kind: 'ManagedDatabase' };
    const type = { group: 'example.com', version: 'v1', resource: 'manageddatabases' };
    const drainKind = { ...customResource(named, type, 'drain'), kind: 'kind of the custom drain' };
    const ruleKind = { ...customResource(named, type, 'finalizer'), kind: 'kind of a FinalizerRule' };
    const objects = [
      aNode(),
      aNodeClaim(),
      aNodePool(),
      aPolicy(),
      aConfigMap(),
      aPod(),
      aFinalizerRule(),
      aBudget(),
      anAttachment(),
      { ...aDatabase(), kind: drainKind.kind },
      { ...aDatabase(), kind: ruleKind.kind },
    ];
    for (const { kind, project } of [...WATCHED_RESOURCES, ...DRAIN_RESOURCES, ruleKind, drainKind]) {
      const object = objects.find(candidate => candidate.kind === kind);
      if (object === undefined) throw new Error(`no example of ${kind}`);
      const parts = Object.keys(project(object).parts).toSorted();
      const plural = kind.endsWith('Policy')
        ? `${kind.slice(0, -1)}ies`
        : kind === 'ConfigMap' || kind.startsWith('kind of')
          ? kind
          : `${kind}s`;
      const row = internals.split('\n').find(line => line.startsWith(`| ${plural} |`));
      const stated = (row?.split('|')[3] ?? '')
        .replaceAll(/[¹²³⁴⁵⁶⁷]| \(.*?\)/g, '')
        .replace('that annotation', 'annotations');
      expect(stated.split(',').map(part => part.trim())).toEqual(parts);
    }
  });
});
