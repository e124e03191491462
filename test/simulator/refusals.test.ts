import { describe, expect, it } from 'vitest';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { createInProcessClusterWatch } from '../../runtime/in-process/cluster-watch.ts';
import { addDuration, minutes, toEpochMs } from '../../shared/domain/time.ts';
import { createRefusals, type Refusals } from '../../simulator/refusals.ts';
import type { Refusal } from '../../simulator/scenario/scenario.ts';
import { createVirtualTime, type VirtualTime } from '../../simulator/virtual-time.ts';
import { createCluster } from '../../simulator/world.ts';
import { complaints, nodeObjects, simulate, story } from './simulate.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1));
const NODES = { group: '', version: 'v1', resource: 'nodes' };
const CLAIMS = { group: 'karpenter.sh', version: 'v1', resource: 'nodeclaims' };
const PODS = { group: '', version: 'v1', resource: 'pods' };
const N1 = { type: NODES, name: 'n1' };
const N2 = { type: NODES, name: 'n2' };
const POD = { type: PODS, namespace: 'prod', name: 'web-0' };
const NOTHING = { preconditions: {} };

interface World {
  readonly time: VirtualTime;
  readonly refusals: Refusals;
  readonly api: ReturnType<typeof createInProcessKubernetesApi>;
  readonly watch: ReturnType<typeof createInProcessClusterWatch>;
}

function createWorld(...refused: Refusal[]): World {
  const time = createVirtualTime({ start: START });
  const core = createCluster(time);
  for (const name of ['n1', 'n2']) core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } });
  core.seed({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'prod', name: 'web-0' } });
  const refusals = createRefusals(time, addDuration(START, minutes(60)));
  const watch = createInProcessClusterWatch(refusals.guard(core, 'forwarder', 'curfew:forwarder'), time);
  refusals.onWatchRefused(isRefused => watch.endWatches(isRefused));
  const api = createInProcessKubernetesApi(refusals.guard(core, 'drain', 'curfew:drain'), 'curfew:drain');
  for (const refusal of refused) refusals.begin(refusal, minutes(10));
  return { time, refusals, api, watch };
}

