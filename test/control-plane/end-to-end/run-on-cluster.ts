/** Runs one scenario in real time on a real cluster: the real forwarder and functions, each as its own identity. */
import type { FunctionName } from '../../../shared/contract/names.ts';
import { durationBetween, seconds, toEpochMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { ClusterWatch } from '../../../shared/ports/cluster-watch.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { startCloud } from '../../../simulator/actors/cloud.ts';
import { RESOURCE_TYPES, type StartActor } from '../../../simulator/actors/actor.ts';
import { startKarpenter } from '../../../simulator/actors/karpenter.ts';
import { startKubelet } from '../../../simulator/actors/kubelet.ts';
import { createCloud, type Cloud } from '../../../simulator/cloud.ts';
import { evaluate, type Verdict } from '../../../simulator/expect.ts';
import { withGrantedKinds } from '../../../simulator/granted-kinds.ts';
import { createCleanupAnswers, type CleanupAnswers } from '../../../simulator/cleanups.ts';
import { aboutOf, createHookAnswers, type HookAnswers } from '../../../simulator/hooks.ts';
import { withCondition } from '../../../simulator/conditions.ts';
import { createLaunches, type Launches } from '../../../simulator/launches.ts';
import { createOutages, type Outages } from '../../../simulator/outages.ts';
import { resourcesOf, type ResourceCatalog } from '../../../simulator/scenario/resource-names.ts';
import type { Actor, Scenario, StepAction } from '../../../simulator/scenario/scenario.ts';
import type { TraceEntry } from '../../../simulator/trace.ts';
import { createSystem } from '../../../runtime/system.ts';
import type { System } from '../../../runtime/system-parts.ts';
import { readAuditLog } from './audit-log.ts';
import { traceOf, type Remark } from './audit-trace.ts';
import { createAuthor, type Author } from './author.ts';
import { generatedRoles } from './generated-roles.ts';
import { createEndingScheduler, moveTo } from './real-time.ts';
import { mirrorCluster } from './remote-cluster.ts';

/** The disruption controller is the real one. */
const ACTOR_STARTS: Readonly<Partial<Record<Actor, StartActor>>> = {
  cloud: startCloud,
  kubelet: startKubelet,
  karpenter: startKarpenter,
};
/** Time to get ready before the scenario's start. */
const LEAD = seconds(1);

export interface RealCluster {
  readonly catalog: ResourceCatalog;
  /** As one function, with its permissions alone. */
  readonly kubernetes: (by: FunctionName) => KubernetesApi;
  /** As the forwarder. */
  readonly watch: ClusterWatch;
  /** Allowed everything: the author and the actors. */
  readonly admin: { readonly kubernetes: KubernetesApi; readonly watch: ClusterWatch };
  readonly auditLog: string;
  /** The part of Curfew behind a user; undefined for anybody else. */
  readonly partOf: (user: string) => string | undefined;
}

export interface RealRun {
  readonly scenario: Scenario;
  readonly trace: readonly TraceEntry[];
  readonly verdicts: readonly Verdict[];
  /** What went wrong beside the expectations: failed messages, dead letters, steps that were refused, actors. */
  readonly problems: readonly string[];
}

export async function runOnCluster(written: Scenario, cluster: RealCluster): Promise<RealRun> {
  const { admin, catalog } = cluster;
  const scheduler = createEndingScheduler();
  const cloud = createCloud(scheduler);
  const outages = createOutages(scheduler);
  const author = createAuthor(admin.kubernetes, { ...catalog, resources: resourcesOf(written, catalog) });
  // Of those that nobody names, only a simulation knows who made them.
  const launches = createLaunches();
  const hooks = createHookAnswers();
  const cleanups = createCleanupAnswers();
  const remarks: Remark[] = [];
  const addCall = (call: Extract<Remark, { readonly kind: 'call' }>['call']): void =>
    void remarks.push({ time: scheduler.now(), kind: 'call', call });
  const problems: string[] = [];
  const report = (what: string, error: unknown): void => void problems.push(`${what}: ${String(error)}`);

  const mirror = await mirrorCluster(admin.kubernetes, admin.watch, Object.values(RESOURCE_TYPES));
  const store = createMemoryRecordStore();
  const system = createSystem({
    cluster: 'real',
    scheduler,
    // The API server decides by the roles in the file; this is the table's half.
    permissions: withGrantedKinds(written, catalog.resources),
    kubernetes: by => outages.guard('api', cluster.kubernetes(by)),
    watch: outages.guardWatch(cluster.watch),
    records: outages.guard('store', store),
    dueIndex: outages.guard('store', store),
    instances: by =>
      cloud.instances((verb, providerID) => addCall({ by, verb, resource: 'instances', name: providerID })),
    callHooks: by =>
      hooks.hooks(call => {
        const resource = call.purpose === 'cleanup' ? 'cleanups' : 'hooks';
        addCall({ by, verb: 'invoke', resource, name: call.name, about: aboutOf(call) });
      }, cleanups),
    audit: { write: record => void remarks.push({ time: scheduler.now(), kind: 'audit', record }) },
    hooks: {
      onBuried: ({ function: name, reason, explanation }) =>
        report(`dead letter of ${name}`, `${reason}: ${explanation}`),
      onFailed: (name, error) => {
        if (!isWorthAnotherTry(error)) report(`${name} failed`, error);
      },
      forwarder: ports => ({ ...ports, bus: outages.guard('bus', ports.bus) }),
      environment: ports => ({ ...ports, bus: outages.guard('bus', ports.bus) }),
    },
  });

  const start = toEpochMs(Math.ceil((scheduler.now() + LEAD) / 1000) * 1000);
  const scenario = moveTo(written, start);
  try {
    await scheduler.sleep(durationBetween(scheduler.now(), start));
    for (const actor of scenario.actors) ACTOR_STARTS[actor]?.({ core: mirror.api, scheduler, cloud, launches });
    await author.prepare(scenario);
    for (const manifest of await generatedRoles(scenario)) await author.apply(manifest);
    for (const step of scenario.steps) {
      scheduler.at(step.time, () => {
        void carryOut(step.action, { author, cloud, launches, outages, cleanups, hooks, system }).catch(
          (error: unknown) => report(`${step.place.file}:${step.place.line}`, error),
        );
      });
    }
    system.start();
    await scheduler.sleep(durationBetween(scheduler.now(), scenario.end));
    await system.stop();
    const verdicts = await judge(scenario, cluster, { author, cloud, remarks });
    const failure = mirror.failure();
    if (failure !== undefined) report('an actor failed', failure);
    return { scenario, ...verdicts, problems };
  } finally {
    scheduler.end();
    mirror.stop();
    await author.clear();
  }
}

/** Lost races and busy servers are met again; what the function may not do, and bugs, are the scenario's failure. */
const isWorthAnotherTry = (error: unknown): boolean =>
  error instanceof RetryableError && !['Forbidden', 'Unauthorized'].includes(error.reason ?? '');

async function judge(
  scenario: Scenario,
  { auditLog, partOf }: RealCluster,
  { author, cloud, remarks }: { readonly author: Author; readonly cloud: Cloud; readonly remarks: readonly Remark[] },
): Promise<Pick<RealRun, 'trace' | 'verdicts'>> {
  const requests = readAuditLog(auditLog).filter(({ time }) => time >= scenario.start);
  const trace = traceOf({ requests, remarks, partOf });
  const objects = new Map<object, Awaited<ReturnType<Author['get']>>>();
  for (const expectation of scenario.expectations) {
    if (expectation.kind === 'finalObject') objects.set(expectation.target, await author.get(expectation.target));
  }
  const verdicts = evaluate(scenario.expectations, trace, {
    object: target => objects.get(target),
    instance: providerID => cloud.stateOf(providerID),
  });
  return { trace, verdicts };
}

interface Targets {
  readonly author: Author;
  readonly cloud: Cloud;
  readonly launches: Launches;
  readonly outages: Outages;
  readonly cleanups: CleanupAnswers;
  readonly hooks: HookAnswers;
  readonly system: Pick<System, 'publish' | 'restartForwarder'>;
}

async function carryOut(action: StepAction, targets: Targets): Promise<void> {
  const { author, cloud, launches, outages, cleanups, hooks, system } = targets;
  switch (action.kind) {
    case 'apply':
      return author.apply(action.manifest);
    case 'patch':
      return author.patch(action.target, action.merge);
    case 'condition': {
      const target = { resource: 'nodes', name: action.node };
      const node = await author.get(target);
      const now = toEpochMs(Date.now());
      return node && author.patch(target, { status: { conditions: withCondition(node, action.condition, now) } });
    }
    case 'launch':
      return launches.set(action.nodePool, action.result);
    case 'delete':
      return author.remove(action.target, action.gracePeriodSeconds);
    case 'busEvent':
      system.publish({ source: action.source, 'detail-type': action.detailType, detail: action.detail });
      return;
    case 'cloud':
      if (action.state !== undefined) cloud.setState(action.providerID, action.state);
      if (action.fail !== undefined) cloud.setFailure(action.providerID, action.fail);
      return;
    case 'outage':
      return outages.begin(action.of, action.for);
    case 'refuse':
    case 'delay':
    case 'redrive':
    case 'rollback':
    case 'restore':
      throw new Error(`no part of this run can be told to ${action.kind}: the scenario runs on virtual time alone`);
    case 'restart':
      return system.restartForwarder();
    case 'cleanup':
      return cleanups.set(action.rule, { result: action.result, message: action.message ?? '' });
    case 'hook':
      return hooks.set(action.name, { result: action.result, message: action.message ?? '' });
  }
}
