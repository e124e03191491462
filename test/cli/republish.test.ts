import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { republishCommand } from '../../cli/republish.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';

let folder: string;
let cluster: EmbeddedCluster;
let kubeconfig: string;
const ref = { type: RESOURCES.ConfigMap, namespace: 'curfew', name: 'curfew-config' };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  cluster = await startEmbeddedCluster(systemClock, 0);
  kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig());
});

afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

async function republish(): Promise<{ code: number; out: string; error: string }> {
  let [out, error] = ['', ''];
  const output = { out: (text: string) => (out += text), error: (text: string) => (error += text) };
  const code = await republishCommand({ kubeconfig }, output);
  return { code, out, error };
}

it('says where to begin when there is no ConfigMap', async () => {
  expect(await republish()).toEqual({
    code: 2,
    out: '',
    error: 'there is no ConfigMap curfew/curfew-config: apply deploy/ first\n',
  });
});

it('writes a new value each time and leaves the rest of the ConfigMap alone', async () => {
  cluster.core.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'curfew-config', namespace: 'curfew', annotations: { kept: 'yes' } },
    data: { 'config.toml': 'x = 1' },
  });
  expect(await republish()).toMatchObject({ code: 0, error: '' });
  const first = cluster.core.get(ref);
  expect(first).toMatchObject({ metadata: { annotations: { kept: 'yes' } }, data: { 'config.toml': 'x = 1' } });
  expect(await republish()).toMatchObject({ code: 0, error: '' });
  const values = [first, cluster.core.get(ref)].map(({ metadata }) => metadata.annotations?.['curfew.dev/republish']);
  expect(new Set(values).size).toBe(2);
  expect(values).not.toContain(undefined);
});
