/** Carries out what was decided of a node's drains, one turn each. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import { addDuration, earliest, isDue } from '../../shared/domain/time.ts';
import { isRefusal } from '../../shared/lifecycle/refusals.ts';
import { again, DONE, ONWARD, type Turn } from '../../shared/lifecycle/settle.ts';
import { applyCustom } from './custom-request.ts';
import { carryOutPass } from './evictions.ts';
import type { DrainDecision, Preparation } from './decision.ts';
import { answer, cancel, close, finish, tidy } from './drain-end.ts';
import { tellAnswers } from './drain-completed.ts';
import type { ActiveDrain } from './record.ts';
import type { FinishedDrain } from './request-record.ts';
import { answerNode, disownCordon, prepareNode } from './node.ts';
import type { ObservedDrain } from './observe.ts';
import { isWaiting } from './phase.ts';
import { withReturned, type DrainPass } from './pod-plan.ts';
import { formatScope } from './pods.ts';
import { withTried } from './progress.ts';
import { noticesOf, saidStuck, sayNew } from './report.ts';
import {
  after,
  nodeOf,
  notChanged,
  orLater,
  report,
  safely,
  save,
  saveForNow,
  saveUntil,
  shownOn,
  tryChange,
  type NotMade,
  type DrainContext,
} from './context.ts';

type Of<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;

/** Carries a decision out: the Node first, then who asked, then the record. `again` where somebody else wrote meanwhile. */
export async function apply(parts: DrainContext, decision: DrainDecision, observed: ObservedDrain): Promise<Turn> {
  const { run } = parts;
  switch (decision.kind) {
    case 'rest':
      if (decision.until === undefined) return observed.store.release();
      return save(observed, decision.record, decision.until);
    case 'tidy':
      return tidy(parts, decision, observed);
    case 'hide': {
      const shown = await shownOn(parts, observed, 'nothing', '');
      return shown === undefined || isRefusal(shown) ? notChanged(observed, shown) : ONWARD;
    }
    case 'disownCordon': {
      const changed = await tryChange(parts, observed, 'finish', () => disownCordon(parts.deps, observed.object));
      return changed.kind === 'ok' ? ONWARD : notChanged(observed, changed);
    }
    case 'answer':
      return answer(parts, decision, observed);
    case 'take': {
      if (decision.replaced.length > 0) {
        const told = await replaced(parts, decision.replaced, observed);
        if (told.kind !== 'ok') return notChanged(observed, told, true);
      }
      const saved = await saveForNow(observed, decision.record);
      if (!saved.written) return saved;
      await reportTaken(parts, decision, observed);
      return ONWARD;
    }
    case 'cancel':
      return cancel(parts, decision, observed);
    case 'hold': {
      const said = `${decision.reason} ${decision.message}`;
      // Said first: a run that dies in between says it again, and once the record has it nobody does.
      if (observed.record.reported !== said) {
        await report(parts, observed, {
          ...(decision.reason === EVENT_REASONS.kindNotServed
            ? { decision: 'wait', reason: EVENT_REASONS.kindNotServed }
            : { decision: 'hold', reason: EVENT_REASONS.drainHeld }),
          message: decision.message,
          event: { type: 'Warning' },
        });
      }
      const held = { ...observed.record, reported: said, heldSince: observed.record.heldSince ?? observed.now };
      return save(observed, held, addDuration(observed.now, RUN_ENDS_WITHIN));
    }
    case 'note': {
      const saved = await saveForNow(observed, decision.record);
      return saved.written ? ONWARD : saved;
    }
    case 'begin':
      return begin(parts, decision, observed);
    case 'start': {
      const saved = await saveForNow(observed, decision.record);
      if (!saved.written) return saved;
      await reportStarted(parts, decision.active, observed);
      return ONWARD;
    }
    case 'queue':
      return queue(parts, decision, observed);
    case 'prepare':
      return prepare(parts, decision, observed);
    case 'drain':
      return drain(parts, decision, observed);
    case 'finish':
      return finish(parts, decision, observed);
    case 'close':
      return isAnothers(run, decision, observed) ? DONE : close(parts, decision, observed);
    case 'noteResource':
    case 'createResource':
    case 'awaitResource':
    case 'fallBack':
      return applyCustom(parts, decision, observed);
    default:
      return decision satisfies never;
  }
}

/** Another run ended the drain a moment ago and is about to say so; should it have died, the timer that it set comes. */
const isAnothers = ({ ended }: DrainContext['run'], { active }: Of<'close'>, { now, armed }: ObservedDrain): boolean =>
  ended !== active.id && armed !== undefined && !isDue(now, armed);

/** Answers the requests that made room for newer ones, before the record forgets them. */
async function replaced(
  parts: DrainContext,
  answers: readonly FinishedDrain[],
  observed: ObservedDrain,
): Promise<Exclude<NotMade, undefined> | { kind: 'ok' }> {
  const changed = orLater(
    await tryChange(parts, observed, 'answer', () => answerNode(parts.deps, observed.object, answers)),
  );
  if (changed.kind !== 'ok') return changed;
  await tellAnswers(parts.deps, nodeOf(observed), answers);
  for (const { id, status, reason, message } of answers) {
    const details = { id, status, repeated: false };
    await report(parts, observed, { decision: 'answer', reason, message: `${status}: ${message}`, details });
  }
  return { kind: 'ok' };
}

