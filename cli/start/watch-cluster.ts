/**
 * `npm start -- --kubeconfig FILE`: Curfew in this process on a real cluster. It decides and reports, and writes nothing; with
 * `--enforce` it acts. Records and timers live in memory: after a restart everything is looked at again.
 */
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { ClusterAccessError, checkReachable, loadKubeconfig } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { warningOn } from '../../shared/adapters/kubernetes/server-version.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { MAX_CONCURRENCY } from '../../shared/contract/inbox.ts';
import { PERMISSIONS, type Component, type Permissions } from '../../shared/contract/permissions.ts';
import { messageOf } from '../../shared/errors.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import type { Instances } from '../../shared/ports/instances.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { createMemoryRecordStore, type MemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { ANY_CUSTOM_KIND } from '../../runtime/permissions/kubernetes.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { SystemParts } from '../../runtime/system-parts.ts';
import { createSystem } from '../../runtime/system.ts';
import type { DurationMs } from '../../shared/domain/time.ts';
import { UsageError } from '../usage-error.ts';
import { untilInterrupted } from './interruption.ts';
import { checkPrerequisites } from './prerequisites.ts';
import { toReadOnly, type WithheldWrite } from './read-only.ts';
import { watchReachability } from './reachability.ts';
import { describeTimers } from './set-timers.ts';
import type { Timeline } from './timeline.ts';

export interface WatchClusterOptions {
  readonly kubeconfig: string;
  readonly context: string | undefined;
  readonly enforce: boolean;
  /** Ends the watch; default: SIGINT or SIGTERM. */
  readonly interrupted?: Promise<void>;
}

/** Resolves to the exit code 0 once it is interrupted. Throws `UsageError` when the cluster cannot be watched. */
export async function watchCluster(options: WatchClusterOptions, timeline: Timeline): Promise<number> {
  try {
    const access = await loadKubeconfig(options.kubeconfig, options.context, what =>
      timeline.step(`  waiting for ${what}`),
    );
    const transport = createTransport({ ...access.options, clock: systemClock, userAgent: 'curfew' });
    try {
      const warning = warningOn(await checkReachable(transport, access));
      const missing = await checkPrerequisites(transport, options.enforce);
      const notices = [...(warning === undefined ? [] : [warning]), ...missing];
      const watched = watchReachability(transport, systemClock, {
        onAway: why => timeline.line('cluster', `the API server does not answer: ${why}`),
        onBack: after => timeline.line('cluster', `the API server answers again, after ${formatSeconds(after)}`),
      });
      const api = createKubernetesApi(watched);
      const watch = createClusterWatch(watched);
      await run({ ...options, api, watch, context: access.context, notices }, timeline);
      return 0;
    } finally {
      transport.close();
    }
  } catch (error) {
    if (!(error instanceof ClusterAccessError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

/** Kinds that configuration and FinalizerRules name are not in the table: what of them is allowed, the cluster says. */
function withCustomKinds(): Readonly<Partial<Record<Component, Permissions>>> {
  const verbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const;
  const any = { group: ANY_CUSTOM_KIND, resource: ANY_CUSTOM_KIND, verbs };
  const row = (part: Component) => ({ ...PERMISSIONS[part], kubernetes: [...PERMISSIONS[part].kubernetes, any] });
  return { drain: row('drain'), finalizer: row('finalizer'), forwarder: row('forwarder'), repair: row('repair') };
}

interface Connection extends WatchClusterOptions {
  readonly api: KubernetesApi;
  readonly watch: ReturnType<typeof createClusterWatch>;
  /** Remarks on the cluster for the user, one line each. */
  readonly notices: readonly string[];
}

/**
 * The parts of Curfew in this process. Its inboxes take as many messages at once as those that are deployed, so that
 * the cluster's API server is not flooded.
 */
export function systemPartsOf(
  { api, watch, context, enforce }: Pick<Connection, 'api' | 'watch' | 'context' | 'enforce'>,
  timeline: Pick<Timeline, 'line'>,
  { store, scheduler }: { readonly store: MemoryRecordStore; readonly scheduler: Scheduler },
): SystemParts {
  const withheld = (write: WithheldWrite): void => {
    if (write.ref.type.resource !== 'events') timeline.line('curfew', `would ${describeWrite(write)}`);
  };
  return {
    cluster: context ?? 'cluster',
    scheduler,
    permissions: withCustomKinds(),
    kubernetes: () => (enforce ? api : toReadOnly(api, withheld)),
    watch,
    records: store,
    dueIndex: store,
    instances: () => NO_INSTANCES,
    audit: { write: record => timeline.line(record.function, describeDecision(record)) },
    random: Math.random,
    inboxes: { concurrency: MAX_CONCURRENCY },
    hooks: {
      onFailed: (name, error) => timeline.line(name, `will try again: ${messageOf(error)}`),
      onBuried: ({ function: name, reason, explanation }) =>
        timeline.line(name, `gave a message up (${reason}): ${explanation}`),
    },
  };
}

async function run(
  { notices, interrupted = untilInterrupted(), ...connection }: Connection,
  timeline: Timeline,
): Promise<void> {
  const { context, enforce } = connection;
  const store = createMemoryRecordStore();
  const scheduler = createRealScheduler();
  const system = createSystem(systemPartsOf(connection, timeline, { store, scheduler }));

  timeline.begin(systemClock.now());
  timeline.heading(`Watching ${context ?? 'the cluster'}`);
  timeline.plain(
    enforce
      ? '  Mode: enforce. Decisions are carried out.'
      : '  Mode: observe. Decisions are reported, nothing is written.',
  );
  for (const notice of notices) timeline.plain(`  ${notice}`);
  timeline.plain('  Ctrl-C ends it.\n');
  system.start();
  await interrupted;
  await system.stop();
  scheduler.close();
  timeline.plain(describeTimers(store.all()));
}

const formatSeconds = (duration: DurationMs): string => `${(duration / 1000).toFixed(1)} s`;

function describeDecision({ decision, kind, namespace, name, message }: AuditRecord): string {
  return `${decision} ${kind} ${namespace === undefined ? name : `${namespace}/${name}`}: ${message}`;
}

function describeWrite({ verb, ref, body }: WithheldWrite): string {
  const target = `${verb} ${ref.type.resource}/${ref.name}`;
  return body === undefined ? target : `${target} ${JSON.stringify(body)}`;
}

/** Outside AWS nobody terminates instances; the functions that run here delete NodeClaims and leave that to Karpenter. */
const NO_INSTANCES: Instances = {
  describe: () => Promise.resolve(undefined),
  checkOf: () => Promise.resolve(undefined),
  list: () => Promise.resolve([]),
  terminate: () => Promise.resolve({ kind: 'notFound' }),
  reboot: () => Promise.resolve({ kind: 'notFound' }),
  terminateInAutoScalingGroup: () => Promise.resolve({ kind: 'notFound' }),
};
