/** The Helm chart without Helm; `test/control-plane/helm` renders and installs it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CHART_FILES, chartFiles } from '../../deploy/chart-files.ts';
import { ConfigError, readConfig, usage } from '../../forwarder/config.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const resourcesOf = (file: string): readonly string[] =>
  z.object({ resources: z.array(z.string()) }).parse(parse(text(file))).resources;
const schema = z.looseObject({}).parse(JSON.parse(text('deploy/chart/values.schema.json')));
const values = z.looseObject({}).parse(parse(text('deploy/chart/values.yaml')));

/** What the Deployment settles itself: its probes' port, its Lease, its service account's cluster. */
const NOT_SET = ['HEALTH_HOST', 'HEALTH_PORT', 'KUBECONFIG', 'KUBE_CONTEXT', 'LEASE_NAME', 'LEASE_NAMESPACE'];

const NUMBERS = [
  'QUEUED_OBJECTS_MAX',
  'STALE_AFTER_SECONDS',
  'DRAIN_TIMEOUT_SECONDS',
  'HEARTBEAT_SECONDS',
  'PUBLISH_INTERVAL_SECONDS',
  'RESYNC_HOURS',
  'RESYNC_PER_SECOND',
];
/** Each bound of a number with its neighbours, and what is none. */
const SETTINGS_TRIED = [
  ...[0, 1, 168, 180, 600, 1000, 3600, 86_400, 1_000_000].flatMap(bound =>
    [bound - 1, bound, bound + 1, bound * 2].map(String),
  ),
  '',
  '007',
  'four',
  '4h',
  '1.5',
  '1e3',
  ' 4',
  '9999999999',
  'debug',
  'warn',
  'silent',
  'loud',
  'Info',
];

function isRead(env: Readonly<Record<string, string>>): boolean {
  try {
    return readConfig([], env) !== 'help';
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

describe('deploy/chart', () => {
  it.each(chartFiles().map(file => [file.path, file.text]))('%s is the copy (else: npm run generate)', (path, copy) => {
    expect(text(path)).toBe(copy);
  });

  it('has copies of all that the kustomization applies, but the Namespace, and nothing else', () => {
    const forwarder = resourcesOf('deploy/forwarder/kustomization.yaml').map(file => `forwarder/${file}`);
    const applied = [...resourcesOf('deploy/kustomization.yaml').filter(file => file !== 'forwarder'), ...forwarder];
    const copied = [...applied.filter(file => file !== 'forwarder/namespace.yaml'), 'config/config.toml'].toSorted();
    expect(globSync('*/*', { cwd: join(ROOT, CHART_FILES) }).toSorted()).toEqual(copied);
    expect(
      chartFiles()
        .map(({ path }) => path.slice(CHART_FILES.length + 1))
        .toSorted(),
    ).toEqual(copied);
  });

  it('has values that its schema takes, and none of another name', () => {
    const validate = new Ajv({ allErrors: true, allowMatchingProperties: true }).compile(schema);
    expect([validate(values), validate.errors]).toEqual([true, null]);
    expect(validate({ setings: {} })).toBe(false);
    expect(validate({ settings: { RESYNC_HOUR: '4' } })).toBe(false);
  });

  it.each(['LOG_LEVEL', ...NUMBERS])('takes of %s the values that the forwarder takes', name => {
    const validate = new Ajv({ allowMatchingProperties: true }).compile(schema);
    const answers = SETTINGS_TRIED.map(tried => {
      const settings = { CLUSTER_NAME: 'c', EVENT_BUS_NAME: 'b', AWS_REGION: 'r', [name]: tried };
      return { tried, chart: validate({ ...values, settings }), forwarder: isRead(settings) };
    });
    expect(answers.map(({ chart }) => chart)).toContain(false);
    expect(answers.filter(({ chart, forwarder }) => chart !== forwarder)).toEqual([]);
  });

  it('takes each setting of the forwarder that the Deployment does not make', () => {
    const settings = z
      .object({ properties: z.object({ settings: z.object({ properties: z.record(z.string(), z.unknown()) }) }) })
      .parse(schema).properties.settings.properties;
    const known = [...usage().matchAll(/\(([A-Z_]+)\)$/gm)].map(([, name = '']) => name);
    expect([...Object.keys(settings), ...NOT_SET].toSorted()).toEqual(known.toSorted());
  });

  it('is of the version of Curfew', () => {
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(text('package.json')));
    expect(parse(text('deploy/chart/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});
