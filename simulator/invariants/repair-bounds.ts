/**
 * I11: nothing repeats without a bound. Of a node so many reboots in so many hours; of one refused change a few tries; of one reason about
 * one object an Event an hour, unless what it says changes; of one status a dozen writes an hour, unless a condition changes.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { MakeCheck, PortCall, Run } from './invariant.ts';
import { actOf, isRefused } from './ladder-acts.ts';
import { claimOf, poolOf } from './node-pool.ts';
import { repairBlockFor } from './policy-oracle.ts';
import { profileIn } from './ladder-past.ts';
import { repairConditionsOf } from './repair-conditions.ts';
import { annotationOf, dig, fieldsOf, LAST_REBOOT, listOf, millisecondsOf, nameOf, textOf } from './reading.ts';
import { isKubernetes, putsAfter, targetOf } from './run-journal.ts';

const HOUR = 3_600_000;
/** Clocks differ, and what was said at one look is said again at the look after the hour. */
const SLACK = 60_000;
/** Two of a node in a day, unless the action says otherwise. */
const ATTEMPTS = 2;
const WITHIN = 24 * HOUR;
/** Tries of a refused deletion in an hour: after 1, 2, 4 … minutes, and what a run that died asked for again. */
const TRIES = 9;
/** Of one that fails otherwise: every minute for five minutes, then every five. */
const TRIES_OF_FAILED = 20;
const STATUS_WRITES = 12;
/** Whose Events of repair are counted. */
const ABOUT: readonly string[] = ['Node', 'NodeClaim'];

/** What was said, and by which call. */
interface Said {
  readonly message: string;
  readonly time: number;
  readonly run: Run;
  readonly call: PortCall;
}

/** Its run wrote a record afterwards; of a Node, that of the Node. */
function isRecorded({ run, call }: Said): boolean {
  const about = dig(call.args[1], 'involvedObject');
  const id = dig(about, 'kind') === 'Node' ? `node/${textOf(dig(about, 'uid')) ?? ''}` : undefined;
  return putsAfter(call, run).some(({ args }) => id === undefined || dig(args[0], 'id') === id);
}

/** The API server was busy or did not answer. */
const failed = ({ outcome }: PortCall): boolean =>
  outcome.kind === 'failed' &&
  dig(outcome.error, 'name') === 'RetryableError' &&
  dig(outcome.error, 'reason') !== 'Forbidden';

