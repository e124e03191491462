import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAccessProbe, type NeededAccess } from '../../../../shared/adapters/kubernetes/access-probe.ts';
import { createTransport } from '../../../../shared/adapters/kubernetes/transport.ts';
import { createManualClock } from '../../../fakes/manual-clock.ts';
import { serve } from './scripted-server.ts';

const NEEDED: readonly NeededAccess[] = [
  { group: '', resource: 'nodes', verbs: ['get', 'list'] },
  { group: 'karpenter.sh', resource: 'nodeclaims', verbs: ['patch'] },
  { group: '', resource: 'pods', subresource: 'eviction', verbs: ['create'] },
  { group: '', resource: 'configmaps', verbs: ['get'], namespace: 'curfew', names: ['curfew-config'] },
];
const review = z.object({ spec: z.object({ resourceAttributes: z.record(z.string(), z.string()) }) });

/** A server that allows what `allows` says, and remembers what it was asked. */
async function probeOn(allows: (attributes: Readonly<Record<string, string>>) => boolean | number) {
  const server = await serve(({ body }, response) => {
    const answer = allows(review.parse(JSON.parse(body)).spec.resourceAttributes);
    if (typeof answer === 'number') {
      const reason = answer === 401 ? 'Unauthorized' : 'ServiceUnavailable';
      return response.writeHead(answer).end(JSON.stringify({ kind: 'Status', reason, message: 'no' }));
    }
    return response.writeHead(201).end(JSON.stringify({ status: { allowed: answer } }));
  });
  const asked = () =>
    server.requests.map(({ body }) => Object.values(review.parse(JSON.parse(body)).spec.resourceAttributes).join(' '));
  return { server, asked, probe: probeTo(server.url) };
}
const probeTo = (server: string) =>
  createAccessProbe(createTransport({ server, clock: createManualClock(), userAgent: 'curfew-test' }), NEEDED);

describe('access probe', () => {
  it('asks for every verb, and is content when all is allowed', async () => {
    const { probe, asked } = await probeOn(() => true);
    await expect(probe()).resolves.toBeUndefined();
    expect(asked().toSorted()).toEqual(
      [
        'get  nodes',
        'list  nodes',
        'patch karpenter.sh nodeclaims',
        'create  pods eviction',
        'get  configmaps curfew curfew-config',
      ].toSorted(),
    );
  });

  it('names all that is missing', async () => {
    const { probe } = await probeOn(({ verb }) => verb === 'list');
    await expect(probe()).rejects.toMatchObject({
      reason: 'Forbidden',
      message:
        'the API server does not allow: get nodes, patch nodeclaims.karpenter.sh, create pods/eviction, get configmaps curfew-config in curfew',
    });
  });

  it.each([
    [401, 'Unauthorized'],
    [503, 'ServiceUnavailable'],
  ])('says that it was refused with %d, and asks no more', async (status, reason) => {
    const { probe, asked } = await probeOn(() => status);
    await expect(probe()).rejects.toMatchObject({ name: 'RetryableError', reason });
    expect(asked()).toHaveLength(1);
  });

  it('says that nobody listens', async () => {
    const { server } = await probeOn(() => true);
    server.server.close();
    await once(server.server, 'close');
    await expect(probeTo(server.url)()).rejects.toMatchObject({ name: 'RetryableError', reason: 'ECONNREFUSED' });
  });
});
