/** Lets a story happen, and waits until all of it is settled: what people wanted is there, and nothing is half done. */
import { ANNOTATIONS, FUNCTION_NAMES, KARPENTER, type FunctionName } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesManifest, ObjectRef, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import { parseTimestamp, seconds, toDurationMs, toIsoText } from '../../../shared/domain/time.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import type { EtcdSnapshot } from '../etcd.ts';
import { readAuditLog } from '../end-to-end/audit-log.ts';
import { FORWARDER_USER } from '../end-to-end/curfew-on-cluster.ts';
import { annotationOf, isTerminating } from './audited-world.ts';
import type { CurfewProcesses } from './curfew-processes.ts';
import * as objects from './objects.ts';
import { POOLS, type Disturbance, type Story, type Timed } from './story.ts';
import { look, startSurroundings, type Seen, type Surroundings } from './surroundings.ts';

/** What is due happens within five minutes once faults stop. */
const SETTLES_WITHIN = seconds(300);
const LOOK_EVERY = seconds(0.5);
const WAITS_FOR_WORK = seconds(3);
/** What is published is in the inboxes by then. */
const CALM_LOOKS = 6;
/** A restored etcd goes on so far ahead. */
const BUMP = 1_000_000;
const NAMESPACES: ResourceType = { group: '', version: 'v1', resource: 'namespaces' };

export interface Settled {
  /** What still had to happen when time was up. */
  readonly open: readonly string[];
  /** What went wrong around Curfew. */
  readonly failures: readonly string[];
}

/** @param log a line for each thing that is done */
export async function runStory(
  story: Story,
  processes: CurfewProcesses,
  log: (line: string) => void,
): Promise<Settled> {
  const { admin, aws, cloud, forwarder } = processes;
  await prepare(story, admin);
  for (const { providerID } of story.machines) cloud.add(providerID, {});
  const surroundings = startSurroundings(
    admin,
    aws.ec2.fleet,
    story.machines.map(({ providerID }) => providerID),
  );
  try {
    await whenFinalizersAreOn(admin);
    const begin = systemClock.now();
    const when = async ({ at }: { readonly at: number }): Promise<void> =>
      systemClock.sleep(toDurationMs(Math.max(0, begin + at * 1000 - systemClock.now())));
    const deeds = async (): Promise<void> => {
      for (const deed of story.deeds) {
        await when(deed);
        log(JSON.stringify(deed));
        surroundings.begin(deed);
      }
    };
    const disturbances = async (): Promise<void> => {
      const disturb = createDisturber(processes);
      for (const disturbance of story.disturbances) {
        await when(disturbance);
        log(JSON.stringify(disturbance));
        await disturb(disturbance);
      }
    };
    await Promise.all([deeds(), disturbances()]);
    const open = await settle(admin, surroundings, SETTLES_WITHIN, log);
    await persist(() => note(admin, 'done', {}));
    log('done');
    // Everything is told once more: nothing is to be done about it.
    const since = systemClock.now();
    forwarder.kill();
    await quiet(processes, since);
    await callTheRoll(admin);
    return { open, failures: surroundings.failures };
  } finally {
    await surroundings.stop();
  }
}

async function prepare({ machines, pods }: Story, admin: KubernetesApi): Promise<void> {
  for (const name of [objects.WORKLOADS, objects.NOTES]) await create(admin, NAMESPACES, objects.namespace(name));
  await create(admin, RESOURCES.ConfigMap, objects.config);
  for (const pool of POOLS) {
    await create(admin, RESOURCES.NodePool, objects.nodePool(pool));
    await create(admin, RESOURCES.NodeLifecyclePolicy, objects.policy(pool));
  }
  const status = (ref: ObjectRef, body: object) =>
    admin.patch(ref, { type: 'merge', body: { status: { ...body } } }, { subresource: 'status' });
  for (const machine of machines) {
    const { name } = machine;
    await create(admin, RESOURCES.NodeClaim, objects.nodeClaim(machine));
    await status({ type: RESOURCES.NodeClaim, name }, objects.nodeClaimStatus(machine));
    await create(admin, RESOURCES.Node, objects.node(machine));
    await status({ type: RESOURCES.Node, name }, objects.nodeStatus(true, systemClock.now()));
  }
  for (const pod of pods) {
    await create(admin, RESOURCES.Pod, objects.pod(pod));
    const ref = { type: RESOURCES.Pod, namespace: objects.WORKLOADS, name: pod.name };
    await status(ref, objects.podStatus(systemClock.now()));
  }
}

/** What is there already, as the ConfigMap of `deploy/`, is changed. */
async function create(admin: KubernetesApi, type: ResourceType, manifest: KubernetesManifest): Promise<void> {
  const outcome = await admin.create(type, manifest);
  if (outcome.kind === 'ok') return;
  if (outcome.kind !== 'exists') throw new Error(`${manifest.kind}: ${JSON.stringify(outcome)}`);
  const { name = '', namespace } = manifest.metadata;
  const body = JSON.parse(JSON.stringify(manifest)) as Readonly<Record<string, never>>;
  await admin.patch({ type, name, ...(namespace !== undefined && { namespace }) }, { type: 'merge', body });
}

async function whenFinalizersAreOn(admin: KubernetesApi): Promise<void> {
  await until(async () => {
    const { nodes, claims } = await look(admin);
    const edge = [...nodes, ...claims].filter(({ metadata }) => metadata.labels?.[KARPENTER.nodePoolLabel] === 'edge');
    return edge.every(({ metadata }) => metadata.finalizers?.includes(objects.FINALIZER));
  });
}

