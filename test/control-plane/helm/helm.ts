/** Helm as released on the chart of `deploy/`, its values by standard input. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { afterAll, expect } from 'vitest';
import { z } from 'zod';
import { ensureControlPlaneBinaries, ensureHelm } from '../build.ts';
import { HELM_MAJORS, type HelmMajor } from '../go.ts';

export const DEPLOY = join(import.meta.dirname, '..', '..', '..', 'deploy');
export const CHART = join(DEPLOY, 'chart');
export const SETTINGS = { CLUSTER_NAME: 'prod', EVENT_BUS_NAME: 'bus', AWS_REGION: 'eu-west-1' };
export const SETTINGS_MAP = 'curfew-forwarder-settings';
export const REPOSITORY = 'registry.example.com/curfew-forwarder';
/** What has no default. */
export const VALUES = { settings: SETTINGS, image: { repository: REPOSITORY } };

const { kubectl: kubectlFile = 'kubectl' } = await ensureControlPlaneBinaries(() => undefined);
export const folder = realpathSync(mkdtempSync(join(tmpdir(), 'curfew-chart-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

export const objectSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), annotations: z.record(z.string(), z.string()).optional() }),
});
export type Rendered = z.infer<typeof objectSchema>;
export type Ran = ReturnType<typeof run>;

function run(file: string, args: readonly string[], input = '') {
  const env = { ...process.env, HOME: folder };
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', input, env });
  return { status, stdout, stderr };
}

export const kubectl = (...args: readonly string[]): Ran => run(kubectlFile, args);

/** What a run prints that went well, without a word about it. */
export function done({ status, stdout, stderr }: Ran): string {
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

export const objectsOf = (text: string): readonly Rendered[] =>
  parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter(value => value !== null)
    .map(value => objectSchema.parse(value));

export const find = (objects: readonly Rendered[], kind: string, name: string): Rendered | undefined =>
  objects.find(object => object.kind === kind && object.metadata.name === name);

export const withSettings = (more: object) => ({ settings: { ...SETTINGS, ...more } });

export interface Helm {
  readonly major: HelmMajor;
  /** For the title of a suite. */
  readonly skipped: string;
  /** In the namespace `curfew`, unless `args` name another. */
  readonly helm: (args: readonly string[], values?: object) => Ran;
  /** The chart's objects by these values beside those that have no default. */
  readonly rendered: (values: object) => readonly Rendered[];
}

async function helmOf(major: HelmMajor): Promise<Helm> {
  const file = await ensureHelm(() => undefined, major);
  const helm: Helm['helm'] = (args, values) => {
    const given = values === undefined ? [] : ['--values', '-'];
    return run(file ?? 'helm', ['--namespace', 'curfew', ...args, ...given], stringify(values));
  };
  return {
    major,
    skipped: file === undefined ? ' (skipped: building Helm needs Go)' : '',
    helm,
    rendered: values => objectsOf(done(helm(['template', 'curfew', CHART], { ...VALUES, ...values }))),
  };
}

export const HELMS: readonly Helm[] = await Promise.all(HELM_MAJORS.map(helmOf));
