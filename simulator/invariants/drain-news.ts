/**
 * - I7 a node is opened by a drain only when every fault that it was drained for is over
 * - I5 and it is opened then, however late that is
 * - I9 what asks for a drain is neither put aside as old, foreign or harmless nor ends in the dead letters
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { DrainRequests, DrainRequestSeen } from './drain-requests.ts';
import { LONGEST_DELAY, type Check, type CheckContext } from './invariant.ts';
import { annotationOf, dig, listOf, nameOf, textOf } from './reading.ts';

const CORDON = 'curfew.dev/cordoned-by-drain';
const QUARANTINE = 'quarantineHealthEvent';
const PUT_ASIDE: readonly string[] = ['StaleEvent', 'OtherCluster', 'NotQuarantined'];

const isOver = ({ recovered, isUnordered }: DrainRequestSeen): boolean => recovered && !isUnordered;

const isCordoned = (node: KubernetesObject | undefined): boolean => dig(node, 'spec', 'unschedulable') === true;

export function checkDrainNews(
  { mirror, now, quietSince, lastDenial, memoryOf, violate }: CheckContext,
  requests: DrainRequests,
): Required<Pick<Check, 'onWrite' | 'onAudit' | 'onBuried' | 'onMinute'>> {
  /** By name: since when nothing keeps the node any more. */
  const free = new Map<string, number>();
  /** By name: whether it is cordoned, whether somebody opened it since the last minute, and whether that was we. */
  const cordoned = new Set<string>();
  const openedBySomebody = new Set<string>();
  const opened = new Set<string>();
  /** Requests that a drain has ended for, by name of the node and id. */
  const ended = new Set<string>();
  /** The same that a drain took. */
  const taken = new Set<string>();
  /** UIDs by name. */
  const nodes = new Map<string, string>();
  const standing = (name: string): readonly string[] =>
    requests
      .open(name, Infinity)
      .filter(({ check, isUnordered }) => check !== '' && !isUnordered)
      .map(({ id }) => id);
  /** Once it is known who has opened the node. */
  const noteOpening = (name: string): void => {
    if (openedBySomebody.delete(name) && !opened.has(name)) requests.onOpened(name);
    opened.delete(name);
  };
  const onTaken = (name: string, id: string): void => {
    // What is taken after the node was opened counts.
    noteOpening(name);
    taken.add(`${name} ${id}`);
    if (!ended.has(`${name} ${id}`)) requests.onTaken(name, id);
  };
  const quarantined = new Set<string>();
  /** UIDs of Nodes that have changed since the last minute, or are cordoned by a drain. */
  const looked = new Set<string>();
  mirror.follow((resource, uid, node) => {
    if (resource !== 'nodes' || node === undefined) return;
    looked.add(uid);
    const { name } = node.metadata;
    if (isCordoned(node)) cordoned.add(name);
    else if (cordoned.delete(name)) openedBySomebody.add(name);
    // The end of a quarantine ends what it asked for, whether or not the bus says so.
    if (annotationOf(node, QUARANTINE) !== undefined) quarantined.add(uid);
    else if (quarantined.delete(uid)) requests.onOpened(node.metadata.name);
  });
  return {
    onWrite({ resource, before, after }, by) {
      if (resource.resource !== 'nodes' || after === undefined) return;
      // A repair that opens what it had closed takes back no drain.
      if (by === 'repair' && isCordoned(before) && !isCordoned(after)) opened.add(after.metadata.name);
      if (by !== 'drain') return;
      const mark = annotationOf(after, CORDON);
      // A run that died may have taken it without a word in the audit log.
      if (mark !== undefined && (before === undefined || mark !== annotationOf(before, CORDON)))
        onTaken(after.metadata.name, mark);
      if (!isCordoned(before) || isCordoned(after)) return;
      const { name } = after.metadata;
      opened.add(name);
      // Of one whose message is still on its way nobody knows.
      const id = standing(name).find(each => taken.has(`${name} ${each}`));
      if (id !== undefined) violate('I7', `drain opens ${nameOf(after)}, although the fault of ${id} is not over`);
    },
    onAudit({ function: by, decision, reason, name, details }) {
      if (by !== 'drain') return;
      if (decision === 'end' || decision === 'cancel') {
        for (const id of listOf(dig(details, 'ids'))) ended.add(`${name} ${String(id)}`);
      }
      const asked = decision === 'take' ? textOf(dig(details, 'id')) : undefined;
      if (asked !== undefined) onTaken(name, asked);
      if (decision !== 'answer' || !PUT_ASIDE.includes(reason)) return;
      const id = dig(details, 'id');
      const open = requests.open(name, Infinity).find(each => each.id === id && !each.isUnordered);
      if (open !== undefined)
        violate('I9', `drain puts ${open.id} of ${name} aside as ${reason}, which asks for a drain`);
    },
    onBuried(by, reason, explanation) {
      if (by === 'drain' && explanation.includes('HealthEvent')) {
        violate('I9', `a HealthEvent ended in the dead letters: ${reason}: ${explanation}`);
      }
    },
    onMinute() {
      const quiet = quietSince();
      for (const uid of looked) {
        const node = mirror.all('nodes').get(uid);
        const mark = node === undefined ? undefined : annotationOf(node, CORDON);
        if (mark === undefined) looked.delete(uid);
        if (node === undefined) continue;
        const { name } = node.metadata;
        // I10: another node under that name.
        if (nodes.get(name) !== undefined && nodes.get(name) !== uid) {
          requests.onReplaced(name);
          for (const ids of [ended, taken]) {
            for (const id of ids) if (id.startsWith(`${name} `)) ids.delete(id);
          }
        }
        nodes.set(name, uid);
        noteOpening(name);
        if (quiet === undefined || mark === undefined || !isCordoned(node)) {
          free.delete(name);
          continue;
        }
        const isLeft = standing(name).length === 0;
        // What a node is cordoned for stands in the table alone.
        const asked = requests.open(name, 0);
        const all = asked.filter(({ time }) => memoryOf(time) === 'whole');
        const isForgotten = asked.some(({ id, time }) => id === mark && memoryOf(time) !== 'whole');
        // A restored table may have forgotten that a fault is over, and nobody says so again.
        const isKnownOver = all.every(request => isOver(request) && memoryOf(request.endTime ?? now()) === 'whole');
        if (!isLeft || isForgotten || all.length === 0 || !isKnownOver) {
          free.delete(name);
          continue;
        }
        const since = Math.max(free.get(name) ?? now(), quiet, lastDenial('nodes', node.metadata));
        free.set(name, since);
        if (now() - since <= LONGEST_DELAY) continue;
        violate('I5', `drain leaves ${nameOf(node)} cordoned, of which every fault is over`);
        free.set(name, Infinity);
      }
    },
  };
}
