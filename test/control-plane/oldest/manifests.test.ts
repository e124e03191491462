/** What `deploy/` holds, on the oldest release. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { warningOn } from '../../../shared/adapters/kubernetes/server-version.ts';
import { defineManifestsContract } from '../../contract/manifests.contract.ts';
import { ensureControlPlaneBinaries } from '../build.ts';
import { realSubjects } from '../real-subject.ts';

it('runs on the release that the chart promises, and no newer one', async () => {
  const { versions } = await ensureControlPlaneBinaries(() => undefined);
  const chart = readFileSync(new URL('../../../deploy/chart/Chart.yaml', import.meta.url), 'utf8');
  const [minor] = /\d+\.\d+/.exec(versions.kubernetes) ?? [];
  expect(chart).toContain(`kubeVersion: '>=${minor}.0-0'`);
  expect([warningOn(`v${minor}.0`), warningOn('v1.29.9')]).toEqual([
    undefined,
    expect.stringContaining(`${minor} or newer`),
  ]);
});

defineManifestsContract('kube-apiserver', realSubjects());
