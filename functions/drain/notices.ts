/** What a drain says while it waits; each sentence once, until it changes. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { nameOf, type PassResult } from './act.ts';
import type { Look } from './observe.ts';
import type { DrainPass, PodWait } from './pass.ts';

export interface Notice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What holds the pods that are left. The first two texts are NVSentinel's. */
export function noticesOf({ waits }: DrainPass, { refusals }: Pick<PassResult, 'refusals'>): readonly Notice[] {
  const of = (because: PodWait['because']): readonly PodWait[] => waits.filter(each => each.because === because);
  const notices: Notice[] = [];
  const completing = of('Completion').map(({ pod }) => nameOf(pod));
  if (completing.length > 0) {
    const message = `Waiting for following pods to finish: [${completing.join(' ')}]`;
    notices.push({ type: 'Normal', reason: EVENT_REASONS.awaitingPodCompletion, message });
  }
  const bounded = of('Deadline');
  const [first] = bounded;
  if (first?.until !== undefined) {
    const names = bounded.map(({ pod }) => pod.name).join(' ');
    const namespaces = [...new Set(bounded.map(({ pod }) => pod.namespace))].join(' ');
    const message = `Waiting for following pods to finish: [${names}] in namespace: [${namespaces}] or they will be force deleted on: ${toTimestamp(first.until)}`;
    notices.push({ type: 'Normal', reason: EVENT_REASONS.waitingBeforeForceDelete, message });
  }
  const held = of('Protected').map(
    ({ pod, until }) => `${nameOf(pod)} is protected${until === undefined ? '' : ` until ${toTimestamp(until)}`}`,
  );
  const unknown = waits.flatMap(each => (each.because === 'Unknown' ? [each.message] : []));
  const blockers = [...held, ...unknown, ...refusals];
  if (blockers.length > 0) {
    const message = `pods are left that must not go: ${listed(blockers)}`;
    notices.push({ type: 'Warning', reason: EVENT_REASONS.failedDraining, message });
  }
  return notices;
}

/** Says those that the text of the last time does not have. @returns the text to remember */
export async function sayNew(
  reporter: Reporter,
  { object }: Pick<Look, 'object'>,
  notices: readonly Notice[],
  before: string | undefined,
): Promise<string> {
  const said = new Set((before ?? '').split('\n'));
  const lines = notices.map(({ reason, message }) => `${reason} ${message.replaceAll('\n', ' ')}`);
  for (const [index, { type, reason, message }] of notices.entries()) {
    if (said.has(lines[index] ?? '')) continue;
    await reporter.report({ about: object, decision: 'wait', reason, message, event: { type } });
  }
  return lines.join('\n');
}

const LISTED_MAX = 5;

function listed(items: readonly string[]): string {
  const more = items.length - LISTED_MAX;
  return `${items.slice(0, LISTED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