describe('a refusal', () => {
  it('meets the requests that agree with every field, and no other', async () => {
    const { api } = createWorld({ verb: 'patch', resource: 'nodes', name: 'n1', as: { status: 503 } });
    const patch = { type: 'merge', body: { spec: { unschedulable: true } } } as const;
    await expect(api.patch(N1, patch)).rejects.toMatchObject({ reason: 'ServiceUnavailable', outcomeUnknown: true });
    await expect(api.patch(N1, patch, { subresource: 'status' })).rejects.toThrow('patching nodes n1: 503');
    expect(await api.patch(N2, patch)).toMatchObject({ kind: 'ok' });
    expect(await api.get(N1)).toMatchObject({ kind: 'there', object: { metadata: { name: 'n1' } } });
  });

  it('is for the parts that it names', async () => {
    const { api, watch } = createWorld({ verb: 'list', by: 'forwarder', as: { status: 500 } });
    expect(await api.list(NODES)).toMatchObject({ kind: 'there', objects: [{}, {}] });
    const signal = new AbortController().signal;
    await expect(watch.list(NODES, { signal })).rejects.toThrow('listing nodes: 500 InternalError');
  });

  it('ends after its time, and at the end of the scenario at the latest', async () => {
    const { api, time, refusals } = createWorld({ resource: 'nodes', as: { status: 500 } });
    refusals.begin({ resource: 'pods', as: { status: 500 } }, undefined);
    await time.runUntil(addDuration(START, minutes(10)));
    expect(await api.get(N1)).toMatchObject({ kind: 'there' });
    await expect(api.get(POD)).rejects.toThrow('500');
    await time.runUntil(addDuration(START, minutes(60)));
    expect(await api.get(POD)).toMatchObject({ kind: 'there' });
  });

  it('tells kinds of one plural apart by the group', async () => {
    const { api } = createWorld({ resource: 'nodeclaims.example.com', as: { status: 500 } });
    expect(await api.list(CLAIMS)).toEqual({ kind: 'there', objects: [] });
  });

  it.each([
    [{ status: 401 }, 'Unauthorized'],
    [{ status: 403 }, 'Forbidden'],
    [{ status: 408 }, 'Timeout'],
    [{ status: 410 }, 'Expired'],
    [{ status: 429 }, 'TooManyRequests'],
    [{ status: 500 }, 'InternalError'],
    [{ status: 504 }, 'Timeout'],
    [{ status: 302 }, 'Status302'],
    [{ status: 422 }, 'Invalid'],
  ])('with %o has the reason of kube-apiserver', async (as, reason) => {
    const { api } = createWorld({ verb: 'delete', resource: 'nodes', as });
    await expect(api.delete(N1, NOTHING)).rejects.toMatchObject({ reason });
  });

  it('with 403 is worded as by the authorizer', async () => {
    const { api } = createWorld({ verb: 'evict', as: { status: 403 } });
    await expect(api.evict(POD, NOTHING)).rejects.toThrow(
      'pods "web-0" is forbidden: User "curfew:drain" cannot create resource "pods/eviction" in API group "" in the namespace "prod"',
    );
  });

  it('with 409 is a conflict, and with 404 an object that is not there', async () => {
    const { api } = createWorld(
      { verb: 'delete', resource: 'nodes', name: 'n1', as: { status: 409 } },
      { verb: 'delete', resource: 'nodes', name: 'n2', as: { status: 404 } },
    );
    expect(await api.delete(N1, NOTHING)).toMatchObject({ kind: 'conflict' });
    expect(await api.delete(N2, NOTHING)).toEqual({ kind: 'notFound' });
  });

  it('as a kind that is not served takes the kind out of discovery, for those that it names', async () => {
    const { api, watch } = createWorld({ resource: 'nodeclaims', by: 'drain', as: { notServed: true } });
    const kind = { group: 'karpenter.sh', version: 'v1', kind: 'NodeClaim' };
    expect(await api.resolve(kind)).toBeUndefined();
    expect(await api.versionsOf(kind)).toEqual([]);
    expect(await api.list(CLAIMS)).toMatchObject({ kind: 'notServed' });
    expect(await api.get({ type: CLAIMS, name: 'c' })).toMatchObject({ kind: 'notServed' });
    const signal = new AbortController().signal;
    expect(await watch.resolve(kind, signal)).toMatchObject({ resource: 'nodeclaims' });
    expect(await watch.list(CLAIMS, { signal })).toMatchObject({ kind: 'page' });
  });

  it('ends the watches that it is about', async () => {
    const { refusals, watch } = createWorld();
    const signal = new AbortController().signal;
    const open = (type: typeof NODES) =>
      watch.watch(type, { resourceVersion: '', timeoutSeconds: 600, signal })[Symbol.asyncIterator]().next();
    const claims = open(CLAIMS);
    const nodes = open(NODES);
    refusals.begin({ resource: 'nodeclaims', as: { notServed: true } }, undefined);
    expect(await claims).toEqual({ done: true, value: undefined });
    expect(await nodes).toMatchObject({ value: { type: 'ADDED' } });
    await expect(open(CLAIMS)).rejects.toThrow('watching nodeclaims: the server could not find the requested resource');
  });
});

describe('the step refuse', () => {
  const drain = `  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: n1 }, spec: { providerID: "aws:///us-west-2a/i-1" } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: web-0 }, spec: { nodeName: n1, containers: [] } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: web-1 }, spec: { nodeName: n1, containers: [] } }
  config: "[[userNamespaces]]\\nname = '*'\\nmode = 'Immediate'\\n"
`;
  const event =
    '{ source: nvsentinel, detail-type: HealthEvent, detail: { id: e1, nodeName: n1, isFatal: true, cluster: simulated } }';

  it('refuses one pod of a drain for its time alone', async () => {
    const result = await simulate(`${drain}
  steps:
    - { at: 1m, refuse: { verb: evict, namespace: prod, name: web-0, status: 500, for: 20m } }
    - { at: 2m, busEvent: ${event} }
  expect:
    - { at: 2m, write: { verb: evict, name: web-1 } }
    - { before: 21m, write: { verb: evict, name: web-0 }, times: 0 }
    - { at: 21m, within: 5m, write: { verb: evict, name: web-0 } }
`);
    expect(complaints(result)).toEqual([]);
    expect(story(result, 'scenario')[0]).toContain('refuse evict prod/web-0 with 500 for 1200 s');
  });

  it('leaves actors and steps alone', async () => {
    const result = await simulate(`  objects:
${nodeObjects('a', 'True')}
  steps:
    - { at: 1m, refuse: { resource: nodeclaims, status: 500 } }
    - { at: 1m, refuse: { resource: nodes, status: 500 } }
    - { at: 2m, delete: { resource: nodeclaims, name: a } }
  expect:
    - { final: { resource: nodes, name: a, exists: false } }
    - { final: { instance: "aws:///us-west-2a/i-a", state: terminated } }
`);
    expect(complaints(result)).toEqual([]);
  });
});
