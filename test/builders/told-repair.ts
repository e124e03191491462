/** A run of repair told line by line to one check: what the cluster shows, what repair calls and says. The pool is `web`; instants are minutes. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toTimestamp } from '../../shared/domain/time.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import { configurationOf } from '../../simulator/invariants/configuration.ts';
import type { CheckContext, MakeCheck, PortCall, Run } from '../../simulator/invariants/invariant.ts';
import type { Mirror, Mirrored } from '../../simulator/invariants/mirror.ts';
import { foundIn } from './mirror.ts';

const START = Date.parse('2024-11-01T15:00:00Z');
const MINUTE = 60_000;

export interface NodeTold {
  readonly name: string;
  readonly zone?: string;
  /** Minutes; default: two hours before. */
  readonly created?: number;
  /** `[type, status, minute of the transition, reason]`. */
  readonly conditions?: readonly (readonly [type: string, status: string, since: number, reason?: string])[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly string[];
  readonly isCordoned?: boolean;
  /** Minute. */
  readonly deleted?: number;
  readonly bootID?: string;
  readonly hasClaim?: boolean;
  /** Of its NodeClaim, where it is not as that of a node of the pool. */
  readonly claim?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly isNameless?: boolean;
    /** Minute. */
    readonly deleted?: number;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

type Listener = (resource: Mirrored, uid: string, object: KubernetesObject | undefined) => void;

export function toldRepair(make: MakeCheck, repair: object = {}) {
  let now = START;
  let changes = 0;
  const objects = new Map<Mirrored, Map<string, KubernetesObject>>();
  const listeners: Listener[] = [];
  const of = (resource: Mirrored): Map<string, KubernetesObject> => {
    const known = objects.get(resource) ?? new Map<string, KubernetesObject>();
    objects.set(resource, known);
    return known;
  };
  const lastPools = new Map<string, KubernetesObject>();
  const set = (resource: Mirrored, object: KubernetesObject): void => {
    changes += 1;
    if (resource === 'nodepools') lastPools.set(object.metadata.name, object);
    of(resource).set(object.metadata.uid, object);
    for (const listener of listeners) listener(resource, object.metadata.uid, object);
  };
  const mirror: Mirror = {
    all: of,
    ...foundIn(of),
    lastPools: () => lastPools,
    validConfiguration: () => [...of('configmaps').values()].findLast(each => configurationOf(each) !== undefined),
    changes: () => changes,
    follow(listener) {
      for (const [resource, known] of objects) for (const [uid, object] of known) listener(resource, uid, object);
      listeners.push(listener);
    },
  };
  const found: string[] = [];
  const fixes: KubernetesObject[] = [];
  let lostAt = -Infinity;
  const context: Partial<CheckContext> = {
    mirror,
    now: () => toEpochMs(now),
    clockTolerance: 0 as CheckContext['clockTolerance'],
    quietSince: () => toEpochMs(START - 60 * MINUTE),
    memoryOf: time => (time <= lostAt ? 'none' : 'whole'),
    lastDenial: () => -Infinity,
    objects: () => fixes,
    current: ({ metadata: { uid } }) => fixes.find(fix => fix.metadata.uid === uid),
    violate: (invariant, message) => void found.push(`${invariant}: ${message}`),
  };
  const check = make(context as CheckContext);
  const stamp = (minute: number): string => toTimestamp(toEpochMs(START + minute * MINUTE));
  const setPool = (block: object, disruption: Readonly<Record<string, string>> = {}): void =>
    set('nodepools', {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'web', uid: 'pool', resourceVersion: '1', creationTimestamp: stamp(-500) },
      spec: { repair: JSON.parse(JSON.stringify(block)), disruption },
    });
  setPool(repair);
  const call = (port: PortCall['port'], method: string, args: readonly unknown[], value: unknown): Run => {
    const time = toEpochMs(now);
    const made: PortCall = { port, method, args, time, outcome: { kind: 'pending' } };
    const run: Run = { by: 'repair', startTime: time, calls: [looked(), ...listed()] };
    check.onCall?.(made, run);
    run.calls.push(made);
    made.outcome = value instanceof Error ? { kind: 'failed', error: value } : { kind: 'answered', value };
    check.onAnswer?.(made, run);
    return run;
  };
  /** Each run looks at the NodePool. */
  const looked = (): PortCall => ({
    port: 'kubernetes',
    method: 'get',
    args: [{ type: { group: 'karpenter.sh', version: 'v1', resource: 'nodepools' }, name: 'web' }],
    time: toEpochMs(now),
    outcome: { kind: 'answered', value: { kind: 'there', object: of('nodepools').get('pool') } },
  });
  /** Where there is a policy, each lists policies and nodes, too. */
  const listed = (): readonly PortCall[] => {
    if (of('nodelifecyclepolicies').size === 0) return [];
    return (['nodelifecyclepolicies', 'nodes'] as const).map(resource => ({
      port: 'kubernetes',
      method: 'list',
      args: [{ resource }],
      time: toEpochMs(now),
      outcome: { kind: 'answered', value: { kind: 'there', objects: [...of(resource).values()] } },
    }));
  };
  return {
    found,
    setPool,
    setPolicy: (spec: object): void =>
      set('nodelifecyclepolicies', {
        apiVersion: 'curfew.dev/v1alpha1',
        kind: 'NodeLifecyclePolicy',
        metadata: { name: 'all', uid: 'policy', resourceVersion: '1', creationTimestamp: stamp(-500) },
        spec: JSON.parse(JSON.stringify(spec)),
      }),
    /** `config.toml` of the ConfigMap. */
    setConfig: (toml: string): void =>
      set('configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          namespace: 'curfew',
          name: 'curfew-config',
          uid: 'config',
          resourceVersion: '1',
          creationTimestamp: stamp(-500),
        },
        data: { 'config.toml': toml },
      }),
    /** A custom resource that a repair of the node makes. */
    fix(name: string, finalizers?: readonly string[]): void {
      const annotations = { 'curfew.dev/repair': `node-${name}.${now}` };
      const metadata = {
        name,
        uid: `fix-${name}`,
        resourceVersion: '1',
        creationTimestamp: toTimestamp(toEpochMs(now)),
      };
      const made = {
        apiVersion: 'ops.example.com/v1',
        kind: 'NodeFix',
        metadata: { ...metadata, annotations, ...(finalizers && { finalizers }) },
      };
      fixes.push(made);
      const resource = { group: 'ops.example.com', version: 'v1', resource: 'nodefixes' };
      check.onWrite?.({ verb: 'create', resource, after: made } as never, 'repair');
    },
    /** The table is empty from now on. */
    loseTable: (): void => void (lostAt = now),
    at(minute: number): void {
      now = START + minute * MINUTE;
    },
    node({ name, zone = 'a', created = -120, hasClaim = true, ...told }: NodeTold): void {
      const labels = { 'karpenter.sh/nodepool': 'web', 'topology.kubernetes.io/zone': zone };
      const providerID = `aws:///${zone}/i-${name}`;
      const metadata = { name, resourceVersion: '1', creationTimestamp: stamp(created), labels };
      if (hasClaim)
        set('nodeclaims', {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodeClaim',
          metadata: {
            ...metadata,
            ...(told.claim?.labels && { labels: told.claim.labels }),
            ...(told.claim?.annotations && { annotations: told.claim.annotations }),
            ...(told.claim?.deleted !== undefined && { deletionTimestamp: stamp(told.claim.deleted) }),
            uid: `claim-${name}`,
          },
          status: { providerID, ...(told.claim?.isNameless === true ? {} : { nodeName: name }) },
        });
      set('nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          ...metadata,
          uid: `node-${name}`,
          ...(told.annotations !== undefined && { annotations: told.annotations }),
          ...(told.deleted !== undefined && { deletionTimestamp: stamp(told.deleted) }),
        },
        spec: {
          providerID,
          taints: (told.taints ?? []).map(key => ({ key, effect: 'NoSchedule' })),
          ...(told.isCordoned === true && { unschedulable: true }),
        },
        status: {
          conditions: (told.conditions ?? [['Ready', 'True', -100]]).map(([type, status, since, reason = '']) => ({
            type,
            status,
            reason,
            lastTransitionTime: stamp(since),
          })),
          nodeInfo: { bootID: told.bootID ?? `boot-${name}` },
        },
      });
    },
    terminate: (name: string, value: unknown = { kind: 'ok' }): unknown =>
      call(
        'kubernetes',
        'delete',
        [{ type: { group: 'karpenter.sh', version: 'v1', resource: 'nodeclaims' }, name }],
        value,
      ),
    reboot: (name: string, value: unknown = { kind: 'ok' }, zone = 'a'): unknown =>
      call('instances', 'reboot', [`aws:///${zone}/i-${name}`], value),
    /** A custom resource is asked for. @param answer an error: the call has failed */
    ask: (name: string, answer: unknown = { kind: 'ok' }): unknown =>
      call(
        'kubernetes',
        'create',
        [
          { group: 'ops.example.com', version: 'v1', resource: 'nodefixes' },
          { metadata: { name, annotations: { 'curfew.dev/repair': `node-${name}.${now}` } } },
        ],
        answer,
      ),
    say: (name: string, decision: string, reason: string): void =>
      check.onAudit?.({ function: 'repair', decision, reason, message: '', kind: 'Node', name }),
    /** @param isRecorded the run that says it writes its record afterwards, and does not die before */
    event(name: string, reason: string, message: string, isRecorded = true): void {
      const event = { involvedObject: { kind: 'Node', name, uid: `node-${name}` }, reason, message };
      const run = call('kubernetes', 'create', [{ group: '', version: 'v1', resource: 'events' }, event], {
        kind: 'ok',
      });
      const put = {
        port: 'records',
        method: 'put',
        args: [{ id: `node/node-${name}` }],
        time: toEpochMs(now),
      } as const;
      if (isRecorded) run.calls.push({ ...put, outcome: { kind: 'answered', value: { kind: 'written' } } });
    },
    report(policy: string, status: object, before: object): void {
      const of_ = (value: object) => ({
        kind: 'NodeLifecyclePolicy',
        metadata: { name: policy, uid: policy, generation: 1 },
        status: value,
      });
      const resource = { group: 'curfew.dev', version: 'v1alpha1', resource: 'nodelifecyclepolicies' };
      const write = { verb: 'patch', resource, subresource: 'status', before: of_(before), after: of_(status) };
      check.onWrite?.(write as never, 'repair');
    },
    look: (): void => check.onMinute?.(),
    /** A record is stored; undefined: it is removed. @param key `owner/id` */
    store(key: string, state: object | undefined, subject: object = {}): void {
      const id = key.slice(key.indexOf('/') + 1);
      check.onRecord?.(key, state && ({ id, subject, state } as unknown as NewRecord));
    },
    /** Sees the object go. */
    remove(resource: Mirrored, uid: string): void {
      changes += 1;
      of(resource).delete(uid);
      for (const listener of listeners) listener(resource, uid, undefined);
    },
  };
}

export const OK = [['Ready', 'True', -100]] as const;
export const UNHEALTHY = [['Ready', 'False', -60]] as const;
