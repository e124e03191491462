/**
 * Reads the `repair` block of a NodePool or NodeLifecyclePolicy. Strict: a misspelt field or a duration that does not parse makes the
 * whole block invalid, with a message that names the path, because a repair must not rest on a guess (I8).
 */
import { parsedOnce } from './parsed-once.ts';
import * as z from './zod.ts';
import {
  AWS_REPAIR_CONDITIONS,
  CONFIRMATIONS,
  DEFAULT_ACTION_TIMEOUT,
  DEFAULT_ATTEMPTS,
  DEFAULT_MAX_UNHEALTHY,
  DEFAULT_OUTAGE,
  DEFAULT_TERMINATION_TIMEOUT,
  DEFAULT_WITHIN,
  DISRUPTION_BUDGETS,
  MAX_ATTEMPTS,
  NEVER,
  REPAIR_ACTIONS,
  WITHOUT_NODE_CLAIM,
  type DrainBound,
  type NodeCount,
  type OutageThreshold,
  type RepairAction,
  type RepairSettings,
} from '../domain/repair-policy.ts';
import type { DurationMs } from '../domain/time.ts';
import { atMost, LIMITS, parsed, positiveDuration, readDuration, type ParseResult } from './policy-schema.ts';
import { compileRegularExpression } from './regular-expression.ts';

const toleration = z.pipe(
  z.union([z.literal('Never'), z.string().check(atMost(LIMITS.durationLength))], {
    error: ({ input }) => (input === undefined ? 'is missing, a duration or Never expected' : undefined),
  }),
  z.transform((text: string, { issues }): DurationMs => {
    if (text === 'Never') return NEVER;
    const read = readDuration(text, 'zero');
    if (read.ok) return read.value;
    issues.push({ code: 'custom', message: read.message, input: text });
    return z.NEVER;
  }),
);

const PERCENTAGE = /^(\d|[1-9]\d|100)%$/;
const percentage = z.pipe(
  z.string().check(z.regex(PERCENTAGE, 'must be a percentage from "0%" to "100%"')),
  z.transform((text: string): number => Number(text.slice(0, -1))),
);

/** IntOrString, as PodDisruptionBudgets have it: `3` or `"30%"`. */
export const nodeCount = z.union(
  [
    z.pipe(
      z.int().check(z.minimum(0)),
      z.transform((count: number): NodeCount => ({ count })),
    ),
    z.pipe(
      percentage,
      z.transform((percent: number): NodeCount => ({ percent })),
    ),
  ],
  'must be a whole number that is not negative, or a percentage from "0%" to "100%"',
);

/** `"Off"`; a YAML 1.1 parser reads the bare word as `false`. */
const outage = z.madeOnce(() =>
  z.pipe(
    z.union(
      [
        z.literal('Off'),
        z.literal(false),
        z.strictObject({
          minNodes: z._default(z.int().check(z.minimum(1)), DEFAULT_OUTAGE.minNodes),
          share: z.exactOptional(percentage),
        }),
      ],
      'must be "Off", or minNodes (a whole number from 1 on) and share (a percentage from "0%" to "100%")',
    ),
    z.transform((threshold): OutageThreshold | 'Off' =>
      typeof threshold === 'object'
        ? { minNodes: threshold.minNodes, share: threshold.share ?? DEFAULT_OUTAGE.share }
        : 'Off',
    ),
  ),
);

const thresholdOf = (threshold: OutageThreshold | 'Off'): OutageThreshold | undefined =>
  threshold === 'Off' ? undefined : threshold;

/** An RE2 pattern, which matches anywhere in the reason. */
const reasonPattern = z.pipe(
  z.string().check(z.minLength(1), z.maxLength(1024)),
  z.transform((text: string, { issues }): { readonly text: string; readonly occursIn: (reason: string) => boolean } => {
    const compiled = compileRegularExpression(text);
    if (compiled.ok) return { text, occursIn: compiled.occursIn };
    issues.push({ code: 'custom', message: `must be an RE2 regular expression: ${compiled.message}`, input: text });
    return z.NEVER;
  }),
);

