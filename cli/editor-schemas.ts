/** JSON Schemas for editors, made of the schemas that Curfew reads files with: configuration, scenarios, policies, FinalizerRules. */
import * as full from 'zod';
import { configSchema } from '../shared/contract/config-schema.ts';
import { modeText } from '../shared/contract/drain-fields.ts';
import { finalizerRuleSchema } from '../shared/contract/finalizer-rule-schema.ts';
import { DRAIN_MODES } from '../shared/domain/drain-settings.ts';
import { FUNCTION_NAMES } from '../shared/contract/names.ts';
import { AUDIT_VERSION } from '../shared/ports/audit-log.ts';
import { labelSelectorSchema, MODES } from '../shared/contract/policy-schema.ts';
import { protectionSchema } from '../shared/contract/protection-schema.ts';
import { drainLimitsSchema } from '../shared/contract/drain-limits-schema.ts';
import { repairLimitsSchema } from '../shared/contract/repair-limits-schema.ts';
import { repairSchema } from '../shared/contract/repair-schema.ts';
import { terminationSchema } from '../shared/contract/termination-schema.ts';
import * as z from '../shared/contract/zod.ts';
import { objectsAtStart, scenarioSchema } from '../simulator/scenario/schema.ts';

/** An object of a kind of ours; what the API server adds to it is as good as anything. */
const objectOf = (kind: string, spec: z.ZodMiniType) =>
  z.looseObject({
    apiVersion: z.literal('curfew.dev/v1alpha1'),
    kind: z.literal(kind),
    metadata: z.looseObject({ name: z.string() }),
    spec,
  });

const policySpec = z.strictObject({
  nodePoolSelector: z.optional(labelSelectorSchema),
  mode: z.optional(z.enum(MODES)),
  repair: z.optional(repairSchema()),
  repairLimits: z.optional(repairLimitsSchema()),
  drain: z.optional(drainLimitsSchema()),
  protection: z.optional(protectionSchema()),
  termination: z.optional(terminationSchema()),
});

/** A line of the log; a reader takes those that it does not know. */
const auditLine = z.looseObject({
  level: z.literal('INFO'),
  timestamp: z.iso.datetime(),
  service: z.string(),
  audit: z.literal(true),
  auditVersion: z.literal(AUDIT_VERSION),
  version: z.string(),
  function: z.enum(FUNCTION_NAMES),
  decision: z.string(),
  reason: z.string(),
  message: z.string(),
  kind: z.string(),
  namespace: z.optional(z.string()),
  name: z.string(),
  uid: z.optional(z.string()),
  details: z.optional(z.record(z.string(), z.unknown())),
  function_request_id: z.optional(z.string()),
  messageId: z.optional(z.string()),
  receiveCount: z.optional(z.string()),
});

const SCHEMAS: Readonly<Record<string, z.core.$ZodType>> = {
  config: configSchema(),
  scenario: scenarioSchema,
  nodelifecyclepolicy: objectOf('NodeLifecyclePolicy', policySpec),
  finalizerrule: objectOf('FinalizerRule', finalizerRuleSchema()),
  audit: auditLine,
};

/** A List stands for its items (`simulator/scenario/lists.ts`). */
function takeLists(objects: z.core.JSONSchema.BaseSchema): void {
  const { items } = objects;
  if (typeof items !== 'object' || Array.isArray(items)) return;
  const properties = { apiVersion: { const: 'v1' }, kind: { const: 'List' }, items: { type: 'array' as const, items } };
  objects.items = { anyOf: [items, { type: 'object', properties, required: Object.keys(properties) }] };
}

/**
 * The JSON Schemas (2020-12) of the files that users write. Rules between fields, and texts that have to parse, are
 * left to `curfew validate`.
 */
export function schemaFiles(): readonly { readonly path: string; readonly text: string }[] {
  return Object.entries(SCHEMAS).map(([name, schema]) => {
    const made = full.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override({ zodSchema, jsonSchema }) {
        // A default is what the text stands for, in other units than a file has.
        delete jsonSchema.default;
        if (zodSchema === modeText) jsonSchema.enum = [...DRAIN_MODES];
        if (zodSchema === objectsAtStart) takeLists(jsonSchema);
      },
    });
    return { path: `deploy/schemas/${name}.schema.json`, text: `${JSON.stringify(made, undefined, 2)}\n` };
  });
}
