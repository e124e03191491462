/** A run at one instant as a scenario that begins there. */
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds, type EpochMs } from '../../shared/domain/time.ts';
import type { NewRecord, StoredRecord } from '../../shared/ports/record-store.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import type { SimulatedParts } from '../../simulator/parts.ts';
import type { PrintableScenario } from '../../simulator/scenario/print.ts';
import type { Manifest, PlacedManifest, Scenario, Step } from '../../simulator/scenario/scenario.ts';
import type { Stored } from './stored-items.ts';

/** Of the parts of a cluster, what a scenario does not begin with. */
const LEFT_OUT = ['events', 'leases', 'customresourcedefinitions'];
/** An instance that ends takes this long in the simulated cloud. */
const ENDS_AFTER = seconds(5);

/** The instant at which `items` are all that the store holds. */
export function snapshotOf(
  scenario: Scenario,
  { core, cloud }: Pick<SimulatedParts, 'core' | 'cloud'>,
  { now, items }: { readonly now: EpochMs; readonly items: readonly StoredRecord[] },
): { readonly scenario: PrintableScenario; readonly stored: Pick<Stored, 'items' | 'instances'> } {
  const place = { file: scenario.file, line: 0, path: '' };
  const live = core
    .resources()
    .filter(({ resource }) => !LEFT_OUT.includes(resource))
    .flatMap(type => core.list(type).items);
  // A custom resource is listed in each of its versions.
  const seen = new Set<string>();
  const once = live.filter(({ metadata }) => !seen.has(metadata.uid) && seen.add(metadata.uid));
  const named = new Set(scenario.objects.map(({ manifest }) => `${manifest.kind} ${manifest.name}`));
  const objects: PlacedManifest[] = [
    ...scenario.objects.filter(({ manifest }) => manifest.kind === 'CustomResourceDefinition'),
    ...once
      .filter(({ kind, metadata }) => kind !== 'Namespace' || named.has(`Namespace ${metadata.name}`))
      .map(object => ({ manifest: toManifest(object), place })),
  ];
  const instances = Object.fromEntries(cloud.states().filter(([, state]) => state !== 'running'));
  const ending = Object.entries(instances).filter(([, state]) => state === 'shutting-down');
  const steps: Step[] = [
    ...standing(scenario.steps.filter(({ time }) => time <= now)).map(step => ({ ...step, time: now })),
    ...ending.map(([providerID]) => ({
      time: addDuration(now, ENDS_AFTER),
      action: { kind: 'cloud', providerID, state: 'terminated' } as const,
      place,
    })),
    ...scenario.steps.filter(({ time }) => time > now),
  ].toSorted((a, b) => a.time - b.time);
  const { name, annotations, actors, doubts } = scenario;
  return {
    scenario: {
      name,
      annotations,
      actors,
      doubts,
      start: now,
      end: scenario.end,
      config: undefined,
      templates: {},
      objects,
      steps,
    },
    stored: { items: items.map(withoutVersion), instances },
  };
}

function withoutVersion({ version, ...item }: StoredRecord): NewRecord {
  invariant(version > 0, 'it is stored');
  return item;
}

function toManifest(object: KubernetesObject): Manifest {
  const { resourceVersion: _, managedFields: __, ...metadata }: Record<string, unknown> = { ...object.metadata };
  const { apiVersion, kind } = object;
  const { namespace, name } = object.metadata;
  return { apiVersion, kind, namespace, name, body: { ...object, metadata } as unknown as JsonObject };
}

/** How hooks, clean-ups and calls of the cloud answer by now: the last step of each. */
function standing(steps: readonly Step[]): readonly Step[] {
  const last = new Map<string, Step>();
  for (const step of steps) {
    const { action } = step;
    if (action.kind === 'hook') last.set(`hook ${action.name}`, step);
    if (action.kind === 'cleanup') last.set(`cleanup ${action.rule}`, step);
    if (action.kind === 'cloud' && action.fail !== undefined) {
      const { state: __, ...failure } = action;
      last.set(`cloud ${action.providerID}`, { ...step, action: failure });
    }
  }
  return [...last.values()];
}

/** Whether an outage or what it left is under way: a scenario cannot begin in the middle of one. */
export const isDisturbed = ({ steps }: Pick<Scenario, 'steps'>, now: EpochMs): boolean =>
  steps.some(({ time, action }) => action.kind === 'outage' && time <= now && now <= addDuration(time, action.for));
