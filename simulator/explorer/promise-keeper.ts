/**
 * The smallest concern that keeps a record with a timer: it shows whether `shared/lifecycle` does right by itself, whatever a concern
 * makes of it. A Node's annotation says what is wanted: a text that the record must hold, and minutes of the situation at which another
 * annotation must tell that they came. The record is needed as long as such a minute is still to come.
 */
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, durationBetween, minutes, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import { anotherTurn, settle, type Turn } from '../../shared/lifecycle/settle.ts';
import { findSubject } from '../../shared/lifecycle/subject.ts';
import type { RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { openRecords, type TimedRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { textOf } from '../invariants/reading.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';

/** Whose permissions, inbox and records it uses. */
export const HOST = 'grace-period';
export const WANTED = 'example.com/wanted';
const CAME = 'example.com/came';
/** A crashed run's message comes again after three minutes. */
const LATE_AFTER = minutes(5);

const codec: RecordCodec<string> = {
  owner: HOST,
  schemaVersion: 1,
  parse: ({ text }) => textOf(text) ?? '',
  toState: text => ({ text }),
};

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

type Decision =
  | { readonly kind: 'keep'; readonly came: string; readonly text: string; readonly wakeTime: EpochMs }
  | { readonly kind: 'close'; readonly came: string };

/** @param start minute 0 */
export function createPromiseKeeper(start: EpochMs): (deps: Deps) => Reconcile {
  return deps => async message => {
    if (message.kind === 'wakeUp') return keepPromises(deps, start, message.subject, message);
    if (message.kind === 'clusterEvent') return keepPromises(deps, start, message.event.subject);
  };
}

async function keepPromises(
  deps: Deps,
  start: EpochMs,
  { name, uid }: { readonly name: string; readonly uid?: string | undefined },
  wakeUp?: UsedWakeUp,
): Promise<void> {
  const records = openRecords(deps, codec, wakeUp);
  const timedRecordOf = (id: string): TimedRecord<string> => records(`node/${id}`);
  if (uid !== undefined && (await timedRecordOf(uid).isWakeUpSuperseded())) return;
  await settle({
    what: `node ${name}`,
    async observe() {
      const found = await findSubject(deps, { ref: { type: RESOURCES.Node, name }, uid, timedRecordOf });
      return found.kind === 'nothing' ? { kind: 'over' } : { kind: 'here', observation: found };
    },
    decide: found => (found.kind === 'gone' ? undefined : decide(found.object, start, deps.clock.now())),
    async apply(decision, found): Promise<Turn> {
      if (found.kind === 'gone' || decision === undefined) return found.timedRecord.closeNow();
      const { object, timedRecord } = found;
      if (!(await tell(deps, object, decision.came))) return anotherTurn('the Node changed');
      if (decision.kind === 'close') return timedRecord.release();
      const { uid: ownUid } = object.metadata;
      const subject = { apiVersion: 'v1', kind: 'Node', name, uid: ownUid } as const;
      return timedRecord.save({ subject, value: decision.text, wakeTime: decision.wakeTime });
    },
  });
}

function decide({ metadata }: KubernetesObject, start: EpochMs, now: EpochMs): Decision {
  const { [WANTED]: wanted = '', [CAME]: told = '' } = metadata.annotations ?? {};
  const [text = '', list = ''] = wanted.split(':');
  const times = list.split(',').flatMap(minute => (minute === '' ? [] : addDuration(start, minutes(Number(minute)))));
  const before = told.split(' ').filter(each => each !== '');
  const newly = times
    .filter(time => time <= now && !before.some(each => each.startsWith(toIsoText(time))))
    .map(time => `${toIsoText(time)}${durationBetween(time, now) > LATE_AFTER ? '(late)' : ''}`);
  const came = [...before, ...newly].toSorted().join(' ');
  const [wakeTime] = times.filter(time => time > now).toSorted((a, b) => a - b);
  return wakeTime === undefined ? { kind: 'close', came } : { kind: 'keep', came, text, wakeTime };
}

/** False: the Node changed. */
async function tell({ kubernetes }: Deps, node: KubernetesObject, came: string): Promise<boolean> {
  const { name, resourceVersion, annotations = {} } = node.metadata;
  if ((annotations[CAME] ?? '') === came) return true;
  const body = { metadata: { resourceVersion, annotations: { [CAME]: came } } };
  const outcome = await kubernetes.patch({ type: RESOURCES.Node, name }, { type: 'merge', body });
  return outcome.kind === 'ok';
}
