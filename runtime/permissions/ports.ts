/** All ports of one part of Curfew within its row of the permission table; what is outside of it fails as the real services fail. */
import { KNOWN_POOLS } from '../../shared/contract/table.ts';
import type { InstanceAction, Permissions } from '../../shared/contract/permissions.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { ClusterWatch } from '../../shared/ports/cluster-watch.ts';
import type { EventBus } from '../../shared/ports/event-bus.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { Hooks } from '../../shared/ports/hooks.ts';
import type { WakeUpSender } from '../../shared/ports/inbox.ts';
import type { Instances } from '../../shared/ports/instances.ts';
import type { DueIndex, RecordKey, RecordStore } from '../../shared/ports/record-store.ts';
import {
  describeRecords,
  describeSource,
  describeWake,
  INVOKE_HOOKS,
  QUERY_DUE_INDEX,
  READ_KNOWN_POOLS,
} from './describe.ts';
import { kubernetesWithin, watchWithin, type KubernetesIdentity } from './kubernetes.ts';

export interface Identity {
  /** Who it is in refusals: `curfew:repair`. */
  readonly user: string;
  readonly permissions: Permissions;
  /** Hears of every permission that a call makes use of (`describe.ts`). */
  readonly onUse?: (permission: string) => void;
  /** Hears of every refusal. */
  readonly onRefusal?: (message: string) => void;
}

/** What needs permission. */
export type GuardedPorts = Partial<
  Pick<FunctionDeps, 'kubernetes' | 'records' | 'dueIndex' | 'wakeUps' | 'bus' | 'instances' | 'hooks'> & {
    readonly watch: ClusterWatch;
  }
>;

/** The ports with their calls checked; members that need no permission are as they were. */
export function portsWithin<Ports extends GuardedPorts>(ports: Ports, identity: Identity): Ports {
  const kubernetes: KubernetesIdentity = { ...identity, grants: identity.permissions.kubernetes };
  return {
    ...ports,
    ...(ports.kubernetes && { kubernetes: kubernetesWithin(ports.kubernetes, kubernetes) }),
    ...(ports.watch && { watch: watchWithin(ports.watch, kubernetes) }),
    ...(ports.records && { records: recordsWithin(ports.records, identity) }),
    ...(ports.dueIndex && { dueIndex: dueIndexWithin(ports.dueIndex, identity) }),
    ...(ports.wakeUps && { wakeUps: wakeUpsWithin(ports.wakeUps, identity) }),
    ...(ports.bus && { bus: busWithin(ports.bus, identity) }),
    ...(ports.hooks && { hooks: hooksWithin(ports.hooks, identity) }),
    ...(ports.instances && { instances: instancesWithin(ports.instances, identity) }),
  };
}

/** Makes the call if it is allowed, else rejects as the AWS adapters do when IAM refuses it. */
function within<T>(
  { user, onUse, onRefusal }: Identity,
  needed: readonly { readonly allowed: boolean; readonly permission: string }[],
  call: () => Promise<T>,
): Promise<T> {
  const refused = needed.find(({ allowed }) => !allowed);
  if (refused !== undefined) {
    const message = `${user} is not authorized to ${refused.permission}`;
    onRefusal?.(message);
    return Promise.reject(new RetryableError(message, { reason: 'AccessDenied' }));
  }
  for (const { permission } of needed) onUse?.(permission);
  return call();
}

function recordsWithin(records: RecordStore, identity: Identity): RecordStore {
  const own = ({ owner }: { readonly owner: FunctionName }) => [
    { allowed: identity.permissions.records.includes(owner), permission: describeRecords(owner) },
  ];
  const { records: owners, readsKnownPools } = identity.permissions;
  const knownPools = [{ allowed: readsKnownPools, permission: READ_KNOWN_POOLS }];
  const isOfOthers = ({ owner, id }: RecordKey): boolean =>
    owner === KNOWN_POOLS.owner && id.startsWith(KNOWN_POOLS.idPrefix) && !owners.includes(owner);
  return {
    get: key => within(identity, isOfOthers(key) ? knownPools : own(key), () => records.get(key)),
    put: (record, expectedVersion) => within(identity, own(record), () => records.put(record, expectedVersion)),
    delete: (key, expectedVersion) => within(identity, own(key), () => records.delete(key, expectedVersion)),
  };
}

function dueIndexWithin(index: DueIndex, identity: Identity): DueIndex {
  const needed = [{ allowed: identity.permissions.readsDueIndex, permission: QUERY_DUE_INDEX }];
  return {
    shardCount: index.shardCount,
    queryDue: (shard, before, options) => within(identity, needed, () => index.queryDue(shard, before, options)),
  };
}

function wakeUpsWithin(wakeUps: WakeUpSender, identity: Identity): WakeUpSender {
  return {
    send(sent) {
      const owners = [...new Set(sent.map(({ wakeUp }) => wakeUp.owner))];
      const needed = owners.map(owner => ({
        allowed: identity.permissions.wakes.includes(owner),
        permission: describeWake(owner),
      }));
      return within(identity, needed, () => wakeUps.send(sent));
    },
  };
}

function busWithin(bus: EventBus, identity: Identity): EventBus {
  return {
    publish(entries) {
      const sources = [...new Set(entries.map(({ source }) => source))];
      const needed = sources.map(source => ({
        allowed: identity.permissions.publishesAs.includes(source),
        permission: describeSource(source),
      }));
      return within(identity, needed, () => bus.publish(entries));
    },
  };
}

/** A hook that is an event needs what the bus needs; a clean-up is a call like any other. */
function hooksWithin(hooks: Hooks, identity: Identity): Hooks {
  const needed = [{ allowed: identity.permissions.invokesHooks, permission: INVOKE_HOOKS }];
  return {
    invoke: call => within(identity, call.target.kind === 'lambda' ? needed : [], () => hooks.invoke(call)),
  };
}

function instancesWithin(instances: Instances, identity: Identity): Instances {
  const action = (name: InstanceAction) => [{ allowed: identity.permissions.ec2.includes(name), permission: name }];
  return {
    describe: id => within(identity, action('ec2:DescribeInstances'), () => instances.describe(id)),
    checkOf: (id, check) => within(identity, action('ec2:DescribeInstanceStatus'), () => instances.checkOf(id, check)),
    list: () => within(identity, action('ec2:DescribeInstances'), () => instances.list()),
    terminate: id => within(identity, action('ec2:TerminateInstances'), () => instances.terminate(id)),
    reboot: id => within(identity, action('ec2:RebootInstances'), () => instances.reboot(id)),
    terminateInAutoScalingGroup: id =>
      within(identity, action('autoscaling:TerminateInstanceInAutoScalingGroup'), () =>
        instances.terminateInAutoScalingGroup(id),
      ),
  };
}
