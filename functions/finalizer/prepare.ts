/** Puts our finalizer on what is alive, or takes it off where no termination of ours applies any more. */
import { oneByOne } from '../../shared/cluster/in-parallel.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { again, type Turn } from '../../shared/lifecycle/settle.ts';
import { orRefused, REFUSED_CHECK, reportOfRefused, type Refused } from '../../shared/lifecycle/refused.ts';
import type { TerminationDecision } from './decide.ts';
import { setFinalizers } from './finalizers.ts';
import { storedOrEmpty, type Look } from './observe.ts';
import { rememberPool } from './pools.ts';
import type { TerminationDeps } from './steps/context.ts';

interface Parts {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
}

/**
 * Writes with the UID and version that were looked at; one that has changed since ends the turn, which begins again.
 * What an admission policy refuses is said and tried again.
 */
export async function prepare(
  { deps, reporter }: Parts,
  { changes }: Extract<TerminationDecision, { kind: 'prepare' }>,
  look: Look,
): Promise<Turn> {
  const isPutOn = changes.some(({ mark }) => mark !== undefined);
  if (isPutOn && look.nodePool !== undefined) await rememberPool(deps, look.nodePool);
  const refusals: Refusal[] = [];
  let changed: string | undefined;
  await oneByOne(changes, async ({ object, finalizers, mark }) => {
    const source = [look.object, ...look.nodes].find(({ metadata }) => metadata.uid === object.uid);
    if (source === undefined || changed !== undefined) return;
    const outcome = await orRefused(setFinalizers(deps, source, finalizers, mark));
    if (outcome === 'changed') changed = `${object.kind} ${object.name} changed`;
    if (outcome === 'changed') return;
    if (typeof outcome !== 'string') {
      refusals.push({ source, refused: outcome });
      return;
    }
    await reporter.report({
      about: source,
      decision: 'prepare',
      reason: mark === undefined ? 'FinalizerRemoved' : 'FinalizerAdded',
      message: mark === undefined ? 'no termination of ours applies any more' : `the finalizer ${mark} is on`,
      details: { finalizers: [...finalizers] },
    });
  });
  if (changed !== undefined) return again(changed);
  return refusals.length === 0 ? look.record.release() : tryAgain(reporter, refusals, look);
}

interface Refusal {
  readonly source: KubernetesObject;
  readonly refused: Refused;
}

/** Said before it is recorded, so that a run that dies in between says it again (I9). */
async function tryAgain(reporter: Reporter, refusals: readonly Refusal[], look: Look): Promise<Turn> {
  const { object, stored, record, now } = look;
  const { kind, apiVersion, metadata } = object;
  const messages = refusals.map(({ refused }) => refused.message).join('; ');
  const isRepeated = stored?.refused === messages;
  for (const { source, refused } of refusals) {
    await reporter.report(reportOfRefused(source, refused, EVENT_REASONS.nodeChangeRefused, { isRepeated }));
  }
  const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
  const value = { ...storedOrEmpty({ stored }), refused: messages };
  return await record.save({ subject, value, wakeTime: addDuration(now, REFUSED_CHECK) });
}
