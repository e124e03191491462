/** Everything that one schedule runs in: virtual time, records, the functions behind a gate, and the checks of the invariants. */
import { addDuration, minutes, seconds, type EpochMs } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { messageOf } from '../../shared/errors.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import type { ClusterWatch } from '../../shared/ports/cluster-watch.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';
import type { ApiServerCore, ObservedWrite } from '../../packages/kube-apiserver/src/types.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { aroundCalls } from '../../runtime/around-calls.ts';
import type { Lifetime } from '../../runtime/lifetime.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createSystem } from '../../runtime/system.ts';
import type { EnvironmentPorts, System, WaitingInInbox } from '../../runtime/system-parts.ts';
import { createCloud, type Cloud } from '../cloud.ts';
import { HEALTH_EVENT, HOOK_ANSWERED } from '../../shared/contract/names.ts';
import { PERMISSIONS, permissionsOnFinalizerRuleKind, type Permissions } from '../../shared/contract/permissions.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { readNodeClaim } from '../../shared/domain/node-claim.ts';
import type { BusEventSeen, PortCall } from '../invariants/invariant.ts';
import { dig, textOf } from '../invariants/reading.ts';
import { createInvariantWatcher, type InvariantWatcher } from '../invariants/watcher.ts';
import { createVirtualTime, Standstill, type VirtualTime } from '../virtual-time.ts';
import type { ExploredCluster } from './explored-cluster.ts';
import { createGate, type Gate } from './gate.ts';
import { TICK_MESSAGE } from './messages.ts';
import { CLUSTER_NAME } from '../scenario/scenario.ts';
import type { Message, Reconcilers } from './situation.ts';

/** Events of monitors and workers, which the checks of the invariants follow. */
const FROM_OTHERS: readonly string[] = [HEALTH_EVENT, HOOK_ANSWERED];
const CURFEW_USER = 'curfew:';
/** The sweep looks a little further ahead than a minute. */
const SWEEP_AHEAD = seconds(90);

/** What a world takes over from an earlier one beside the cluster. */
export interface Past {
  readonly time: EpochMs;
  readonly records: readonly StoredRecord[];
  readonly messages: readonly WaitingInInbox[];
  readonly instances: ReturnType<Cloud['states']>;
  /** What the checks of the invariants remember. */
  readonly seen: readonly Seen[];
}

type Seen = { readonly time: EpochMs } & (
  | { readonly kind: 'write'; readonly write: ObservedWrite; readonly by: string }
  | { readonly kind: 'audit'; readonly record: AuditRecord }
  /** An act of repair that shows in no write of its own. */
  | { readonly kind: 'act'; readonly call: PortCall }
  | { readonly kind: 'busEvent'; readonly event: BusEventSeen }
);

type IsAct = (method: string, args: readonly unknown[]) => boolean;

const NO_FORWARDER: ClusterWatch = {
  list: () => Promise.reject(new Error('there is no forwarder here')),
  resolve: () => Promise.reject(new Error('there is no forwarder here')),
  versionsOf: () => Promise.reject(new Error('there is no forwarder here')),
  watch() {
    throw new Error('there is no forwarder here');
  },
};

const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };

/** As a user grants the kinds of FinalizerRules (`curfew rbac`). */
function withFinalizerRuleKinds(core: ApiServerCore): Permissions {
  const { finalizer } = PERMISSIONS;
  const served = core.list(DEFINITIONS).items.map(({ spec }) => spec);
  const grants = core.list(RESOURCES.FinalizerRule).items.flatMap(({ spec }) => {
    const [group, kind] = [textOf(spec?.['group']), textOf(spec?.['kind'])];
    const definition = served.find(each => each?.['group'] === group && dig(each, 'names', 'kind') === kind);
    const resource = textOf(dig(definition, 'names', 'plural'));
    return group === undefined || resource === undefined
      ? []
      : permissionsOnFinalizerRuleKind('finalizer', { group, resource });
  });
  return { ...finalizer, kubernetes: [...finalizer.kubernetes, ...grants] };
}

const minuteOf = (time: EpochMs): EpochMs => addDuration(time, seconds(-(time % 60_000) / 1000));

/** Its functions remember nothing of before: each begins in an environment of its own. Closed after use. */
export class ExploredWorld {
  readonly time: VirtualTime;
  readonly gate: Gate = createGate();
  /** One instance for each NodeClaim. */
  readonly cloud: Cloud;
  readonly store = createMemoryRecordStore();
  readonly watcher: InvariantWatcher;
  readonly system: System;
  /** Called for each run that begins. */
  onRun: ((lifetime: Lifetime) => void) | undefined;
  /** Since when nobody disturbs what the functions do; undefined: somebody does. */
  quietSince: EpochMs | undefined;
  readonly #cluster: ExploredCluster;
  readonly #seen: Seen[] = [];
  readonly #stops: (() => void)[] = [];
  /** While the checks hear of the past. */
  #pastTime: EpochMs | undefined;

