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
import * as gotemplate from '../../packages/gotemplate/src/index.ts';
import { SAMPLE_EVENT, SAMPLE_PODS, type PodsToDrain } from './drain-sample.ts';
import { TEMPLATE_LIMITS } from './object-template.ts';
import { readRenderedYaml } from './rendered-yaml.ts';

/** What a template is given. */
export interface DrainTemplateData {
  readonly event: HealthEvent;
  readonly podsToDrain: PodsToDrain;
}

/** The name that NVSentinel's error texts show. */
const TEMPLATE_NAME = 'drain-template';

/**
 * What is wrong with a template, whatever event comes: it does not parse, or refers to a field, a template or a number of arguments that
 * is not there. Each fault once, by line.
 */
export function checkDrainTemplate(text: string, file: string): readonly ConfigFault[] {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return [{ file, key: '', ...parsed.fault }];
  const { template } = parsed;
  const { TEMPLATE_DATA, unknownFields } = gotemplate;
  const unknown = unknownFields(template, TEMPLATE_DATA).map(({ line, column, message }): TemplateFault => ({
    line,
    column: column + 1,
    message,
  }));
  const failed = [FULL_DATA, EMPTY_DATA].flatMap(data => {
    const run = execute(template, data, TEMPLATE_DATA);
    // What else can go wrong depends on the event, and is its drain's to say.
    return run.ok || !WHATEVER_THE_EVENT.test(run.fault.message) ? [] : [run.fault];
  });
  const places = new Map([...unknown, ...failed].map(fault => [`${fault.line}:${fault.column}`, fault]));
  const faults = [...places.values()].toSorted((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0));
  return faults.map(fault => ({ file, key: '', ...fault }));
}

const WHATEVER_THE_EVENT =
  /can't evaluate field|wrong number of args for|has arguments but cannot be invoked|is not a method but has arguments|invalid function signature|return values; should be|template "[^"]*" not defined/;

export type RenderedResource =
  | { readonly ok: true; readonly manifest: KubernetesManifest }
  /** `reason`: one CamelCase word. `line` (from 1) in the template, for what the template itself does. */
  | { readonly ok: false; readonly reason: string; readonly message: string; readonly line?: number };

/** Renders the custom resource called `name`. Never throws. */
export function renderDrainResource(
  settings: CustomDrainSettings,
  template: string,
  data: DrainTemplateData,
  name: string,
): RenderedResource {
  const rendered = renderObject(template, templateData(data), gotemplate.TEMPLATE_DATA);
  return rendered.ok ? { ok: true, manifest: complete(settings, rendered.value, name) } : rendered;
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
  return renderObject(template, { ...templateData(data), ...texts }, type);
}

/** What a template renders to, before anything is made of it. */
export type RenderedObject =
  { readonly ok: true; readonly value: JsonObject } | Extract<RenderedResource, { ok: false }>;

/** Renders one object of YAML; `type` says which fields the data has. Never throws. */
function renderObject(template: string, data: JsonObject, type: gotemplate.GoType): RenderedObject {
  const parsed = parseTemplate(template);
  if (!parsed.ok) return { ok: false, reason: 'InvalidTemplate', ...parsed.fault };
  const run = execute(parsed.template, data, type);
  if (!run.ok) return { ok: false, reason: 'TemplateNotExecuted', ...run.fault };
  const document = readRenderedYaml(run.text);
  return document.ok ? document : { ok: false, reason: 'RenderedYamlInvalid', message: document.message };
}

interface TemplateFault {
  readonly line: number;
  readonly column?: number;
  readonly message: string;
}

function parseTemplate(
  text: string,
):
  | { readonly ok: true; readonly template: gotemplate.Template }
  | { readonly ok: false; readonly fault: TemplateFault } {
  try {
    return { ok: true, template: gotemplate.parse(TEMPLATE_NAME, text, { limits: TEMPLATE_LIMITS }) };
  } catch (error) {
    return { ok: false, fault: toFault(error) };
  }
}

function execute(
  template: gotemplate.Template,
  data: JsonObject,
  type: gotemplate.GoType,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: TemplateFault } {
  try {
    return { ok: true, text: template.execute(gotemplate.toGo(data, type)) };
  } catch (error) {
    return { ok: false, fault: toFault(error) };
  }
}

function toFault(error: unknown): TemplateFault {
  const { ExecError, TemplateError } = gotemplate;
  if (!(error instanceof TemplateError)) throw error;
  const column = error instanceof ExecError && error.column !== undefined ? { column: error.column + 1 } : {};
  return { line: error.line ?? 1, ...column, message: error.message };
}

/** The data under Go's names. */
function templateData({ event, podsToDrain }: DrainTemplateData): JsonObject {
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
  const { metadata: given, apiVersion: _, kind: __, ...rest } = rendered;
  const metadata = isJsonObject(given) ? given : {};
  return {
    apiVersion: `${settings.apiGroup}/${settings.version}`,
    kind: settings.kind,
    metadata: { ...metadata, name, namespace: settings.namespace },
    ...rest,
  };
}
