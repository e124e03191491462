/** Custom resources of drains that are over, or of which only the Node knows. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { createBackoff, isRefused, reportWarning, type RefusedChange } from '../../shared/lifecycle/refusals.ts';
import { PROGRESSED, type Turn } from '../../shared/lifecycle/settle.ts';
import type { GoneSubject } from '../../shared/lifecycle/subject.ts';
import type { DrainContext } from './context.ts';
import { deleteResources, deleteUnrecorded, leftDrains, resourceOf, type DrainResource } from './custom-resource.ts';
import type { ObservedNode } from './observe.ts';
import { OWNER, type DrainRecord } from './record.ts';
import type { ReportContext } from './report.ts';
import { saveForSweep } from './save.ts';
import { endUnchangedTurn, tryChange } from './try-change.ts';

/** Deletes custom resources of ended drains. */
export async function deleteLeft(context: DrainContext, observed: ObservedNode): Promise<Turn> {
  const { leftResources: _, ...record } = observed.record;
  const deleted = await tryChange(context, observed, 'deleteResource', () =>
    deleteResources(context.deps, leftDrains(observed.record)),
  );
  if (isRefused(deleted)) return endUnchangedTurn(observed, deleted);
  const saved = await saveForSweep(observed, record);
  return saved.written ? PROGRESSED : saved;
}

/** Deletes the custom resource of a drain that is not under way. @returns what became of its custom resource, or a refusal that may pass within seconds */
export async function endResource(
  context: DrainContext,
  observed: ObservedNode,
  id: string,
): Promise<string | RefusedChange> {
  const { deps } = context;
  const settings = (await loadConfig(OWNER, deps)).drain?.customDrain;
  const deleted = await tryChange(context, observed, 'deleteResource', () =>
    deleteUnrecorded(deps, settings, observed.node.name, id),
  );
  if (!isRefused(deleted)) return deleted.deleted === undefined ? '' : `${deleted.deleted} is deleted`;
  if (deleted.redeliveryError !== undefined) return deleted;
  return `its custom resource is left, for its deletion is refused: ${deleted.message}`;
}

/** Whether the custom resource is gone. If its deletion is refused, an Event on the resource says so, because its Node is gone. */
export async function isResourceGone(
  { deps, reporter }: ReportContext,
  { timedRecord, value, subject }: GoneSubject<DrainRecord>,
): Promise<boolean> {
  const { active, refusals: stored } = value;
  const drains = [...(active === undefined ? [] : [active]), ...leftDrains(value)];
  let made: DrainResource | undefined;
  for (const drain of drains) made ??= await resourceOf(deps, drain);
  if (made === undefined) return true;
  const report = reportWarning(reporter, made.about, EVENT_REASONS.changeRefused);
  const backoff = createBackoff(deps.clock);
  const change = { key: 'deleteResource', stored, restsOn: [], report };
  const deletion = await backoff.try(change, () => deleteResources(deps, drains));
  if (!isRefused(deletion)) return true;
  const { until: wakeTime, redeliveryError } = deletion;
  await timedRecord.save({
    subject,
    value: { ...value, refusals: backoff.refusalsAfter(stored) ?? {} },
    wakeTime,
    redeliveryError,
  });
  return false;
}
