/** The scenario format of DESIGN §5 as a schema. Strict: a field that is not known is an error, so that a typo never passes. */
import * as z from 'zod';
import { nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { parseTimestamp, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import { ACTORS, CLEANUP_RESULTS, CLOUD_FAILURES, HOOK_RESULTS, OUTAGE_PARTS, type Manifest } from './scenario.ts';

/** An instant, or a time since the start. */
export type Moment =
  | { readonly kind: 'instant'; readonly instant: EpochMs }
  | { readonly kind: 'sinceStart'; readonly duration: DurationMs };

const text = z.string().min(1);
const jsonValue: z.ZodType<JsonValue> = z.json();
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), jsonValue);

/** A bare 0 is a number of YAML. */
const textOr = (wanted: string) =>
  z.union([z.string(), z.number()], {
    error: ({ input }) => (input === undefined ? `is missing; it must be ${wanted}` : `must be ${wanted}`),
  });

const duration = textOr('a Go duration').transform((value, context): DurationMs => {
  const parsed = parseGoDuration(String(value));
  if (parsed.ok && parsed.nanoseconds >= 0n) return nanosecondsToDuration(parsed.nanoseconds);
  context.addIssue({ code: 'custom', message: parsed.ok ? 'must not be negative' : parsed.error });
  return z.NEVER;
});

const instant = z.string().transform((value, context): EpochMs => {
  const parsed = parseTimestamp(value);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: 'custom', message: `must be an RFC 3339 instant, got ${JSON.stringify(value)}` });
  return z.NEVER;
});

const LOOKS_LIKE_DATE = /^\d{4}-/;

const moment = textOr('a Go duration or an RFC 3339 instant').transform((value, context): Moment => {
  const written = String(value);
  if (LOOKS_LIKE_DATE.test(written)) {
    const parsed = parseTimestamp(written);
    if (parsed !== undefined) return { kind: 'instant', instant: parsed };
    context.addIssue({ code: 'custom', message: `must be an RFC 3339 instant, got ${JSON.stringify(written)}` });
    return z.NEVER;
  }
  const parsed = parseGoDuration(written);
  if (parsed.ok && parsed.nanoseconds >= 0n) {
    return { kind: 'sinceStart', duration: nanosecondsToDuration(parsed.nanoseconds) };
  }
  const problem = parsed.ok ? 'must not be negative' : parsed.error;
  context.addIssue({ code: 'custom', message: `must be a Go duration or an RFC 3339 instant: ${problem}` });
  return z.NEVER;
});

const texts = z.record(z.string(), z.string());
const timestamp = z.string().refine(value => parseTimestamp(value) !== undefined, 'must be an RFC 3339 instant');

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

const manifest = manifestWith(texts);
const appliedManifest = manifestWith(z.record(z.string(), z.string().nullable()));

const target = { resource: text, namespace: text.optional(), name: text };

export const STEP_ACTIONS = {
  apply: appliedManifest,
  patch: z.strictObject({ ...target, merge: jsonObject }),
  delete: z.strictObject({ ...target, gracePeriodSeconds: z.int().min(0).optional() }),
  busEvent: z.strictObject({ source: text, 'detail-type': text, detail: jsonObject }),
  cloud: z
    .strictObject({
      providerID: text,
      fail: z.enum(CLOUD_FAILURES).optional(),
      state: z.enum(['running', 'stopped', 'terminated']).optional(),
    })
    .refine(({ fail, state }) => fail !== undefined || state !== undefined, 'must have `fail` or `state`'),
  cleanup: z.strictObject({ rule: text, result: z.enum(CLEANUP_RESULTS), message: z.string().optional() }),
  hook: z.strictObject({ name: text, result: z.enum(HOOK_RESULTS), message: z.string().optional() }),
  outage: z.strictObject({ of: z.enum(OUTAGE_PARTS), for: duration }),
  restart: z.literal('forwarder'),
};

const optionals = <Shape extends Record<string, z.ZodType>>(
  shape: Shape,
): { [Key in keyof Shape]: z.ZodOptional<Shape[Key]> } =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, schema.optional()])) as {
    [Key in keyof Shape]: z.ZodOptional<Shape[Key]>;
  };

/** Refuses an object that has none or several of the keys. */
function exactlyOneOf(keys: readonly string[]) {
  return (value: object, context: z.RefinementCtx): void => {
    const present = keys.filter(key => key in value);
    if (present.length === 1) return;
    const found = present.length === 0 ? 'none' : present.join(' and ');
    context.addIssue({ code: 'custom', message: `must have exactly one of ${keys.join(', ')}; has ${found}` });
  };
}

