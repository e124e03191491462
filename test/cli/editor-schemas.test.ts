/** The JSON Schemas for editors: those of the code, and what they say of files. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse as parseToml } from 'smol-toml';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { schemaFiles } from '../../cli/editor-schemas.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const schema = (name: string): z.ZodType =>
  z.fromJSONSchema(
    JSON.parse(readFileSync(`${root}deploy/schemas/${name}.schema.json`, 'utf8')) as z.core.JSONSchema.JSONSchema,
  );

it.each(schemaFiles())('$path is made of the code: npm run generate', ({ path, text }) => {
  expect(readFileSync(`${root}${path}`, 'utf8')).toBe(text);
});

describe('a scenario', () => {
  const scenario = schema('scenario');

  it('that runs has nothing against it', () => {
    const refused = globSync('examples/scenarios/*.yaml', { cwd: root }).flatMap(file =>
      parseAllDocuments(readFileSync(`${root}${file}`, 'utf8'), { merge: true }).flatMap(document => {
        const result = scenario.safeParse(document.toJS());
        return result.success ? [] : [`${file}: ${z.prettifyError(result.error)}`];
      }),
    );
    expect(refused).toEqual([]);
  });

  it('with a misspelt key is refused', () => {
    const spec = { start: '2024-11-01T15:00:00Z', duration: '1h' };
    const of = (more: object) => ({
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'Scenario',
      metadata: { name: 's' },
      spec: { ...spec, ...more },
    });
    expect(scenario.safeParse(of({})).success).toBe(true);
    expect(scenario.safeParse(of({ expects: [] })).success).toBe(false);
    expect(scenario.safeParse(of({ actors: ['kubelets'] })).success).toBe(false);
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
    const listed = (item: object) => of({ objects: [node, { apiVersion: 'v1', kind: 'List', items: [item] }] });
    expect(scenario.safeParse(listed(node)).success).toBe(true);
    expect(scenario.safeParse(listed({ ...node, metadata: {} })).success).toBe(false);
  });
});

describe('a configuration', () => {
  const config = schema('config');
  const accepts = (toml: string) => config.safeParse(parseToml(toml)).success;

  it('that is valid has nothing against it', () => {
    const files = globSync(['deploy/config/*.toml', 'examples/**/*.toml'], { cwd: root });
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect([file, accepts(readFileSync(`${root}${file}`, 'utf8'))]).toEqual([file, true]);
    expect(accepts('[[userNamespaces]]\nname = "*"\nmode = "AllowCompletion"\n[customDrain]\ntimeout = 3600')).toBe(
      true,
    );
  });

  it.each([
    'evictionTimeout = "60"',
    'drainGPUPods = "yes"',
    '[featureGates]\nnodeRepairs = true',
    '[[userNamespaces]]\nname = "*"\nmode = "Immediately"',
    '[customDrain]\ntimeout = true',
  ])('is refused: %s', toml => {
    expect(accepts(toml)).toBe(false);
  });
});

describe('a policy', () => {
  const policy = schema('nodelifecyclepolicy');
  const of = (spec: object) => ({
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: 'edge', labels: { a: 'b' } },
    spec,
  });

  it.each([
    [true, { repair: { defaultTolerationDuration: '30m', maxUnhealthy: '20%', zoneOutage: 'Off' } }],
    [
      true,
      {
        termination: {
          scope: 'NodeOnly',
          hooks: [{ name: 'a', at: 'before-drain', event: { detailType: 'X' }, deadline: '10m' }],
        },
      },
    ],
    [true, { protection: { compatibility: 'Karpenter', maxDuration: '24h' }, mode: 'Observe' }],
    [false, { mode: 'Observed' }],
    [false, { repair: { maxUnhealty: 1 } }],
    [false, { termination: { scope: 'NodesOnly' } }],
    [false, { protection: { maxDuration: 24 } }],
  ])('%j: %j', (isValid, spec) => {
    expect(policy.safeParse(of(spec)).success).toBe(isValid);
  });
});

it('a FinalizerRule', () => {
  const rule = schema('finalizerrule');
  const of = (spec: object) => ({
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'FinalizerRule',
    metadata: { name: 'r' },
    spec,
  });
  const spec = {
    version: 'v1',
    kind: 'Database',
    finalizerName: 'example.com/db',
    cleanup: { lambda: { functionName: 'f' } },
  };
  expect(rule.safeParse(of(spec)).success).toBe(true);
  expect(rule.safeParse(of({ ...spec, onDeadline: 'Drop' })).success).toBe(false);
  expect(rule.safeParse(of({ ...spec, cleanup: { lambdas: {} } })).success).toBe(false);
});