const conditionType = z.string().check(z.minLength(1), atMost(LIMITS.conditionType));

const action = z.madeOnce(() =>
  z
    .strictObject({
      type: z.enum(REPAIR_ACTIONS),
      timeout: z.exactOptional(positiveDuration),
      attempts: z._default(z.int().check(z.minimum(1), z.maximum(MAX_ATTEMPTS)), DEFAULT_ATTEMPTS),
      within: z._default(positiveDuration, DEFAULT_WITHIN),
      /** The key of the ConfigMap `curfew/curfew-config` with the template of the custom resource. */
      template: z.exactOptional(z.string().check(z.minLength(1), atMost(LIMITS.key))),
    })
    .check(
      z.refine(
        ({ type, template }) => (type === 'CustomResource') === (template !== undefined),
        'must have a template for CustomResource, and none for the others',
      ),
    ),
);

const actions = z.madeOnce(() =>
  z.array(action()).check(
    z.minLength(1),
    atMost(LIMITS.actions),
    z.superRefine((list, context) => {
      list.forEach(({ type }, index) => {
        const isLast = index === list.length - 1;
        if (isLast || (type !== 'Terminate' && type !== 'DrainThenTerminate')) return;
        context.addIssue({ code: 'custom', path: [index, 'type'], message: `nothing can follow ${type}` });
      });
    }),
  ),
);

const drainBound = z.pipe(
  z.string().check(atMost(LIMITS.durationLength)),
  z.transform((text: string, { issues }): DrainBound => {
    if (text === 'Inherit') return text;
    const read = readDuration(text, 'zero');
    if (read.ok) return read.value;
    issues.push({ code: 'custom', message: `${read.message}; or Inherit`, input: text });
    return z.NEVER;
  }),
);

/** Fields that an entry of `policies` and one of `conditions` have alike. */
const terms = () => ({
  reason: z.exactOptional(reasonPattern),
  toleration,
  priority: z._default(z.int().check(z.minimum(0), z.maximum(100)), 0),
  terminationGracePeriod: z.exactOptional(drainBound),
  actions: z.exactOptional(actions()),
  confirm: z.exactOptional(z.enum(CONFIRMATIONS)),
});

const CONFIRMED = { error: 'is for Ready=Unknown alone', path: ['confirm'] };

const override = z.madeOnce(() =>
  z
    .strictObject({ conditionType, ...terms() })
    .check(z.refine(({ confirm, conditionType: type }) => confirm === undefined || type === 'Ready', CONFIRMED)),
);

const condition = z.madeOnce(() =>
  z
    .strictObject({ type: conditionType, status: z.enum(['True', 'False', 'Unknown']), ...terms() })
    .check(
      z.refine(
        ({ confirm, type, status }) => confirm === undefined || (type === 'Ready' && status === 'Unknown'),
        CONFIRMED,
      ),
    ),
);

const flapping = z.madeOnce(() =>
  z
    .strictObject({ window: positiveDuration, unhealthyFor: positiveDuration })
    .check(
      z.refine(({ window, unhealthyFor }) => unhealthyFor <= window, 'unhealthyFor must not be longer than window'),
    ),
);

const futility = z.madeOnce(() =>
  z.strictObject({ repairs: z.int().check(z.minimum(1), z.maximum(100)), window: positiveDuration }),
);