export const STEP_FIELDS: readonly string[] = ['at', ...Object.keys(STEP_ACTIONS)];

const step = z
  .strictObject({ at: moment, ...optionals(STEP_ACTIONS) })
  .superRefine(exactlyOneOf(Object.keys(STEP_ACTIONS)));

const absent = z.array(text).optional();

const write = z.strictObject({
  by: text.optional(),
  verb: z.enum(['create', 'update', 'patch', 'delete', 'evict', 'terminate', 'reboot', 'invoke']).optional(),
  resource: text.optional(),
  namespace: text.optional(),
  name: text.optional(),
  uid: text.optional(),
  subresource: text.optional(),
  gracePeriodSeconds: z.int().min(0).optional(),
  body: jsonValue.optional(),
  about: jsonObject.optional(),
  absent,
});

const event = z.strictObject({
  by: text.optional(),
  type: z.enum(['Normal', 'Warning']).optional(),
  reason: text.optional(),
  message: z.string().optional(),
  kind: text.optional(),
  namespace: text.optional(),
  name: text.optional(),
  uid: text.optional(),
  about: jsonObject.optional(),
});

const OF_OBJECT = ['resource', 'namespace', 'name', 'exists', 'match', 'absent'];
const OF_INSTANCE = ['instance', 'state'];

const final = z
  .strictObject({
    resource: text.optional(),
    namespace: text.optional(),
    name: text.optional(),
    exists: z.boolean().optional(),
    match: jsonValue.optional(),
    absent,
    instance: text.optional(),
    state: z.enum(['pending', 'running', 'stopping', 'stopped', 'shutting-down', 'terminated']).optional(),
  })
  .transform((value, context) => {
    const refuse = (message: string): never => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const { instance, state, resource, name } = value;
    const mixed = OF_OBJECT.some(key => key in value) && OF_INSTANCE.some(key => key in value);
    if (mixed) return refuse('must not mix an object with an instance');
    if (instance !== undefined && state !== undefined) return { kind: 'instance', instance, state } as const;
    if (resource === undefined || name === undefined)
      return refuse('must have `resource` and `name`, or `instance` and `state`');
    if (value.exists === false && ('match' in value || 'absent' in value)) {
      return refuse('an object that must not exist has no fields to look at');
    }
    const { namespace, exists = true, match, absent: absentPaths = [] } = value;
    return { kind: 'object', target: { resource, namespace, name }, exists, match, absent: absentPaths } as const;
  });

const times = z.union(
  [
    z.int().min(0),
    z
      .strictObject({ min: z.int().min(0).optional(), max: z.int().min(0).optional() })
      .refine(({ min, max }) => min !== undefined || max !== undefined, 'must have `min` or `max`')
      .refine(({ min = 0, max = Infinity }) => min <= max, '`min` must not be above `max`'),
  ],
  'must be a whole number or { min, max }',
);

export const EXPECTED = { write, event, audit: jsonObject, final };

const whenAndWhat = {
  at: moment.optional(),
  within: duration.optional(),
  after: moment.optional(),
  before: moment.optional(),
  times: times.optional(),
  ...optionals(EXPECTED),
};
export const EXPECTATION_FIELDS: readonly string[] = Object.keys(whenAndWhat);

export const expectation = z
  .strictObject(whenAndWhat)
  .superRefine(exactlyOneOf(Object.keys(EXPECTED)))
  .superRefine((value, context) => {
    const refuse = (key: string, message: string): void => {
      if (key in value) context.addIssue({ code: 'custom', path: [key], message });
    };
    if (value.at === undefined) refuse('within', 'needs `at`');
    if (value.at !== undefined) for (const key of ['after', 'before']) refuse(key, 'must not stand beside `at`');
    if (value.final === undefined) return;
    for (const key of ['at', 'within', 'after', 'before', 'times']) refuse(key, '`final` looks at the end of the run');
  });

const spec = {
  start: instant,
  duration,
  config: z.string().optional(),
  templates: texts.optional(),
  actors: z.array(z.enum(ACTORS)).optional(),
  objects: z.array(manifest).optional(),
  steps: z.array(step).optional(),
  expect: z.array(expectation).optional(),
};
export const SPEC_FIELDS: readonly string[] = Object.keys(spec);

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
