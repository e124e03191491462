/** A scenario as a file (docs/scenarios.md): what `parseScenarios` reads back as the same run. Expectations are not printed. */
import { stringify } from 'yaml';
import { formatDuration } from '../../shared/domain/go-duration.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { durationBetween, toIsoText } from '../../shared/domain/time.ts';
import { ACTORS, type Scenario, type StepAction, type TargetRef } from './scenario.ts';

export type PrintableScenario = Omit<Scenario, 'expectations' | 'file'>;

/** @param comment stands above the document, a line each */
export function printScenario(scenario: PrintableScenario, comment: readonly string[] = []): string {
  const head = comment.map(line => `${line === '' ? '#' : `# ${line}`}\n`).join('');
  return head + stringify(toDocument(scenario), { lineWidth: 0, aliasDuplicateObjects: false });
}

function toDocument(scenario: PrintableScenario): JsonObject {
  const { name, annotations, start, end, callDuration, config, templates, actors, objects, steps } = scenario;
  return {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'Scenario',
    metadata: { name, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      start: toIsoText(start),
      duration: formatDuration(durationBetween(start, end)),
      ...(callDuration !== undefined && { callDuration: formatDuration(callDuration) }),
      ...(config !== undefined && { config }),
      ...(Object.keys(templates).length > 0 && { templates }),
      ...((actors.size !== ACTORS.length || !ACTORS.every(actor => actors.has(actor))) && { actors: [...actors] }),
      objects: objects.map(({ manifest }) => manifest.body),
      steps: steps.map(({ time, action }) => ({
        at: formatDuration(durationBetween(start, time)),
        ...toStep(action),
      })),
    },
  };
}

function toStep(action: StepAction): JsonObject {
  switch (action.kind) {
    case 'apply':
      return { apply: action.manifest.body };
    case 'patch':
      return { patch: { ...toTarget(action.target), merge: action.merge } };
    case 'condition': {
      const { type, status, reason, message } = action.condition;
      const words = { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
      return { condition: { node: action.node, type, status, ...words } };
    }
    case 'launch':
      return { launch: { nodePool: action.nodePool, result: action.result } };
    case 'delete': {
      const { target, gracePeriodSeconds } = action;
      return { delete: { ...toTarget(target), ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) } };
    }
    case 'busEvent':
      return { busEvent: { source: action.source, 'detail-type': action.detailType, detail: action.detail } };
    case 'cloud': {
      const { providerID, fail, state, checks } = action;
      const stated = Object.entries({ fail, state, checks }).filter(([, value]) => value !== undefined);
      return { cloud: { providerID, ...(Object.fromEntries(stated) as JsonObject) } };
    }
    case 'cleanup': {
      const { rule, result, message } = action;
      return { cleanup: { rule, result, ...(message !== undefined && { message }) } };
    }
    case 'hook': {
      const { name, result, message } = action;
      return { hook: { name, result, ...(message !== undefined && { message }) } };
    }
    case 'refuse': {
      const { as, ...requests } = action.refusal;
      const stated = Object.entries(requests).filter(([, value]) => value !== undefined);
      return {
        refuse: {
          ...(Object.fromEntries(stated) as JsonObject),
          ...as,
          ...(action.for !== undefined && { for: formatDuration(action.for) }),
        },
      };
    }
    case 'outage':
      return { outage: { of: action.of, for: formatDuration(action.for) } };
    case 'restart':
      return { restart: action.part };
    case 'delay': {
      const { function: of, for: duration, by } = action;
      return {
        delay: { ...(of !== undefined && { function: of }), for: formatDuration(duration), by: formatDuration(by) },
      };
    }
    case 'redrive':
      return { redrive: action.function };
    case 'rollback':
      return { rollback: { for: formatDuration(action.for) } };
    case 'restore':
      return { restore: { of: action.of, ...(action.age !== undefined && { age: formatDuration(action.age) }) } };
  }
}

function toTarget({ resource, namespace, name }: TargetRef): JsonObject {
  return { resource, ...(namespace !== undefined && { namespace }), name };
}
