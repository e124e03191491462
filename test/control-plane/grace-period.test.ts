/** The grace-period function with exactly the permissions of its manifest, on a real kube-apiserver. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createReconciler } from '../../functions/grace-period/route.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createEventRecorder } from '../../shared/adapters/kubernetes/event-recorder.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport, type Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, toDurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import { startControlPlane, type ControlPlane } from './start.ts';
import { objectAt } from '../fakes/objects.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const USER = 'curfew-grace-period';
const KEY = 'karpenter.sh/do-not-disrupt';
const MARK = 'curfew.dev/protected-until';
/** In the CRD of NodeLifecyclePolicies. */
const PROTECTION = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/protection';

let plane: ControlPlane;
let transport: Transport;
let api: KubernetesApi;
let reconcile: Reconcile;
/** How far the function's clock is ahead: the only thing that is not real. */
let ahead = toDurationMs(0);
const failures: unknown[] = [];

function kubectl(parameters: readonly string[], input = ''): string {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const ran = spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], { input, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return ran.stdout;
}

const apply = (...items: readonly object[]): string =>
  kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
const now = (): EpochMs => addDuration(systemClock.now(), ahead);

async function node(name: string): Promise<KubernetesObject> {
  const found = await objectAt(api, { type: RESOURCES.Node, name });
  if (found === undefined) throw new Error(`no node ${name}`);
  return found;
}

async function wakeUp(name: string): Promise<void> {
  const { uid } = (await node(name)).metadata;
  const subject = { kind: 'Node', apiVersion: 'v1', name, uid };
  await reconcile({ kind: 'wakeUp', owner: 'grace-period', subject, wakeTime: now() });
}

const pod = (name: string, nodeName: string, value: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, annotations: { [KEY]: value } },
  spec: { nodeName, containers: [{ name: 'main', image: 'main' }] },
});

beforeAll(async () => {
  plane = await startControlPlane({
    users: [{ name: USER, groups: ['curfew:grace-period'] }],
    log: line => process.stderr.write(`${line}\n`),
  });
  kubectl(['apply', '--server-side', ...plane.karpenterCrds.flatMap(file => ['-f', file])]);
  kubectl(['apply', '-f', `${root}deploy/crds`, '-f', `${root}deploy/rbac/grace-period.yaml`]);
  kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
  apply(
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } },
  );

  const token = plane.tokenFor(USER);
  transport = createTransport({
    server: plane.url,
    clock: systemClock,
    userAgent: 'curfew-grace-period',
    tls: { ca: plane.caPem },
    authenticator: { headers: async () => ({ authorization: `Bearer ${token}` }), invalidate: () => undefined },
  });
  api = createKubernetesApi(transport);
  const clock = { ...systemClock, now };
  reconcile = createReconciler({
    kubernetes: api,
    records: createMemoryRecordStore(),
    wakeUps: { send: async () => undefined },
    events: createEventRecorder({
      kubernetes: api,
      clock,
      instance: 'grace-period',
      onFailure: (_event, error) => failures.push(error),
    }),
    audit: { write: () => undefined },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    clock,
  });
});
afterAll(async () => {
  transport?.close();
  await plane?.stop();
});

const eventsOf = (name: string): readonly string[] =>
  kubectl(['get', 'events', '--field-selector', `involvedObject.name=${name}`, '-o', 'jsonpath={.items[*].reason}'])
    .split(' ')
    .filter(reason => reason !== '');

describe('the grace-period function on kube-apiserver', () => {
  it('holds a node for a pod, and lets it go at the end', async () => {
    apply(pod('ci', 'n1', '4h'));
    await wakeUp('n1');
    const created = kubectl(['get', 'pod', 'ci', '-o', 'jsonpath={.metadata.creationTimestamp}']);
    const end = new Date(Date.parse(created) + hours(4)).toISOString().replace('.000Z', 'Z');
    expect((await node('n1')).metadata.annotations).toMatchObject({ [KEY]: 'true', [MARK]: end });
    expect(eventsOf('ci')).toEqual([]);

    ahead = hours(4);
    await wakeUp('n1');
    await wakeUp('n1');
    const { annotations = {} } = (await node('n1')).metadata;
    expect([annotations[KEY], annotations[MARK]]).toEqual([undefined, undefined]);
    expect(eventsOf('ci')).toEqual(['DoNotDisruptGracePeriodElapsed']);
    expect(failures).toEqual([]);
  });

  it('follows a policy, and reports one that is not valid', async () => {
    const policy = (protection: object): object => ({
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'caps' },
      spec: { protection },
    });
    ahead = toDurationMs(0);
    apply(pod('capped', 'n2', '8h'), policy({ maxDuration: '2h' }));
    await wakeUp('n2');
    expect(eventsOf('capped')).toEqual(['DoNotDisruptDurationCapped']);

    // As before the CRD had a rule for it. The server takes a moment to go by a changed CRD.
    const rules = `${PROTECTION}/properties/maxDuration/x-kubernetes-validations`;
    const patch = JSON.stringify([{ op: 'remove', path: rules }]);
    kubectl(['patch', 'crd', 'nodelifecyclepolicies.curfew.dev', '--type', 'json', '-p', patch]);
    await vi.waitFor(() => apply(policy({ maxDuration: '99999999h' })), { timeout: 30_000, interval: 200 });
    const uid = kubectl(['get', 'nodelifecyclepolicy', 'caps', '-o', 'jsonpath={.metadata.uid}']);
    await reconcile({
      kind: 'clusterEvent',
      event: {
        schemaVersion: 1,
        cluster: 'test',
        change: 'Modified',
        subject: { kind: 'NodeLifecyclePolicy', apiVersion: 'curfew.dev/v1alpha1', name: 'caps', uid },
        resourceVersion: '1',
        changed: ['spec'],
        hints: {},
        groupKey: uid,
        eventKey: uid,
        observedTime: '',
      },
    });
    expect(eventsOf('caps')).toEqual(['InvalidProtectionConfiguration']);
    expect(failures).toEqual([]);
  });
});
