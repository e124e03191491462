/** What the effects of a drain share: the look that they stand on, how a turn ends, and how it is reported. */
import { addDuration, earliest, minutes, type EpochMs } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { again, DONE, type Turn } from '../../shared/lifecycle/settle.ts';
import type { DrainRecord } from './model.ts';
import type { NodeChange } from './node.ts';
import type { DrainDeps, Look } from './observe.ts';

export interface Parts {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
  readonly run: RunMemory;
}

/** What one run did itself; the same in all of its turns. */
export interface RunMemory {
  /** The message in hand is in the record, or was answered. */
  taken: boolean;
  /** Something was carried out, and the next look starts from there. */
  progressed: boolean;
  /** Id of the drain that it ended: it is the one to close it. */
  ended: string | undefined;
}

/** Whatever is waited for, a drain is looked at this often. */
const SAFETY_NET = minutes(5);
/** No event reports a change of a pod's labels or of the devices it uses. */
const UNTOLD_NET = minutes(1);
/** After a run that dies between two turns, the next one comes after this long. */
export const SOON = minutes(1);

/** The next look of this run goes on from here. */
export function proceed(run: RunMemory): Turn {
  run.progressed = true;
  return DONE;
}

/** Writes record and timer together. @param punctual false: the timer comes by the minute sweep */
export function save(look: Look, value: DrainRecord, wakeTime: EpochMs, punctual = true) {
  const { kind, apiVersion, metadata } = look.object;
  return look.store.save({
    subject: { kind, apiVersion, name: metadata.name, uid: metadata.uid },
    value,
    wakeTime,
    punctual,
  });
}

/** This run goes on. Should it die, the sweep finds the timer. */
export const saveForNow = (look: Look, value: DrainRecord) => save(look, value, addDuration(look.now, SOON), false);

/** The look of a turn that wrote this by `saveForNow` and goes on. */
export const after = (look: Look, record: DrainRecord): Look => ({
  ...look,
  record,
  armed: addDuration(look.now, SOON),
});

/** A timer that is only a little early is kept: it costs less than to look again because it was put off (T4). */
export function saveUntil(look: Look, value: DrainRecord, wakeTime: EpochMs) {
  const { armed, now } = look;
  const keeps = armed !== undefined && armed > now && armed < wakeTime && wakeTime <= addDuration(armed, SOON);
  return keeps ? save(look, value, armed, false) : save(look, value, wakeTime);
}

/** Until when a drain waits for news, at most. */
export function safely({ now, rules, record }: Look, time: EpochMs | undefined): EpochMs {
  const isUntold = (rules?.settings.podDrainPolicies.length ?? 0) > 0 || record.active?.scope.kind === 'entities';
  const net = addDuration(now, isUntold ? UNTOLD_NET : SAFETY_NET);
  return earliest(time, net) ?? net;
}

/** The turn of a run whose change of the Node lost a race. */
export const lookAgain = (changed: Exclude<NodeChange['kind'], 'ok'>): Turn =>
  again(`the Node ${changed === 'gone' ? 'is gone' : 'changed'}`);

/** The Node as `DrainCompleted` names it: the one that was looked at, by its UID (I10). */
export const nodeOf = ({ object: { metadata } }: Look) => ({ name: metadata.name, uid: metadata.uid });

/** One audit line, metric and Event about the Node. */
export function report(
  { reporter }: Parts,
  { object }: Look,
  what: Omit<Parameters<Reporter['report']>[0], 'about'>,
): Promise<void> {
  return reporter.report({ ...what, about: object });
}
