/** Routes a wake-up to the part of a function that it is for. */
import { RESOURCES, type KnownKind } from '../contract/resources.ts';
import type { Subject } from '../contract/subject.ts';
import { parseApiVersion } from '../domain/kubernetes-object.ts';
import type { UsedWakeUp } from './timed-record.ts';

/** A part of a function that has timers of its own. */
export interface WakeUpRoute {
  /** Whether a timer with this subject is its own. */
  takes(subject: Subject): boolean;
  timerDue(wakeUp: SubjectWakeUp): Promise<unknown>;
}
export type SubjectWakeUp = UsedWakeUp & { readonly subject: Subject };

/** Every object of the kind, and none of a kind with the same name in another group, such as Longhorn's Node. */
export const kindRoute = (kind: KnownKind, timerDue: WakeUpRoute['timerDue']): WakeUpRoute => ({
  takes: subject => subject.kind === kind && parseApiVersion(subject.apiVersion).group === RESOURCES[kind].group,
  timerDue,
});

/** The first route that takes the subject gets the wake-up. A wake-up that no route takes is of a record that is gone. */
export async function routeWakeUp(routes: readonly WakeUpRoute[], wakeUp: SubjectWakeUp): Promise<void> {
  await routes.find(route => route.takes(wakeUp.subject))?.timerDue(wakeUp);
}