const note = (admin: KubernetesApi, name: string, data: Readonly<Record<string, string>>) =>
  create(admin, RESOURCES.ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: objects.NOTES, name },
    data,
  });

/** Does one thing after the other, and returns when it is over. */
function createDisturber({
  plane,
  aws,
  forwarder,
  admin,
}: CurfewProcesses): (what: Timed<Disturbance>) => Promise<void> {
  let saved: EtcdSnapshot | undefined;
  const away = (length: number): Promise<void> => systemClock.sleep(seconds(length));
  return async disturbance => {
    switch (disturbance.kind) {
      case 'killForwarder':
        return forwarder.kill();
      case 'killFunction':
        await whenAtWork(aws, disturbance.name);
        return void (await aws.killFunction(disturbance.name));
      case 'killApiserver':
        await plane.apiserver.kill();
        await away(disturbance.seconds);
        return plane.apiserver.start();
      case 'pauseApiserver':
        plane.apiserver.pause();
        await away(disturbance.seconds);
        return plane.apiserver.resume();
      case 'killEtcd':
        await plane.etcd.kill();
        await away(disturbance.seconds);
        return plane.etcd.start();
      case 'snapshot':
        saved = await plane.snapshot();
        return;
      case 'restore': {
        if (saved === undefined) throw new Error('nothing was saved');
        const time = toIsoText(systemClock.now());
        await plane.restore(saved, disturbance.bump ? { bumpRevision: BUMP } : {});
        return persist(() =>
          note(admin, `restored-${time.replaceAll(/[^0-9]/g, '')}`, { time, revision: String(saved?.revision) }),
        );
      }
    }
  };
}

/** In the middle of a run, if one comes soon; else it is killed while it waits. */
async function whenAtWork(aws: CurfewProcesses['aws'], name: FunctionName): Promise<void> {
  const end = systemClock.now() + WAITS_FOR_WORK;
  while (systemClock.now() < end && (await aws.inbox(name)).inFlight.length === 0)
    await systemClock.sleep(seconds(0.01));
}

/** Until the API server answers. */
async function persist(call: () => Promise<void>): Promise<void> {
  await until(async () => {
    await call();
    return true;
  });
}

/** The caller's own time-out ends a wait for nothing. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (;;) {
    try {
      if (await holds()) return;
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error;
    }
    await systemClock.sleep(LOOK_EVERY);
  }
}

/** Answers what is still open when time is up. */
async function settle(
  admin: KubernetesApi,
  surroundings: Surroundings,
  within: number,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const end = systemClock.now() + within;
  let open: readonly string[] = ['nothing was seen'];
  let said = '';
  await until(async () => {
    open = openIn(await look(admin), surroundings.wants);
    if (open.join() !== said) log(`open: ${open.join('; ')}`);
    said = open.join();
    return open.length === 0 || systemClock.now() > end;
  });
  return open;
}

function openIn({ nodes, claims }: Seen, wants: Surroundings['wants']): readonly string[] {
  const open: string[] = [];
  const say = (what: string, isOpen: boolean): void => void (isOpen && open.push(what));
  for (const claim of claims) {
    const { name } = claim.metadata;
    say(`NodeClaim ${name} is still there`, isTerminating(claim) || wants.deleted.has(name) || wants.ill.has(name));
  }
  for (const node of nodes) {
    const { name } = node.metadata;
    const [asked, answer] = [ANNOTATIONS.drainRequested, ANNOTATIONS.drainAnswer].map(key => annotationOf(node, key));
    say(`Node ${name} is still there`, isTerminating(node) || !claims.some(({ metadata }) => metadata.name === name));
    say(`Node ${name} is not asked`, wants.drains.has(name) && asked === undefined);
    say(`drain of ${name} has no answer`, asked !== undefined && answer?.includes(JSON.stringify(asked)) !== true);
    say(`Node ${name} is drained`, annotationOf(node, ANNOTATIONS.drainUnderWay) !== undefined);
    say(`Node ${name} is cordoned`, asked === undefined && node.spec?.['unschedulable'] === true);
    const until = parseTimestamp(annotationOf(node, ANNOTATIONS.protectedUntil) ?? '');
    say(`Node ${name} is protected`, until !== undefined);
  }
  return open;
}

/** Until a forwarder that started since has told everything, and no function has anything in hand. */
async function quiet({ aws, plane: { auditLog = '' } }: CurfewProcesses, since: number): Promise<void> {
  await until(async () =>
    readAuditLog(auditLog).some(
      ({ user, verb, resource, received }) =>
        user === FORWARDER_USER && verb === 'list' && resource === 'nodeclaims' && received > since,
    ),
  );
  let calm = 0;
  await until(async () => {
    const inboxes = await Promise.all(FUNCTION_NAMES.map(name => aws.inbox(name)));
    calm = inboxes.every(({ ready, inFlight }) => ready.length + inFlight.length === 0) ? calm + 1 : 0;
    return calm === CALM_LOOKS;
  });
}

/** So that the audit log says what stands. */
async function callTheRoll(admin: KubernetesApi): Promise<void> {
  await persist(() => note(admin, 'roll-call', {}));
  const { nodes, claims } = await look(admin);
  const touch = (type: ResourceType, name: string) =>
    admin.patch(
      { type, name },
      { type: 'merge', body: { metadata: { annotations: { 'chaos.example.com/seen': 'yes' } } } },
    );
  for (const { metadata } of nodes) await touch(RESOURCES.Node, metadata.name);
  for (const { metadata } of claims) await touch(RESOURCES.NodeClaim, metadata.name);
}