const blockSchema = z.madeOnce(() =>
  z
    .strictObject({
      defaultTolerationDuration: z.exactOptional(toleration),
      policies: z._default(z.array(override()).check(atMost(LIMITS.list)), []),
      conditions: z._default(z.array(condition()).check(atMost(LIMITS.list)), []),
      terminationGracePeriod: z.exactOptional(drainBound),
      maxUnhealthy: z._default(nodeCount, DEFAULT_MAX_UNHEALTHY),
      maxConcurrentRepairs: z.exactOptional(nodeCount),
      disruptionBudgets: z._default(z.enum(DISRUPTION_BUDGETS), 'Explicit'),
      zoneOutage: z._default(outage(), DEFAULT_OUTAGE),
      freeze: z._default(outage(), DEFAULT_OUTAGE),
      actions: z.exactOptional(actions()),
      flapping: z.exactOptional(flapping()),
      futility: z.exactOptional(futility()),
      nodesWithoutNodeClaim: z._default(z.enum(WITHOUT_NODE_CLAIM), 'Ignore'),
    })
    .check(
      z.superRefine(({ policies, conditions, actions: own, nodesWithoutNodeClaim }, context) => {
        const lists = [
          { path: ['actions'], list: own },
          ...policies.map((entry, index) => ({ path: ['policies', index, 'actions'], list: entry.actions })),
          ...conditions.map((entry, index) => ({ path: ['conditions', index, 'actions'], list: entry.actions })),
        ];
        for (const { path, list = [] } of nodesWithoutNodeClaim === 'Ignore' ? [] : lists) {
          const index = list.findIndex(({ type }) => type === 'ReplaceThenTerminate');
          const message = 'ReplaceThenTerminate is for nodes with NodeClaims, and nodesWithoutNodeClaim brings others';
          if (index >= 0) context.addIssue({ code: 'custom', path: [...path, index, 'type'], message });
        }
        policies.forEach(({ conditionType: type, reason }, index) => {
          const isSame = (other: (typeof policies)[number]) =>
            other.conditionType === type && other.reason?.text === reason?.text;
          if (policies.findIndex(isSame) === index) return;
          const path = ['policies', index, 'conditionType'];
          const what = `${JSON.stringify(type)}${reason === undefined ? '' : ` with reason ${JSON.stringify(reason.text)}`}`;
          context.addIssue({ code: 'custom', path, message: `must not repeat ${what}` });
        });
      }),
    ),
);

const defaultTimeoutOf = (type: RepairAction['type']): DurationMs =>
  type === 'Terminate' ? DEFAULT_TERMINATION_TIMEOUT : DEFAULT_ACTION_TIMEOUT;

type Actions = z.output<ReturnType<typeof actions>>;

/** The actions in the words of the domain; the schema has refused a custom resource without a template. */
const withTimeouts = (list: Actions): readonly RepairAction[] =>
  list.map(({ type, timeout = defaultTimeoutOf(type), template = '', ...terms }) =>
    type === 'CustomResource' ? { ...terms, template, type, timeout } : { ...terms, type, timeout },
  );

/** An entry in the words of the domain. */
function toTerms<Entry extends Omit<z.output<ReturnType<typeof override>>, 'conditionType'>>({
  reason,
  terminationGracePeriod,
  actions: list,
  ...entry
}: Entry) {
  return {
    ...entry,
    ...(terminationGracePeriod !== undefined && { drainBound: terminationGracePeriod }),
    ...(list !== undefined && { actions: withTimeouts(list) }),
    ...(reason !== undefined && { reason: reason.text, matchesReason: reason.occursIn }),
  };
}

/** Wire form of a `repair` block, and what it stands for. */
export const repairSchema = z.madeOnce(() =>
  z.pipe(
    blockSchema(),
    z.transform((block: z.output<ReturnType<typeof blockSchema>>): RepairSettings => ({
      provided: AWS_REPAIR_CONDITIONS,
      overrides: block.policies.map(toTerms),
      defaultToleration: block.defaultTolerationDuration,
      drainBound: block.terminationGracePeriod,
      conditions: block.conditions.map((entry, index) => ({
        ...toTerms(entry),
        isOwn: true,
        field: `spec.repair.conditions[${index}]`,
      })),
      maxUnhealthy: block.maxUnhealthy,
      maxConcurrentRepairs: block.maxConcurrentRepairs,
      disruptionBudgets: block.disruptionBudgets,
      zoneOutage: thresholdOf(block.zoneOutage),
      freeze: thresholdOf(block.freeze),
      actions: block.actions && withTimeouts(block.actions),
      flapping: block.flapping,
      futility: block.futility,
      nodesWithoutNodeClaim: block.nodesWithoutNodeClaim,
    })),
  ),
);

/** Parses a `repair` block; `{}` means on, with the provider's defaults. */
export const parseRepairBlock = parsedOnce((block, path): ParseResult<RepairSettings> =>
  parsed(repairSchema().safeParse(block), path),
);
