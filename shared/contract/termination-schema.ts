/**
 * Reads the `termination` block of a NodeLifecyclePolicy and the two fields of a NodePool's `disruption` block. Strict: a misspelt
 * field or a name that is no finalizer makes the whole block invalid, with a message that names the path (I8).
 */
import { parsedOnce } from './parsed-once.ts';
import * as z from './zod.ts';
import {
  BUILTINS,
  DEFAULT_TERMINATION_FINALIZER,
  HOOK_POINTS,
  ON_TIMEOUTS,
  TERMINATION_SCOPES,
  type Builtin,
  type HookTarget,
  type TerminationHook,
  type TerminationScope,
} from '../domain/termination.ts';
import { minutes, seconds, type DurationMs } from '../domain/time.ts';
import { atMost, LIMITS, parsed, positiveDuration, zeroOrMore, type ParseResult } from './policy-schema.ts';

/** In force for a hook that names no deadline. */
/** The name of a hook, and of a namespace. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const DEFAULT_HOOK_DEADLINE = minutes(10);

/** A qualified name: the API server refuses finalizers without a domain on Nodes. */
const QUALIFIED_NAME =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Domains of Kubernetes and of Karpenter: a finalizer there has an owner already, and ours would be taken for it (I7). */
const DOMAINS_OF_OTHERS = /^(kubernetes\.io|[^/]+\.kubernetes\.io|[^/]+\.k8s\.io|karpenter\.sh)\//;

/** Whether a finalizer of this name belongs to Kubernetes or to Karpenter. */
const isFinalizerOfOthers = (name: string): boolean => DOMAINS_OF_OTHERS.test(name);

/** A finalizer of the user's choice. */
export const finalizerNameSchema = z.string().check(
  z.maxLength(317, { abort: true }),
  z.regex(QUALIFIED_NAME, 'must be a domain and a name, as in "example.com/node-termination"'),
  z.refine(
    name => !isFinalizerOfOthers(name),
    'must not be in a domain of Kubernetes or Karpenter (kubernetes.io, *.kubernetes.io, *.k8s.io, karpenter.sh), whose finalizers are theirs',
  ),
);

const hookSchema = z.madeOnce(() =>
  z
    .strictObject({
      name: z.string().check(z.regex(DNS_LABEL, 'must be a DNS label')),
      at: z.enum(HOOK_POINTS),
      lambda: z.optional(z.strictObject({ functionName: z.string().check(z.minLength(1), z.maxLength(140)) })),
      event: z.optional(z.strictObject({ detailType: z.string().check(z.minLength(1), z.maxLength(128)) })),
      customResource: z.optional(
        z.strictObject({
          template: z.string().check(z.minLength(1), atMost(LIMITS.key)),
          conditionType: z.string().check(z.minLength(1), atMost(LIMITS.conditionType)),
        }),
      ),
      deadline: z._default(positiveDuration, DEFAULT_HOOK_DEADLINE),
      heartbeat: z.optional(positiveDuration),
      onTimeout: z._default(z.enum(ON_TIMEOUTS), 'Proceed'),
    })
    .check(
      z.refine(
        ({ lambda, event, customResource }) =>
          [lambda, event, customResource].filter(target => target !== undefined).length === 1,
        'must have exactly one of lambda, event and customResource',
      ),
    ),
);

const blockSchema = z.madeOnce(() =>
  z
    .strictObject({
      finalizerName: z._default(finalizerNameSchema, DEFAULT_TERMINATION_FINALIZER),
      scope: z._default(z.enum(TERMINATION_SCOPES), 'NodeClaimAndNode'),
      terminationGracePeriod: z.optional(zeroOrMore),
      builtin: z._default(z.enum(BUILTINS), 'Keep'),
      hooks: z._default(z.array(hookSchema()).check(atMost(LIMITS.hooks)), []),
    })
    .check(
      z.superRefine(({ hooks }, context) => {
        hooks.forEach(({ name }, index) => {
          if (hooks.findIndex(hook => hook.name === name) === index) return;
          const message = `must not repeat ${JSON.stringify(name)}`;
          context.addIssue({ code: 'custom', path: ['hooks', index, 'name'], message });
        });
      }),
    ),
);

/** The `termination` block of a policy. */
export interface TerminationBlock {
  readonly finalizerName: string;
  readonly scope: TerminationScope;
  readonly terminationGracePeriod: DurationMs | undefined;
  readonly builtin: Builtin;
  readonly hooks: readonly TerminationHook[];
}

/** Wire form of a `termination` block, and what it stands for. */
export const terminationSchema = z.madeOnce(() =>
  z.pipe(
    blockSchema(),
    z.transform(
      ({ terminationGracePeriod, hooks, ...block }: z.output<ReturnType<typeof blockSchema>>): TerminationBlock => ({
        ...block,
        terminationGracePeriod,
        hooks: hooks.map(toHook),
      }),
    ),
  ),
);

function toHook({
  name,
  at,
  deadline,
  heartbeat,
  onTimeout,
  ...targets
}: z.output<ReturnType<typeof hookSchema>>): TerminationHook {
  return { name, at, target: toTarget(targets), deadline, heartbeat, onTimeout };
}

function toTarget({
  lambda,
  event,
  customResource,
}: Pick<z.output<ReturnType<typeof hookSchema>>, 'lambda' | 'event' | 'customResource'>): HookTarget {
  if (lambda !== undefined) return { kind: 'lambda', ...lambda };
  if (event !== undefined) return { kind: 'event', ...event };
  if (customResource !== undefined) return { kind: 'customResource', ...customResource };
  throw new Error('invariant broken: a hook has a target');
}

/** Parses a `termination` block; `{}` means on, with the defaults. */
export const parseTerminationBlock = parsedOnce((block, path): ParseResult<TerminationBlock> =>
  parsed(terminationSchema().safeParse(block), path),
);

/** The settings of a NodePool about terminations; the rest of its `disruption` block is Karpenter's. */
export interface PoolTermination {
  readonly customFinalizerName: string | undefined;
  readonly terminationGracePeriod: DurationMs | undefined;
}

/** The longest Go duration, 292 years: a deadline must still be an instant. */
const MAX_SECONDS = 9_223_372_036;

const disruptionSchema = z.madeOnce(() =>
  z.pipe(
    z.looseObject({
      customFinalizerName: z.nullish(finalizerNameSchema),
      terminationGracePeriodSeconds: z.nullish(z.int().check(z.minimum(0), z.maximum(MAX_SECONDS))),
    }),
    z.transform(
      ({
        customFinalizerName,
        terminationGracePeriodSeconds,
      }: {
        customFinalizerName?: string | null | undefined;
        terminationGracePeriodSeconds?: number | null | undefined;
      }): PoolTermination => ({
        customFinalizerName: customFinalizerName ?? undefined,
        terminationGracePeriod:
          typeof terminationGracePeriodSeconds === 'number' ? seconds(terminationGracePeriodSeconds) : undefined,
      }),
    ),
  ),
);

/** Parses the two fields of `NodePool.spec.disruption`. */
export const parsePoolTermination = parsedOnce((disruption, path): ParseResult<PoolTermination> =>
  parsed(disruptionSchema().safeParse(disruption ?? {}), path),
);
