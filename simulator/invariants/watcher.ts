/** Runs all checks over one simulation: tells them of what happens, and gathers the violations. */
import type { FunctionName } from '../../shared/contract/names.ts';
import type { Component } from '../../shared/contract/permissions.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';
import { aroundCalls } from '../../runtime/around-calls.ts';
import type { ApiServerCore, ObservedWrite } from '../../packages/kube-apiserver/src/types.ts';
import type { Lifetime } from '../../runtime/lifetime.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { EnvironmentPorts } from '../../runtime/system-parts.ts';
import { createDenials } from './denials.ts';
import { CHECKS, CHECKS_OF_GENERATED_CLUSTERS } from './checks.ts';
import type { BusEventSeen, Check, LastDenial, PortCall, Run, Violation } from './invariant.ts';
import { watchDeadlines } from './deadline.ts';
import { followReadable } from './last-readable.ts';
import { isTerminationReadable } from './termination-oracle.ts';
import { createMirror } from './mirror.ts';

/** Violations that are kept; more add nothing. */
const MAX_VIOLATIONS = 20;

export interface InvariantWatcher {
  readonly violations: readonly Violation[];
  /** Ports whose calls the checks see. The record store is watched apart, where writes take effect. */
  observe(ports: EnvironmentPorts, lifetime: Lifetime): EnvironmentPorts;
  observeRecords(records: RecordStore): RecordStore;
  published(event: BusEventSeen): void;
  /** What the table was told after `backup` is forgotten; undefined: all. */
  tableRestored(backup: EpochMs | undefined): void;
  /** The API server went back to a snapshot: what happened to its objects since has not happened to those that are there. */
  clusterRestored(): void;
  cameLate(): void;
  /** A call that an earlier watcher has judged. */
  remember(by: FunctionName, call: PortCall): void;
  runStarted(by: FunctionName, lifetime: Lifetime): void;
  written(write: ObservedWrite, by: string): void;
  audited(record: AuditRecord): void;
  failed(by: FunctionName, error: unknown): void;
  buried(by: FunctionName, reason: string, explanation: string): void;
  /** I8: a call that the permission table does not allow would be refused again at every try. */
  refused(by: Component, message: string): void;
  /** I8: the run was ended because it went round in circles. */
  stoodStill(message: string): void;
  /** The last look. Throws when a check itself is broken. */
  finish(): void;
}

export interface WatcherOptions {
  readonly core: ApiServerCore;
  readonly scheduler: Scheduler;
  readonly instanceState: (providerID: string) => string | undefined;
  /** What a check of EC2 says of it; default: nothing. */
  readonly instanceCheck?: (providerID: string, check: string) => string | undefined;
  /** Whether calls about the instance fail at the moment; default: they never do. */
  readonly failsInstance?: (providerID: string) => boolean;
  /** The same for the clean-up of a FinalizerRule. */
  readonly failsCleanup?: (rule: string) => boolean;
  /** Until when the API server refuses changes of an object, so that the next try is due; minus infinity: never. Default: it never does. */
  readonly refusedUntil?: LastDenial;
  /** How far a function's clock may be ahead of the cluster's. */
  readonly clockTolerance: DurationMs;
  readonly quietSince: () => EpochMs | undefined;
  /** Whether the cluster was drawn by the generator: then what terminations and drains do in detail is judged, too. */
  readonly isGenerated: boolean;
}

