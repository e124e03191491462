/** Curfew, the controller and the clean-up on virtual time, in front of a real PostgreSQL: time stands still while the server works. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { handler } from '../../../examples/managed-database/cleanup/handler.ts';
import { runController } from '../../../examples/managed-database/controller/controller.ts';
import { createDatabaseServer } from '../../../examples/managed-database/database-server.ts';
import { CLEANUP_FUNCTION, CONTROLLER_USER, MANAGED_DATABASES } from '../../../examples/managed-database/names.ts';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessClusterWatch } from '../../../runtime/in-process/cluster-watch.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import type { Lifetime } from '../../../runtime/lifetime.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { createSystem } from '../../../runtime/system.ts';
import { createHooks, type InvokeFunction } from '../../../shared/adapters/hooks/hooks.ts';
import { PERMISSIONS, permissionsOnFinalizerRuleKind, type Permissions } from '../../../shared/contract/permissions.ts';
import type { KubernetesManifest, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds, toEpochMs, type DurationMs } from '../../../shared/domain/time.ts';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import { createCloud } from '../../../simulator/cloud.ts';
import { customResourceDefinitions } from '../../../simulator/custom-resource-definitions.ts';
import { withDueIndex } from '../../../simulator/due-index.ts';
import { createVirtualTime } from '../../../simulator/virtual-time.ts';

export const EXAMPLE = join(import.meta.dirname, '..', '..', '..', 'examples', 'managed-database');
const NAMESPACE = 'default';

export function readManifests(file: string): readonly KubernetesManifest[] {
  const text = readFileSync(join(EXAMPLE, 'manifests', file), 'utf8');
  return parseAllDocuments(text).map(document => document.toJS() as KubernetesManifest);
}

export interface World {
  /** A ManagedDatabase with that database name, and the same name unless another is given. */
  create(dbName: string, name?: string): void;
  /** Asks for another database name. */
  rename(name: string, dbName: string): void;
  remove(dbName: string): void;
  get(dbName: string): KubernetesObject | undefined;
  /** Takes all finalizers off, as somebody impatient does. */
  strip(dbName: string): void;
  applyRule(): void;
  startController(): void;
  /** Lets time pass, with everything that happens in it. */
  pass(duration: DurationMs): Promise<void>;
  /** The function dies as soon as the next clean-up has succeeded, before it can note that down. */
  dieAfterCleanup(): void;
  readonly audits: readonly AuditRecord[];
  /** What the clean-up answered, and to how many calls. */
  readonly answers: readonly unknown[];
  stop(): Promise<void>;
}

/** @param url of the server, for controller and clean-up */
export function createWorld(url: string): World {
  const time = createVirtualTime({ start: toEpochMs(Date.UTC(2026, 0, 1)) });
  const core = createApiServer({ clock: time, random: () => 0.5 });
  for (const manifest of [...customResourceDefinitions(), ...readManifests('crd.yaml')]) core.seed(manifest);
  core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });

  const working = new Set<Promise<unknown>>();
  const track = <T>(work: Promise<T>): Promise<T> => {
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    working.add(settled);
    void settled.then(() => working.delete(settled));
    return work;
  };

  const audits: AuditRecord[] = [];
  const answers: unknown[] = [];
  let environment: Lifetime | undefined;
  let dies = false;
  const invokeFunction: InvokeFunction = async (functionName, payload) => {
    if (functionName !== CLEANUP_FUNCTION) return { kind: 'failed', message: `there is no function ${functionName}` };
    // As JSON, as it comes to Lambda.
    const value = await track(handler(JSON.parse(JSON.stringify(payload))));
    answers.push(value);
    if (dies && value.result !== 'fail') {
      dies = false;
      environment?.end();
    }
    return { kind: 'returned', value };
  };
  const kind = { group: MANAGED_DATABASES.group, resource: MANAGED_DATABASES.resource };
  const withKind = (part: 'finalizer' | 'forwarder'): Permissions => ({
    ...PERMISSIONS[part],
    kubernetes: [...PERMISSIONS[part].kubernetes, ...permissionsOnFinalizerRuleKind(part, kind)],
  });
  const store = withDueIndex(createMemoryRecordStore());
  const bus = { publish: async () => [] };
  const system = createSystem({
    cluster: 'test',
    scheduler: time,
    kubernetes: by => createInProcessKubernetesApi(core, `curfew:${by}`),
    watch: createInProcessClusterWatch(core, time),
    records: store.records,
    dueIndex: store.dueIndex,
    instances: () => createCloud(time).instances(() => undefined),
    callHooks: () => createHooks({ bus, cluster: 'test', invokeFunction }),
    audit: { write: record => void audits.push(record) },
    permissions: { finalizer: withKind('finalizer'), forwarder: withKind('forwarder') },
    hooks: {
      onRun(name, lifetime) {
        if (name === 'finalizer') environment = lifetime;
      },
    },
  });
  system.start();

  const server = createDatabaseServer(url);
  const end = new AbortController();
  let controller: Promise<void> | undefined;
  const ref = (dbName: string) => ({ type: MANAGED_DATABASES, namespace: NAMESPACE, name: dbName });
  const pass = async (duration: DurationMs): Promise<void> => {
    const until = addDuration(time.now(), duration);
    for (;;) {
      await time.runUntil(until, () => working.size > 0);
      if (working.size === 0) return;
      await Promise.all(working);
    }
  };
  return {
    audits,
    answers,
    pass,
    create(dbName, name = dbName) {
      const manifest = {
        apiVersion: 'database.example.com/v1',
        kind: 'ManagedDatabase',
        metadata: { name, namespace: NAMESPACE },
        spec: { dbName },
      };
      core.create(MANAGED_DATABASES, manifest, { user: 'somebody', namespace: NAMESPACE });
    },
    rename(name, dbName) {
      core.patch(ref(name), { type: 'merge', body: { spec: { dbName } } }, { user: 'somebody' });
    },
    remove: dbName => void core.delete(ref(dbName), { user: 'somebody' }),
    get(dbName) {
      return core
        .list(MANAGED_DATABASES, { namespace: NAMESPACE })
        .items.find(({ metadata }) => metadata.name === dbName);
    },
    strip(dbName) {
      core.patch(ref(dbName), { type: 'merge', body: { metadata: { finalizers: null } } }, { user: 'somebody' });
    },
    applyRule() {
      for (const manifest of readManifests('rule.yaml')) core.seed(manifest);
    },
    startController() {
      controller = runController(
        {
          kubernetes: createInProcessKubernetesApi(core, CONTROLLER_USER),
          watch: createInProcessClusterWatch(core, time),
          server: { create: (...of) => track(server.create(...of)), drop: uid => track(server.drop(uid)) },
          address: new URL(url).host,
          clock: time,
          log: () => undefined,
        },
        end.signal,
      );
    },
    dieAfterCleanup: () => (dies = true),
    async stop() {
      end.abort(new Error('the test is over'));
      await controller;
      await system.stop();
      await pass(seconds(0));
    },
  };
}
