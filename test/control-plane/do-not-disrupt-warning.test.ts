/** The admission policy of `deploy/policies` on kube-apiserver: it warns of exactly what the grace-period function takes for not valid. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { parseDoNotDisrupt } from '../../shared/domain/protection.ts';
import { seconds, toDurationMs } from '../../shared/domain/time.ts';
import { createHttpClient } from '../contract/api-server/http-client.ts';
import { APPLIED, podWith, TOO_LONG, WRAPPED_VECTORS } from '../fixtures/do-not-disrupt-manifests.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

const POLICY = fileURLToPath(new URL('../../deploy/policies/do-not-disrupt-warning.yaml', import.meta.url));
const fixture = new URL('../fixtures/conformance/go-duration-vectors.json', import.meta.url);
const { vectors } = z
  .object({ vectors: z.array(z.object({ id: z.string(), input: z.string() })) })
  .parse(JSON.parse(readFileSync(fixture, 'utf8')));

/** How long the API server may take to put a policy into force. */
const IN_FORCE_WITHIN = seconds(30);

let plane: ControlPlane;

/** What kubectl prints, warnings included. Throws when the server refuses. */
function kubectl(parameters: readonly string[], input = ''): string {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const ran = spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], { input, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return ran.stdout + ran.stderr;
}

const apply = (manifests: readonly KubernetesManifest[]): string =>
  kubectl(
    ['apply', '--dry-run=server', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }),
  );
const warnings = (output: string): readonly string[] => output.split('\n').filter(line => line.startsWith('Warning: '));

beforeAll(async () => {
  plane = await startControlPlane({
    users: [{ name: 'author', groups: ['system:masters'] }],
    log: line => process.stderr.write(`${line}\n`),
  });
  kubectl(['apply', '-f', POLICY]);
  const deadline = systemClock.now() + IN_FORCE_WITHIN;
  while (warnings(apply([podWith('probe', '4d')])).length === 0) {
    if (systemClock.now() > deadline) throw new Error('the policy does not come into force');
    await systemClock.sleep(toDurationMs(200));
  }
});
afterAll(() => plane?.stop());

describe('do-not-disrupt-warning.curfew.dev', () => {
  it.each(APPLIED)('$manifest.kind $manifest.metadata.name: warns $warns', ({ manifest, warns }) => {
    const said = warnings(apply([manifest]));
    expect(said).toHaveLength(warns ? 1 : 0);
    expect(said.every(line => line.includes('is neither "true" nor a positive Go duration'))).toBe(true);
  });

  it('does not parse what is very long', () => {
    const said = warnings(apply([podWith('long', TOO_LONG)]));
    expect(said).toEqual([expect.stringContaining('has more than 256 characters')]);
  });

  // By a request each: kubectl would take a tenth of a second for it, on three releases.
  it('answers every vector as the grace-period function does', async () => {
    const http = createHttpClient({ url: plane.url, ca: plane.caPem, token: plane.tokenFor('author') });
    onTestFinished(() => http.close());
    const judged = vectors.filter(({ id }) => !WRAPPED_VECTORS.includes(id));
    const verdicts = await Promise.all(
      judged.map(async ({ id, input }, index) => {
        const body = podWith(`vector-${index}`, input);
        const answer = await http.call('POST', '/api/v1/namespaces/default/pods', { body, query: { dryRun: 'All' } });
        expect({ id, status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
        return `${id} ${answer.headers['warning'] === undefined ? 'good' : 'bad'}`;
      }),
    );
    const expected = judged.map(({ id, input }) => {
      const isBad = parseDoNotDisrupt(input, 'Design').kind === 'invalid';
      return `${id} ${isBad ? 'bad' : 'good'}`;
    });
    expect(verdicts).toEqual(expected);
    expect(new Set(verdicts.map(verdict => verdict.split(' ').at(-1)))).toEqual(new Set(['good', 'bad']));
  });

  it('has no complaint of the type checker', () => {
    const status = kubectl(['get', 'validatingadmissionpolicies', '-o', 'jsonpath={.items[0].status.typeChecking}']);
    expect(status).not.toContain('expressionWarnings');
  });
});
