/**
 * Creates the database of each ManagedDatabase. Two rules keep it from leaking one: it creates nothing before Curfew's finalizer is on,
 * and it looks at the live object again when nothing can come between that look and the creation.
 */
import type { JsonObject, KubernetesObject, ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { seconds, toTimestamp } from '../../../shared/domain/time.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { ClusterWatch } from '../../../shared/ports/cluster-watch.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { describeDatabaseError, type DatabaseServer } from '../database-server.ts';
import { FINALIZER, MANAGED_DATABASES } from '../names.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

export interface ControllerDeps {
  readonly kubernetes: KubernetesApi;
  readonly watch: ClusterWatch;
  readonly server: DatabaseServer;
  /** `HOST:PORT` of the server, for the status. */
  readonly address: string;
  readonly clock: Clock;
  readonly log: (message: string) => void;
}

/** After anything that went wrong. */
const RETRY_AFTER = seconds(5);
const WATCH_SECONDS = 300;

/** Runs until `signal` aborts. One object after the other; what fails is tried again by listing all of them again. */
export async function runController(deps: ControllerDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await listAndWatch(deps, signal);
    } catch (error) {
      if (signal.aborted) return;
      deps.log(`in ${RETRY_AFTER / 1000} s again: ${describeDatabaseError(error)}`);
      await deps.clock.sleep(RETRY_AFTER, signal).catch(() => undefined);
    }
  }
}

async function listAndWatch(deps: ControllerDeps, signal: AbortSignal): Promise<void> {
  const page = await deps.watch.list(MANAGED_DATABASES, { signal });
  if (page.kind === 'notServed') throw new Error('the CustomResourceDefinition of ManagedDatabase is not installed');
  // One that cannot be created does not keep the others waiting.
  const failures: unknown[] = [];
  for (const object of page.items) await reconcile(deps, object).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  const { resourceVersion } = page;
  for await (const event of deps.watch.watch(MANAGED_DATABASES, {
    resourceVersion,
    timeoutSeconds: WATCH_SECONDS,
    signal,
  })) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') await reconcile(deps, event.object);
  }
}

/** The object of an event is a hint: the live one counts. */
async function reconcile(deps: ControllerDeps, { metadata, spec }: KubernetesObject): Promise<void> {
  const { kubernetes, server, log } = deps;
  const { name, namespace, uid } = metadata;
  const dbName = spec?.['dbName'];
  if (namespace === undefined || typeof dbName !== 'string') return;
  const ref: ObjectRef = { type: MANAGED_DATABASES, name, namespace };
  const look = async (): Promise<KubernetesObject | undefined> => {
    const live = objectOf(await kubernetes.get(ref), { ifNotServed: 'empty' });
    return live?.metadata.uid === uid && isHeld(live) && !isReady(live) ? live : undefined;
  };
  if ((await look()) === undefined) return;
  const outcome = await server
    .create(uid, dbName, async () => (await look()) !== undefined)
    .catch(async (error: unknown) => {
      const failed = { status: 'False', reason: 'CreationFailed', message: describeDatabaseError(error) };
      await setReady(deps, { ref, uid }, failed);
      throw error;
    });
  if (outcome === 'unwanted') return;
  log(outcome === 'created' ? `created database ${dbName} and its role` : `${dbName} belongs to something else`);
  const ready =
    outcome === 'created'
      ? { status: 'True', reason: 'Created', message: `database and role ${dbName} are there` }
      : {
          status: 'False',
          reason: 'NameTaken',
          message: `the server has a database or role ${dbName} of another origin`,
        };
  await setReady(deps, { ref, uid }, ready, outcome === 'created' ? dbName : undefined);
}

/** Ready is set once: the database is not watched. */
function isReady(object: KubernetesObject): boolean {
  return conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'True');
}

function isHeld({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp === undefined && metadata.finalizers?.includes(FINALIZER) === true;
}

function conditionsOf({ status }: KubernetesObject): readonly JsonObject[] {
  const conditions = status?.['conditions'];
  const isObject = (each: unknown): each is JsonObject => typeof each === 'object' && each !== null;
  return Array.isArray(conditions) ? conditions.filter(isObject) : [];
}

async function setReady(
  { kubernetes, clock, address }: ControllerDeps,
  { ref, uid }: { readonly ref: ObjectRef; readonly uid: string },
  ready: { readonly status: string; readonly reason: string; readonly message: string },
  externalID?: string,
): Promise<void> {
  const live = objectOf(await kubernetes.get(ref), { ifNotServed: 'empty' });
  if (live?.metadata.uid !== uid) return;
  const others = conditionsOf(live).filter(({ type }) => type !== 'Ready');
  const before = conditionsOf(live).find(({ type }) => type === 'Ready');
  if (before?.['reason'] === ready.reason && before['message'] === ready.message) return;
  const condition = { type: 'Ready', ...ready, lastTransitionTime: toTimestamp(clock.now()) };
  const status = {
    conditions: [...others, condition],
    ...(externalID !== undefined && { externalID, endpoint: `${address}/${externalID}` }),
  };
  const { resourceVersion } = live.metadata;
  const body = { metadata: { uid, resourceVersion }, status };
  const outcome = await kubernetes.patch(ref, { type: 'merge', body }, { subresource: 'status' });
  if (outcome.kind === 'conflict') throw new Error(`${ref.name} changed in between`);
}