  constructor(cluster: ExploredCluster, start: EpochMs, reconcilers: Reconcilers) {
    this.#cluster = cluster;
    this.time = createVirtualTime({ start });
    const { core } = cluster;
    const cloud = createCloud(this.time);
    this.cloud = cloud;
    for (const claim of core.list(RESOURCES.NodeClaim).items) {
      const { providerID } = readNodeClaim(claim);
      if (providerID !== undefined) cloud.add(providerID);
    }
    this.watcher = this.#createWatcher(providerID => cloud.stateOf(providerID));
    const observer = core.observe(write => {
      if (write.user.startsWith(CURFEW_USER))
        this.#see({ kind: 'write', write, by: write.user.slice(CURFEW_USER.length), time: this.time.now() });
    });
    this.#stops.push(() => observer.stop());
    const { watcher } = this;
    this.system = createSystem({
      cluster: CLUSTER_NAME,
      scheduler: this.time,
      kubernetes: by => createInProcessKubernetesApi(core, `${CURFEW_USER}${by}`),
      watch: NO_FORWARDER,
      records: watcher.observeRecords(this.store),
      dueIndex: this.store,
      instances: () => cloud.instances(() => undefined),
      audit: { write: record => this.#see({ kind: 'audit', record, time: this.time.now() }) },
      reconcilers,
      permissions: { finalizer: withFinalizerRuleKinds(core) },
      hooks: {
        onRun: (name, lifetime) => {
          watcher.runStarted(name, lifetime);
          this.onRun?.(lifetime);
        },
        onFailed: (name, error) => watcher.failed(name, error),
        onBuried: ({ function: name, reason, explanation }) => watcher.buried(name, reason, explanation),
        onPermissionRefused: (part, message) => watcher.refused(part, message),
        environment: (ports, name, lifetime) => {
          const observed = watcher.observe(name === 'repair' ? this.#noting(ports) : ports, lifetime);
          return this.gate.around(observed, name, lifetime);
        },
      },
    });
    this.#tick();
  }

  #createWatcher(instanceState: (providerID: string) => string | undefined): InvariantWatcher {
    const { core } = this.#cluster;
    return createInvariantWatcher({
      core: {
        ...core,
        resourceVersion: core.resourceVersion,
        watch: (type, options, deliver) => {
          const watch = core.watch(type, options, deliver);
          this.#stops.push(() => watch.stop());
          return watch;
        },
      },
      scheduler: { ...this.time, now: () => this.#pastTime ?? this.time.now() },
      instanceState,
      clockTolerance: seconds(0),
      quietSince: () => this.quietSince,
      isGenerated: false,
    });
  }

  /** The ports of repair; acts that took effect are noted, for a later world. */
  #noting(ports: EnvironmentPorts): EnvironmentPorts {
    const noted = <Port extends object>(port: Port, name: PortCall['port'], isAct: IsAct): Port =>
      aroundCalls(port, async ({ method, args, proceed }) => {
        const value = await proceed();
        const time = this.time.now();
        const call: PortCall = { port: name, method, args, time, outcome: { kind: 'answered', value } };
        if (isAct(method, args)) this.#seen.push({ kind: 'act', call, time });
        return value;
      });
    return {
      ...ports,
      bus: noted(ports.bus, 'bus', () => true),
      // One that is intended and not called counts as carried out.
      records: noted(
        ports.records,
        'records',
        (method, [record]) => method === 'put' && dig(record, 'state', 'attempt', 'action') === 'Reboot',
      ),
      instances: noted(ports.instances, 'instances', method => method === 'reboot'),
      kubernetes: noted(
        ports.kubernetes,
        'kubernetes',
        (method, [type]) => method === 'create' && dig(type, 'resource') === 'nodeclaims',
      ),
    };
  }

  #see(seen: Exclude<Seen, { kind: 'act' }>): void {
    this.#seen.push(seen);
    if (seen.kind === 'write') this.watcher.written(seen.write, seen.by);
    else if (seen.kind === 'audit') this.watcher.audited(seen.record);
    else this.watcher.published(seen.event);
  }

  /** Goes on from there. */
  async takeOver({ records, messages, instances, seen }: Past): Promise<void> {
    const observed = this.watcher.observeRecords(this.store);
    for (const { version: _, ...record } of records) await observed.put(record, 0);
    for (const message of messages) this.system.takeOver(message);
    for (const [providerID, state] of instances) this.cloud.setState(providerID, state);
    for (const each of seen) {
      this.#pastTime = each.time;
      if (each.kind === 'act') {
        this.#seen.push(each);
        this.watcher.remember('repair', each.call);
      } else this.#see(each);
    }
    this.#pastTime = undefined;
  }

  /** What another world can take over. */
  past(): Past {
    const { time, store, system, cloud } = this;
    const instances = cloud.states();
    return { time: time.now(), records: store.all(), messages: system.waiting(), instances, seen: this.#seen };
  }

  /** Answers the id of the message in its inbox. */
  send({ to, body }: Message): string | undefined {
    const text = body(this.time.now());
    const envelope: unknown = JSON.parse(text);
    const detailType = textOf(dig(envelope, 'detail-type')) ?? '';
    if (FROM_OTHERS.includes(detailType)) {
      const event = { detailType, detail: dig(envelope, 'detail') };
      this.#see({ kind: 'busEvent', time: this.time.now(), event });
    }
    this.system.send(to, text);
    return this.system.waiting().findLast(({ target }) => target === to)?.id;
  }

  /** Lets time go on until `end`. */
  async pass(end: EpochMs): Promise<void> {
    try {
      await this.time.runUntil(end);
    } catch (error) {
      invariant(error instanceof Standstill, messageOf(error));
      this.watcher.stoodStill(error.message);
    }
  }

  /** The minute ticks, as far as they have something to do. */
  #tick(): void {
    const next = addDuration(minuteOf(this.time.now()), minutes(1));
    this.time.at(next, () => {
      const horizon = addDuration(next, SWEEP_AHEAD);
      const isDue = this.store.all().some(({ nextWakeTime }) => nextWakeTime !== undefined && nextWakeTime <= horizon);
      if (isDue) this.send(TICK_MESSAGE);
      this.#tick();
    });
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }
}