export function createInvariantWatcher({
  core,
  scheduler,
  instanceState,
  instanceCheck = () => undefined,
  failsInstance = () => false,
  failsCleanup = () => false,
  refusedUntil = () => -Infinity,
  clockTolerance,
  quietSince,
  isGenerated,
}: WatcherOptions): InvariantWatcher {
  const violations: Violation[] = [];
  const runs = new WeakMap<Lifetime, Run>();
  const mirror = createMirror(core);
  const readable = followReadable({ mirror, now: () => scheduler.now(), quietSince }, isTerminationReadable);
  watchDeadlines(mirror, readable.versions);
  const denials = createDenials(mirror, () => scheduler.now(), refusedUntil);
  /** What is forgotten, of which time. */
  const losses: { readonly backup: EpochMs | undefined; readonly time: EpochMs }[] = [];
  const context = {
    now: () => scheduler.now(),
    mirror,
    policiesInForce: readable.policiesInForce,
    lastDenial: denials.last,
    lastDenialOfItself: denials.ofItself,
    refusedUntil,
    objects(resource: string): readonly KubernetesObject[] {
      const [plural, ...group] = resource.split('.');
      const known = core.resources().find(each => each.resource === plural && each.group === group.join('.'));
      return known === undefined ? [] : core.list(known).items;
    },
    current({ apiVersion, kind, metadata: { namespace, name, uid } }: KubernetesObject): KubernetesObject | undefined {
      const type = core.resourceForKind(apiVersion, kind);
      if (type === undefined) return undefined;
      const list = core.list(type, {
        ...(namespace !== undefined && { namespace }),
        fieldSelector: `metadata.name=${name}`,
      });
      return list.items.find(({ metadata }) => metadata.uid === uid);
    },
    instanceState,
    instanceCheck,
    failsInstance,
    failsCleanup,
    clockTolerance,
    quietSince,
    memoryOf(time: number): 'whole' | 'older' | 'none' {
      const lost = losses.filter(loss => time > (loss.backup ?? -Infinity) && time <= loss.time);
      if (lost.length === 0) return 'whole';
      return lost.some(({ backup }) => backup === undefined) ? 'none' : 'older';
    },
    violate(invariant: Violation['invariant'], message: string): void {
      if (violations.length < MAX_VIOLATIONS) violations.push({ invariant, time: scheduler.now(), message });
    },
  };
  const checks: readonly Check[] = [...CHECKS, ...(isGenerated ? CHECKS_OF_GENERATED_CLUSTERS : [])].map(make =>
    make(context),
  );
  /** A mistake in a check must not look like one of a function that it is called from. */
  const mistakes: unknown[] = [];
  /** Calls the hook of all checks that have it. Most checks have few hooks, and calls are many. */
  const teller = <Args extends readonly unknown[]>(
    hookOf: (check: Check) => ((...args: Args) => void) | undefined,
  ): ((...args: Args) => void) => {
    const hooks = checks.flatMap(check => hookOf(check) ?? []);
    return (...args) => {
      for (const hook of hooks) {
        try {
          hook(...args);
        } catch (error) {
          mistakes.push(error);
        }
      }
    };
  };
  const [onCall, onAnswer, onPast] = [
    teller(check => check.onCall),
    teller(check => check.onAnswer),
    teller(check => check.onPast),
  ];
  const [onRun, onRecord, look] = [
    teller(check => check.onRun),
    teller(check => check.onRecord),
    teller(check => check.onMinute),
  ];
  const lookEveryMinute = (): void => {
    scheduler.at(addDuration(scheduler.now(), minutes(1)), () => {
      look();
      lookEveryMinute();
    });
  };
  lookEveryMinute();

  const observed = <Port extends object>(port: Port, name: PortCall['port'], lifetime: Lifetime): Port =>
    aroundCalls(port, ({ method, args, proceed }) => {
      const run = runs.get(lifetime);
      const call: PortCall = { port: name, method, args, time: scheduler.now(), outcome: { kind: 'pending' } };
      if (run !== undefined) onCall(call, run);
      run?.calls.push(call);
      return noteOutcome(call, proceed(), () => {
        if (run !== undefined) denials.onAnswer(call, run);
        if (run !== undefined) onAnswer(call, run);
      });
    });

  return {
    violations,
    observe: (ports, lifetime) => ({
      ...ports,
      kubernetes: observed(ports.kubernetes, 'kubernetes', lifetime),
      records: observed(ports.records, 'records', lifetime),
      instances: observed(ports.instances, 'instances', lifetime),
      hooks: observed(ports.hooks, 'hooks', lifetime),
      bus: observed(ports.bus, 'bus', lifetime),
    }),
    observeRecords: records => ({
      get: key => records.get(key),
      async put(record, expectedVersion) {
        const outcome = await records.put(record, expectedVersion);
        if (outcome.kind === 'written') onRecord(`${record.owner}/${record.id}`, record);
        return outcome;
      },
      async delete(key, expectedVersion) {
        const outcome = await records.delete(key, expectedVersion);
        if (outcome.kind === 'deleted') onRecord(`${key.owner}/${key.id}`, undefined);
        return outcome;
      },
    }),
    remember(by, call) {
      const run: Run = { by, startTime: call.time, calls: [call] };
      onPast(call, run);
    },
    runStarted(by, lifetime) {
      const run: Run = { by, startTime: scheduler.now(), calls: [] };
      runs.set(lifetime, run);
      onRun(run);
    },
    tableRestored: backup => void losses.push({ backup, time: scheduler.now() }),
    clusterRestored: teller(check => check.onClusterRestored),
    cameLate: teller(check => check.onLateMessage),
    published: teller(check => check.onBusEvent),
    written: teller(check => check.onWrite),
    audited: teller(check => check.onAudit),
    failed: teller(check => check.onFailure),
    buried: teller(check => check.onBuried),
    refused: (by, message) => context.violate('I8', `${by} asked for what it may not do: ${message}`),
    stoodStill: message => context.violate('I8', message),
    finish() {
      look();
      if (mistakes.length > 0) throw new Error('a check of the invariants failed itself', { cause: mistakes[0] });
    },
  };
}

async function noteOutcome(call: PortCall, answer: unknown, onAnswer: () => void): Promise<unknown> {
  try {
    const value = await answer;
    call.outcome = { kind: 'answered', value };
    return value;
  } catch (error) {
    call.outcome = { kind: 'failed', error };
    throw error;
  } finally {
    onAnswer();
  }
}