export const checkRepairBounds: MakeCheck = ({ mirror, now, quietSince, memoryOf, violate }) => {
  const reboots = new Map<string, PortCall[]>();
  /** When the cluster was restored last: its Nodes may not show the reboots before. */
  let clusterRestoredTime = -Infinity;
  const deletions = new Map<string, PortCall[]>();
  const edits: number[] = [];
  /** What was said last, by the UID of the object and the reason. */
  const said = new Map<string, Map<string, Said>>();
  const statuses = new Map<string, string>();
  const reports = new Map<string, number[]>();
  /** Reboots that a Node must show, by its UID. */
  const unshown = new Map<string, number>();
  const settings = new Map<string, string>();
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodes') {
      // What was said of another state of the node was another cause.
      const text = object && statusesOf(object);
      if (statuses.get(uid) !== text) said.delete(uid);
      if (text !== undefined) statuses.set(uid, text);
      else for (const known of [statuses, reboots, unshown]) known.delete(uid);
    }
    if (resource === 'nodeclaims' && object === undefined) reboots.delete(uid);
    if (!['nodepools', 'nodelifecyclepolicies', 'nodeclaims', 'configmaps'].includes(resource)) return;
    const text = JSON.stringify([
      object?.spec,
      object?.metadata.annotations,
      object?.metadata.finalizers,
      dig(object, 'data'),
    ]);
    // After an edit or a switch the cause is another one.
    if (settings.get(uid) !== text && resource !== 'nodeclaims') said.clear();
    if (settings.get(uid) !== text) edits.push(now());
    settings.set(uid, text);
  });

  /** A machine may register a new Node at each boot: its NodeClaim stays. */
  const machineOf = (node: KubernetesObject): string => (claimOf(node, mirror) ?? node).metadata.uid;

  const onReboot = (node: KubernetesObject, call: PortCall): void => {
    const uid = machineOf(node);
    // A lost answer may be that of a reboot: it counts. One that certainly came to nothing does not.
    // A node of which a backup has a record is known by that alone.
    const isKnown = ({ time }: PortCall): boolean =>
      time > clusterRestoredTime ? memoryOf(time) !== 'older' : memoryOf(time) === 'whole';
    const before = (reboots.get(uid) ?? []).filter(each => mayHaveBeen(each) && isKnown(each));
    reboots.set(uid, [...before, call]);
    const { attempts, within } = allowanceOf(node);
    const since = [...before.filter(({ time }) => time > now() - within + SLACK), call];
    if (since.length > attempts)
      violate('I11', `repair reboots ${nameOf(node)} ${since.length} times in ${within / HOUR} h, ${attempts} may be`);
  };

  /** The widest of all that the block in force grants to a reboot. */
  const allowanceOf = (node: KubernetesObject): { readonly attempts: number; readonly within: number } => {
    const name = poolOf(node, mirror);
    const pool = mirror.named('nodepools', name);
    const block = repairBlockFor(pool, [...mirror.all('nodelifecyclepolicies').values()]);
    const lists = [dig(block, 'actions'), ...repairConditionsOf(block, profileIn(mirror)).map(each => each.actions)];
    const actions = lists.flatMap(listOf).filter(action => dig(action, 'type') === 'Reboot');
    const attempts = actions.map(action => Number(dig(action, 'attempts') ?? ATTEMPTS));
    const within = actions.map(action => millisecondsOf(dig(action, 'within')) ?? WITHIN);
    return attempts.length === 0
      ? { attempts: ATTEMPTS, within: WITHIN }
      : { attempts: Math.max(...attempts), within: Math.min(...within) };
  };

  return {
    onClusterRestored: () => void (clusterRestoredTime = now()),
    onPast(call, run) {
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      if (act?.kind === 'Reboot') reboots.set(machineOf(act.node), [...(reboots.get(machineOf(act.node)) ?? []), call]);
    },
    onCall(call, run) {
      if (run.by !== 'repair') return;
      const act = actOf(call, mirror);
      if (act !== undefined) said.delete(act.node.metadata.uid);
      if (act?.kind === 'Reboot') onReboot(act.node, call);
      if (isKubernetes(call, 'create') && targetOf(call).resource === 'events') onEvent(call, run);
      if (!isKubernetes(call, 'delete') || targetOf(call).resource !== 'nodeclaims') return;
      const name = targetOf(call).name ?? '';
      const hour = (deletions.get(name) ?? []).filter(({ time }) => time > now() - HOUR);
      const quiet = quietSince() ?? Infinity;
      const tries = hour.filter(({ time, outcome }) => time > quiet && outcome.kind !== 'pending');
      deletions.set(name, [...hour, call]);
      const changes = edits.filter(time => time > now() - HOUR).length;
      const most = tries.some(failed) ? TRIES_OF_FAILED : TRIES;
      if (tries.length <= most + changes) return;
      violate('I11', `repair deletes nodeclaims ${name} ${tries.length + 1} times in an hour`);
    },
    onAnswer(call, run) {
      if (run.by !== 'repair' || call.port !== 'instances' || call.method !== 'reboot') return;
      if (call.outcome.kind !== 'answered' || isRefused(call.outcome.value)) return;
      const node = actOf(call, mirror)?.node;
      if (node !== undefined) unshown.set(node.metadata.uid, now());
    },
    onWrite({ resource, subresource, verb, before, after }, by) {
      if (by !== 'repair' || after === undefined) return;
      const isReport = resource.resource === 'nodelifecyclepolicies' && subresource === 'status' && verb !== 'delete';
      if (isReport && before !== undefined && saysNoMore(before, after)) onReport(after);
    },
    onMinute() {
      const quiet = quietSince() ?? Infinity;
      for (const [uid, time] of unshown) {
        const node = mirror.all('nodes').get(uid);
        if (node !== undefined && annotationOf(node, LAST_REBOOT) !== undefined) unshown.delete(uid);
        else if (node !== undefined && quiet < time && now() - time > 2 * SLACK) {
          violate('I11', `${nameOf(node)} was rebooted by repair and does not show it`);
          unshown.delete(uid);
        }
      }
    },
  };

  /** A run that dies before it has recorded what it said leaves that to be said once more (I9). */
  function onEvent(call: PortCall, run: Run): void {
    const event = call.args[1];
    if (!ABOUT.includes(textOf(dig(event, 'involvedObject', 'kind')) ?? '')) return;
    const uid = textOf(dig(event, 'involvedObject', 'uid')) ?? '';
    const reason = textOf(dig(event, 'reason')) ?? '';
    const message = textOf(dig(event, 'message')) ?? '';
    const known = said.get(uid) ?? new Map<string, Said>();
    said.set(uid, known);
    const last = known.get(reason);
    if (last?.run === run) return;
    known.set(reason, { message, time: now(), run, call });
    if (last?.message !== message || now() - last.time > HOUR - SLACK || !isRecorded(last)) return;
    if (memoryOf(last.time) !== 'whole') return;
    if ((quietSince() ?? Infinity) > last.time) return;
    const name = textOf(dig(event, 'involvedObject', 'name')) ?? '';
    violate(
      'I11',
      `repair says ${reason} of ${name} again after ${Math.round((now() - last.time) / 1000)} s: ${message}`,
    );
  }

  function onReport(policy: KubernetesObject): void {
    const hour = [...(reports.get(policy.metadata.uid) ?? []), now()].filter(time => time > now() - HOUR);
    reports.set(policy.metadata.uid, hour);
    if (hour.length <= STATUS_WRITES) return;
    violate('I11', `repair writes the status of ${nameOf(policy)} ${hour.length} times in an hour`);
    reports.delete(policy.metadata.uid);
  }
};

const mayHaveBeen = ({ outcome }: PortCall): boolean => {
  if (outcome.kind === 'answered') return !isRefused(outcome.value);
  return outcome.kind === 'pending' || dig(outcome.error, 'outcomeUnknown') === true;
};

const statusesOf = (node: KubernetesObject): string =>
  JSON.stringify(
    listOf(dig(node, 'status', 'conditions')).map(each => [
      dig(each, 'type'),
      dig(each, 'status'),
      dig(each, 'reason'),
    ]),
  );

/** Nothing but numbers changes, and none of them becomes zero or ceases to be. */
function saysNoMore(before: KubernetesObject, after: KubernetesObject): boolean {
  const words = ({ status, metadata }: KubernetesObject): string =>
    JSON.stringify([
      metadata.generation,
      listOf(dig(status, 'conditions')).map(each => ({ ...fieldsOf(each), lastTransitionTime: undefined })),
      ['repairing', 'held'].map(field => Number(dig(status, field) ?? 0) > 0),
    ]);
  return words(before) === words(after);
}
