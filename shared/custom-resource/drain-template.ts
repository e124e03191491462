/**
 * The user's drain template: Go's text/template over `.HealthEvent`, `.PodsToDrain` and `.EventID`, as NVSentinel gives them,
 * and the custom resource that it renders to. Apart from the configuration file, only what is named here is
 * the template's; apiVersion, kind, name and namespace are the configuration's.
 */

import type { ConfigFault } from '../contract/config-schema.ts';
import type { CustomDrainSettings } from '../domain/drain-settings.ts';
import type { BehaviourOverrides, HealthEvent } from '../domain/health-event.ts';
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject, JsonValue, KubernetesManifest } from '../domain/kubernetes-object.ts';
import type { PodView } from '../domain/pod.ts';
import * as gotemplate from '../../packages/gotemplate/src/index.ts';
import { SAMPLE_EVENT, SAMPLE_PODS, type PodsToDrain } from './drain-sample.ts';
import {
  executeTemplate,
  parseTemplate,
  renderObject,
  type ObjectTemplate,
  type RenderedObject,
  type TemplateFault,
} from './render.ts';

/** The data of a template. */
export interface DrainTemplateData {
  readonly event: HealthEvent;
  readonly podsToDrain: PodsToDrain;
}

/** Names of pods as a template is given them. */
export function podsToDrain(pods: readonly Pick<PodView, 'namespace' | 'name'>[]): PodsToDrain {
  const namespaces = Map.groupBy(pods, ({ namespace }) => namespace);
  return Object.fromEntries(
    [...namespaces].map(([namespace, members]) => [namespace, members.map(({ name }) => name).toSorted()]),
  );
}

/** The name that NVSentinel's error texts show. */
const TEMPLATE_NAME = 'drain-template';
/** The template as it is rendered. */
export const drainTemplate = (text: string): ObjectTemplate => ({
  name: TEMPLATE_NAME,
  text,
  type: gotemplate.TEMPLATE_DATA,
});

/**
 * Finds what is wrong with a template, whatever event comes: it does not parse, or refers to a field, a template or a
 * number of arguments that is not there. Each fault is listed once, by line.
 */
export function checkDrainTemplate(text: string, file: string): readonly ConfigFault[] {
  const parsed = parseTemplate(drainTemplate(text));
  if (!parsed.ok) return [{ file, key: '', ...parsed.fault }];
  const { template } = parsed;
  const { TEMPLATE_DATA, unknownFields } = gotemplate;
  const unknown = unknownFields(template, TEMPLATE_DATA).map(({ line, column, message }): TemplateFault => ({
    line,
    column: column + 1,
    message,
  }));
  const failed = [FULL_DATA, EMPTY_DATA].flatMap(data => {
    const run = executeTemplate(template, drainTemplate(text), data);
    // Other faults depend on the event: the drain of that event reports them.
    return run.ok || !WHATEVER_THE_EVENT.test(run.fault.message) ? [] : [run.fault];
  });
  const places = new Map([...unknown, ...failed].map(fault => [`${fault.line}:${fault.column}`, fault]));
  const faults = [...places.values()].toSorted((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0));
  return faults.map(fault => ({ file, key: '', ...fault }));
}

const WHATEVER_THE_EVENT =
  /can't evaluate field|wrong number of args for|has arguments but cannot be invoked|is not a method but has arguments|invalid function signature|return values; should be|template "[^"]*" not defined/;

export type RenderedResource =
  { readonly ok: true; readonly manifest: KubernetesManifest } | Extract<RenderedObject, { ok: false }>;

/** Renders the custom resource called `name`. Never throws. */
export function renderDrainResource(
  settings: CustomDrainSettings,
  template: string,
  data: DrainTemplateData,
  name: string,
): RenderedResource {
  const rendered = renderObject({ ...drainTemplate(template), type: typeOf(data.event) }, templateData(data));
  return rendered.ok ? { ok: true, manifest: complete(settings, rendered.value, name) } : rendered;
}

/** An action whose name has no number here prints by that name. */
function typeOf({ recommendedAction, recommendedActionName: name }: HealthEvent): typeof gotemplate.TEMPLATE_DATA {
  const { TEMPLATE_DATA, templateDataWith } = gotemplate;
  return name === undefined ? TEMPLATE_DATA : templateDataWith({ [recommendedAction]: name });
}

/**
 * Renders the object of a repair: its template has the data of a drain, so that one template can serve both, and these further texts.
 * Never throws.
 */
export function renderRepairObject(
  template: string,
  data: DrainTemplateData,
  texts: Readonly<Record<string, string>>,
): RenderedObject {
  const { HEALTH_EVENT, mapOf, pointerTo, sliceOf, STRING, structType } = gotemplate;
  const type = structType('repair.TemplateData', {
    HealthEvent: pointerTo(HEALTH_EVENT),
    EventID: STRING,
    PodsToDrain: mapOf(sliceOf(STRING)),
    ...Object.fromEntries(Object.keys(texts).map(name => [name, STRING])),
  });
  return renderObject({ name: TEMPLATE_NAME, text: template, type }, { ...templateData(data), ...texts });
}

/** The data under Go's names. */
export function templateData({ event, podsToDrain }: DrainTemplateData): JsonObject {
  const overrides = (value: BehaviourOverrides | undefined): JsonValue =>
    value === undefined ? null : { Force: value.force, Skip: value.skip };
  return {
    EventID: event.id,
    PodsToDrain: podsToDrain,
    HealthEvent: {
      Version: event.version,
      Agent: event.agent,
      ComponentClass: event.componentClass,
      CheckName: event.checkName,
      IsFatal: event.isFatal,
      IsHealthy: event.isHealthy,
      Message: event.message,
      RecommendedAction: event.recommendedAction,
      ErrorCode: event.errorCode,
      EntitiesImpacted: event.entitiesImpacted.map(({ entityType, entityValue }) => ({
        EntityType: entityType,
        EntityValue: entityValue,
      })),
      Metadata: event.metadata,
      GeneratedTimestamp:
        event.generatedTimestamp === undefined
          ? null
          : { Seconds: event.generatedTimestamp.seconds, Nanos: event.generatedTimestamp.nanos },
      NodeName: event.nodeName,
      QuarantineOverrides: overrides(event.quarantineOverrides),
      DrainOverrides: overrides(event.drainOverrides),
      ProcessingStrategy: event.processingStrategy,
      Id: event.id,
      CustomRecommendedAction: event.customRecommendedAction,
    },
  };
}

const FULL_DATA = templateData({ event: SAMPLE_EVENT, podsToDrain: SAMPLE_PODS });
const EMPTY_DATA: JsonObject = { HealthEvent: {} };

function complete(settings: CustomDrainSettings, rendered: JsonObject, name: string): KubernetesManifest {
  const { metadata: given, apiVersion: _, kind: __, ...fields } = rendered;
  const metadata = isJsonObject(given) ? given : {};
  return {
    apiVersion: `${settings.apiGroup}/${settings.version}`,
    kind: settings.kind,
    metadata: { ...metadata, name, namespace: settings.namespace },
    ...fields,
  };
}
