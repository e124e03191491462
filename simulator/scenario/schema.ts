/** The scenario format (docs/scenarios.md) as a schema. Strict: a field that is not known is an error, so that a typo never passes. */
import * as z from 'zod';
import { mustBeText } from './condition-texts.ts';
import { expectation } from './expectation-schema.ts';
import { STATED_LABELS } from './nodes.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import {
  ACTING_KARPENTERS,
  ACTORS,
  CHECK_STATUSES,
  CLEANUP_RESULTS,
  CLOUD_FAILURES,
  CONDITION_STATUSES,
  HOOK_RESULTS,
  LAUNCH_RESULTS,
  OUTAGE_PARTS,
  REFUSABLE_VERBS,
  RESTORABLE,
  type Manifest,
} from './scenario.ts';
import {
  duration,
  exactlyOneOf,
  instant,
  jsonObject,
  jsonValue,
  moment,
  optionals,
  positiveDuration,
  text,
  texts,
  timestamp,
} from './values.ts';

/** What every manifest has; the rest is the kind's. In what is applied, null deletes a field. */
const manifestWith = (entries: z.ZodType<Readonly<Record<string, string | null>>>) =>
  z
    .object({
      apiVersion: text,
      kind: text,
      metadata: z
        .object({
          name: text,
          namespace: text.exactOptional(),
          uid: text.exactOptional(),
          creationTimestamp: timestamp.exactOptional(),
          deletionTimestamp: timestamp.exactOptional(),
          labels: entries.exactOptional(),
          annotations: entries.exactOptional(),
          finalizers: z.array(text).exactOptional(),
        })
        .catchall(jsonValue),
    })
    .catchall(jsonValue)
    .transform((body): Manifest => {
      const { apiVersion, kind, metadata } = body;
      const { namespace, name } = metadata;
      return { apiVersion, kind, namespace, name, body };
    });

export const manifest = manifestWith(texts);
/** Once their Lists are flattened. */
export const objectsAtStart = z.array(manifest);
const appliedManifest = manifestWith(z.record(z.string(), z.string().nullable()));

/** `status: True` without quotes is no text in YAML. */
const describeStatus = ({ input }: { readonly input?: unknown }): string | undefined =>
  typeof input === 'boolean' ? mustBeText(input) : undefined;

const target = { resource: text, namespace: text.optional(), name: text };

/** An answer that is no success: redirects, refusals, failures. */
const REFUSED_STATUS = 'must be an HTTP status from 300 to 599';
const refusedStatus = z.int().min(300, REFUSED_STATUS).max(599, REFUSED_STATUS);

const refuse = z
  .strictObject({
    verb: z.enum(REFUSABLE_VERBS).optional(),
    resource: text.optional(),
    namespace: text.optional(),
    name: text.optional(),
    by: z.enum([...FUNCTION_NAMES, 'forwarder']).optional(),
    status: refusedStatus.optional(),
    notServed: z.literal(true).optional(),
    for: positiveDuration.optional(),
  })
  .refine(({ verb, resource }) => verb !== undefined || resource !== undefined, 'must have `verb` or `resource`')
  .superRefine(exactlyOneOf(['status', 'notServed']));

const checks = { InstanceStatus: z.enum(CHECK_STATUSES), ApplicationStatus: z.enum(CHECK_STATUSES) };

export const STEP_ACTIONS = {
  apply: appliedManifest,
  patch: z.strictObject({ ...target, merge: jsonObject }),
  condition: z.strictObject({
    node: text,
    type: text,
    status: z.enum(CONDITION_STATUSES, { error: describeStatus }),
    reason: z.string().optional(),
    message: z.string().optional(),
  }),
  delete: z.strictObject({ ...target, gracePeriodSeconds: z.int().min(0).optional() }),
  busEvent: z.strictObject({ source: text, 'detail-type': text, detail: jsonObject }),
  cloud: z
    .strictObject({
      providerID: text,
      fail: z.enum(CLOUD_FAILURES).optional(),
      state: z.enum(['running', 'stopped', 'terminated']).optional(),
      checks: z.strictObject(optionals(checks)).optional(),
    })
    .refine(
      ({ fail, state, checks: stated }) => fail !== undefined || state !== undefined || stated !== undefined,
      'must have `fail`, `state` or `checks`',
    ),
  cleanup: z.strictObject({ rule: text, result: z.enum(CLEANUP_RESULTS), message: z.string().optional() }),
  hook: z.strictObject({ name: text, result: z.enum(HOOK_RESULTS), message: z.string().optional() }),
  launch: z.strictObject({ nodePool: text, result: z.enum(LAUNCH_RESULTS) }),
  refuse,
  outage: z.strictObject({ of: z.enum(OUTAGE_PARTS), for: duration }),
  restart: z.literal('forwarder'),
  delay: z.strictObject({ function: z.enum(FUNCTION_NAMES).optional(), for: positiveDuration, by: positiveDuration }),
  redrive: z.enum(FUNCTION_NAMES),
  rollback: z.strictObject({ for: positiveDuration }),
  restore: z
    .strictObject({ of: z.enum(RESTORABLE), age: positiveDuration.optional() })
    .refine(({ of, age }) => of !== 'cluster' || age !== undefined, 'must have `age`: that of the snapshot of etcd'),
};

const step = z
  .strictObject({ at: moment, ...optionals(STEP_ACTIONS) })
  .superRefine(exactlyOneOf(Object.keys(STEP_ACTIONS)));

const MAX_NODES = 10_000;
const COUNT = `must be a whole number from 1 to ${MAX_NODES}`;
/** At most 40 characters, so that a number has room in the names and the label. */
const poolName = z
  .string()
  .regex(
    /^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/,
    'must be the name of a NodePool: lower case letters, digits and -, at most 40',
  );
const labelValue = z
  .string()
  .regex(
    /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/,
    'must be the value of a label: letters, digits, -, _ and ., at most 63',
  );

const nodes = z.strictObject({
  pool: poolName,
  count: z.int(COUNT).min(1, COUNT).max(MAX_NODES, COUNT).default(1),
  zones: z.array(labelValue.min(1)).min(1, 'must name a zone, or be left out').optional(),
  labels: z
    .record(z.string(), labelValue)
    .superRefine((labels, context) => {
      for (const key of Object.keys(labels)) {
        const field = STATED_LABELS[key];
        if (field !== undefined)
          context.addIssue({ code: 'custom', path: [key], message: `is stated by \`${field}\`` });
      }
    })
    .optional(),
});

const spec = {
  start: instant,
  duration,
  callDuration: positiveDuration.optional(),
  config: z.string().optional(),
  templates: texts.optional(),
  actors: z.array(z.enum([...ACTORS, ...ACTING_KARPENTERS])).optional(),
  files: z.array(text).optional(),
  nodes: z.array(nodes).optional(),
  objects: objectsAtStart.optional(),
  steps: z.array(step).optional(),
  expect: z.array(expectation).optional(),
};

export const scenarioSchema = z.strictObject({
  apiVersion: z.literal('curfew.dev/v1alpha1'),
  kind: z.literal('Scenario'),
  metadata: z.strictObject({
    name: text,
    labels: texts.optional(),
    annotations: z.record(z.string(), z.union([z.string(), z.boolean(), z.number()]).transform(String)).optional(),
  }),
  spec: z.strictObject(spec),
});
export type ScenarioDocument = z.output<typeof scenarioSchema>;
