/** Drains of a Node that is gone: there is nothing left to drain, and all who asked learn of it. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { createTries, isRefusal, warn } from '../../shared/lifecycle/refusals.ts';
import type { About, Reporter } from '../../shared/lifecycle/reporter.ts';
import { toFinished } from './admission.ts';
import { tellAnswers } from './answers.ts';
import { deleteResource, resourceOf } from './custom-resource.ts';
import type { DrainOutcome, DrainRequest } from './model.ts';
import type { DrainDeps, Seen, Target } from './observe.ts';
import { FULL } from './scope.ts';

type Gone = Extract<Seen, { kind: 'gone' }>;

interface Parts {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
}

const goneOutcome = (name: string): DrainOutcome => ({
  status: 'Cancelled',
  reason: 'NodeGone',
  message: `there is no node ${name} any more`,
  left: [],
});

const nodeOf = ({ name, uid }: Target) => ({ name, ...(uid !== undefined && { uid }) });

const aboutNode = (target: Target): About => ({ apiVersion: 'v1', kind: 'Node', metadata: nodeOf(target) });

/** Of a Node that no drain is known of. */
export async function answerGone({ deps, reporter }: Parts, target: Target, request: DrainRequest): Promise<void> {
  const ended = toFinished(request, goneOutcome(target.name), { now: deps.clock.now(), scope: FULL, drained: 0 });
  await tellAnswers(deps, nodeOf(target), [ended]);
  await reporter.report({
    about: aboutNode(target),
    decision: 'answer',
    reason: ended.reason,
    message: `Cancelled: ${ended.message}`,
    details: { id: ended.id, status: ended.status },
  });
}

/** Closes its drains; one whose custom resource must not be deleted is kept until that may go. */
export async function closeGone({ deps, reporter }: Parts, target: Target, gone: Gone): Promise<void> {
  const { store, record } = gone;
  const { active, requests } = record;
  if (!(await isResourceGone({ deps, reporter }, gone))) return;
  const asked = [...(active?.requests ?? []), ...requests];
  const { name } = target;
  const standing = { now: deps.clock.now(), scope: active?.scope ?? FULL, drained: active?.drained ?? 0 };
  const ended = asked.map(request => toFinished(request, goneOutcome(name), standing));
  await tellAnswers(deps, nodeOf(target), ended);
  await store.closeGone();
  if (asked.length === 0) return;
  await reporter.report({
    about: aboutNode(target),
    decision: 'close',
    reason: 'SubjectGone',
    message: `node ${name} is gone, its drain is closed`,
    details: { ids: asked.map(({ id }) => id) },
  });
}

/** Where its deletion is refused, that is said on the custom resource: there is no Node to say it on. */
async function isResourceGone({ deps, reporter }: Parts, { store, record, subject }: Gone): Promise<boolean> {
  const { active, refusals: stored } = record;
  const made = await resourceOf(deps, active);
  if (made === undefined) return true;
  const say = warn(reporter, made.about, EVENT_REASONS.changeRefused);
  const tries = createTries(deps.clock);
  const change = { key: 'deleteResource', stored, restsOn: [], say };
  const deletion = await tries.make(change, () => deleteResource(deps, active));
  if (!isRefusal(deletion)) return true;
  await store.save({ subject, value: { ...record, refusals: tries.after(stored) ?? {} }, wakeTime: deletion.until });
  if (deletion.goesBack !== undefined) throw deletion.goesBack;
  return false;
}