async function reportTaken(
  parts: DrainContext,
  { request, how }: Pick<Of<'take'>, 'request' | 'how'>,
  observed: ObservedDrain,
): Promise<void> {
  parts.run.taken = true;
  await report(parts, observed, {
    decision: 'take',
    reason: how === 'joins' ? 'DrainJoined' : how === 'follows' ? 'DrainQueued' : 'DrainAsked',
    message: `${request.requestedBy} asks for a drain: ${request.event.message || request.event.checkName || 'a HealthEvent'}`,
    details: { id: request.id },
  });
}

async function begin(
  parts: DrainContext,
  { record, active, taken, next }: Of<'begin'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const saved = await saveForNow(observed, record);
  if (!saved.written) return saved;
  if (taken !== undefined) await reportTaken(parts, { request: taken, how: 'next' }, observed);
  if (!isWaiting(active)) await reportStarted(parts, active, observed);
  return next === undefined ? ONWARD : prepare(parts, next, after(observed, record));
}

async function reportStarted(parts: DrainContext, active: ActiveDrain, observed: ObservedDrain): Promise<void> {
  const [first] = active.requests;
  const about = first === undefined ? '' : `: ${first.event.checkName || 'a HealthEvent'} from ${first.requestedBy}`;
  await report(parts, observed, {
    decision: 'begin',
    reason: EVENT_REASONS.drainStarted,
    message: `drain ${active.id} of ${formatScope(active.scope)} has begun${about}`,
    details: { id: active.id, ids: active.requests.map(({ id }) => id), force: active.force },
    metric: { name: 'DrainStarted' },
    event: { type: 'Normal' },
  });
}

/** Says once that the drain waits. */
async function queue(
  { reporter }: DrainContext,
  { active, message, until }: Of<'queue'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const notice = { type: 'Normal', reason: EVENT_REASONS.drainWaits, message } as const;
  const reported = await sayNew(reporter, observed, [notice], { before: active.reported });
  return save(observed, { ...observed.record, active: { ...active, reported } }, until);
}

/**
 * The Node, then the pods, by one look: the patch fails if the Node changed since, the write after it if the drain was called off, each
 * eviction if its pod changed. What a run that dies leaves undone, the next look does.
 */
async function prepare(
  parts: DrainContext,
  { active, hold, showDraining, pass }: Preparation,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps } = parts;
  const message = `drain ${active.id} of ${formatScope(active.scope)}`;
  // One that waits for its turn is not in progress.
  const shown = isWaiting(active) ? observed.node.shown : 'inProgress';
  const node = await shownOn(parts, observed, shown, message);
  if (node === undefined || isRefusal(node)) return notChanged(observed, node);
  const changed = await tryChange(parts, observed, 'prepare', () =>
    prepareNode(deps, node, { active, hold, showDraining }),
  );
  if (changed.kind !== 'ok') return notChanged(observed, changed);
  const { resourceVersion: nodeVersion } = changed;
  const prepared = { ...active, hold, nodeVersion, ...(pass && notedBefore(active, pass, observed)) };
  const record = { ...observed.record, active: prepared };
  const saved = await saveForNow(observed, record);
  if (!saved.written) return saved;
  // A pod that came before the cordon is not in this look.
  if (pass === undefined || pass.acts.length === 0) return ONWARD;
  return drain(
    parts,
    { kind: 'drain', active: prepared, pass, isStuck: false, until: undefined },
    after(observed, record),
  );
}

/** What the record says of pods before anything happens to them. */
function notedBefore(
  active: ActiveDrain,
  pass: DrainPass,
  { now }: ObservedDrain,
): Pick<ActiveDrain, 'tried' | 'returns'> {
  return { tried: withTried(active, pass), returns: withReturned(active.returns, pass.returned, now) };
}

async function drain(
  parts: DrainContext,
  { active, pass, isStuck, until: due }: Of<'drain'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { reporter } = parts;
  // The preparation has noted it already.
  const isNoted = observed.record.active === active;
  const noted = isNoted ? active : notedBefore(active, pass, observed);
  if (noted.tried !== active.tried || noted.returns !== active.returns) {
    const saved = await saveForNow(observed, { ...observed.record, active: { ...active, ...noted } });
    if (!saved.written) return saved;
  }
  const { left, warned, held, isSaidAgain, goneBy } = await carryOutPass(parts, observed, active, pass);
  const notices = noticesOf(pass, left.texts);
  const reported = await sayNew(reporter, observed, notices, { before: active.reported, isSaidAgain });
  const next: ActiveDrain = {
    ...(isStuck ? await saidStuck(parts, active, notices, observed) : active),
    tried: noted.tried,
    returns: noted.returns,
    warned: [...active.warned, ...warned],
    refusals: left.failures,
    heldEvictions: held,
    reported,
  };
  const until = safely(observed, [pass.nextLook, left.retryTime, goneBy, due].reduce(earliest, undefined));
  const saved = await saveUntil(observed, { ...observed.record, active: next }, until);
  if (!saved.written) return saved;
  if (left.isAtOnce) return again('a pod changed');
  // A pod that was warned of may be due already.
  return warned.length > 0 ? ONWARD : saved;
}
