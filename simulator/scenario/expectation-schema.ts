/**
 * What a scenario expects, as a schema. The format lets any name stand, and a run takes it as it is. A second schema knows the names that are
 * Curfew's own: one that is not among them is never found, or never fails, and its author is told.
 */
import * as z from 'zod';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { isMisspelling, suggestion } from '../../shared/domain/nearest-name.ts';
import { decisionsOf, functionsOf, reasonsOf } from './audit-lines.ts';
import { duration, exactlyOneOf, jsonObject, jsonValue, moment, optionals, text, timestamp } from './values.ts';

/** A termination that is over has no object left for an Event. */
const { terminationFinished: _, ...RECORDED } = EVENT_REASONS;
const RECORDED_REASONS = Object.values(RECORDED);

/** Where all names of lines stand. */
const REFERENCE = 'docs/observability.md';

/** What is wrong with a name of a long list. */
const nameOf =
  (what: string, known: readonly string[]) =>
  ({ input }: { readonly input?: unknown }): string =>
    unknownName(what, input, known);

function unknownName(what: string, name: unknown, known: readonly string[]): string {
  if (typeof name !== 'string') return `must be text: ${what === 'decision' ? 'a' : 'an'} ${what}`;
  const hint = suggestion(name, known) || ` (${REFERENCE} lists them)`;
  return `there is no ${what} ${JSON.stringify(name)}${hint}`;
}

interface AuditNames {
  readonly function?: FunctionName | undefined;
  readonly decision?: string | undefined;
  readonly reason?: string | undefined;
}

/** A decision that its function never takes, a reason that its decision never has. */
function checkDecision({ function: name, decision, reason }: AuditNames, context: z.RefinementCtx): void {
  const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
  if (decision !== undefined && name !== undefined && !decisionsOf(name).includes(decision)) {
    const others = functionsOf(decision);
    const hint =
      suggestion(decision, decisionsOf(name)) || `; ${others.join(' and ')} ${others.length === 1 ? 'does' : 'do'}`;
    refuse('decision', `${name} never decides ${JSON.stringify(decision)}${hint}`);
  } else if (reason !== undefined) {
    const { reasons, isOpen } = reasonsOf({ function: name, decision });
    if (reasons.includes(reason) || (isOpen && !isMisspelling(reason, reasons))) return;
    const what = [name, decision].filter(part => part !== undefined).join(' ');
    const hint =
      suggestion(reason, reasons) ||
      (reasons.length > 0 && what !== '' ? `; it has ${reasons.join(', ')}` : ` (${REFERENCE} lists them)`);
    refuse(
      'reason',
      `${what === '' ? 'no decision' : what} ${what === '' ? 'has' : 'never has'} the reason ${JSON.stringify(reason)}${hint}`,
    );
  }
}

const absent = z.array(text).optional();

const about = z.strictObject({
  apiVersion: text.optional(),
  kind: text.optional(),
  namespace: text.optional(),
  name: text.optional(),
  uid: text.optional(),
});

/** What differs: names as any text, and names as they are known. */
const ANY = {
  by: text.optional(),
  subresource: text.optional(),
  reason: text.optional(),
  about: jsonObject.optional(),
  audit: jsonObject,
};

const knownAudit = z
  .strictObject({
    t: timestamp.optional(),
    function: z.enum(FUNCTION_NAMES).optional(),
    decision: z.enum(decisionsOf(undefined), { error: nameOf('decision', decisionsOf(undefined)) }).optional(),
    reason: text.optional(),
    message: z.string().optional(),
    kind: text.optional(),
    namespace: text.optional(),
    name: text.optional(),
    uid: text.optional(),
    details: jsonObject.optional(),
    about: about.optional(),
  })
  .superRefine(checkDecision);

const KNOWN = {
  by: z.enum([...FUNCTION_NAMES, 'forwarder']).optional(),
  subresource: z.enum(['status', 'eviction']).optional(),
  reason: z.enum(RECORDED_REASONS, { error: nameOf('Event reason', RECORDED_REASONS) }).optional(),
  about: about.optional(),
  audit: knownAudit,
};

type Names = typeof ANY | typeof KNOWN;

const writeWith = <Given extends Names>({ by, subresource, about: object }: Given) =>
  z.strictObject({
    by,
    verb: z.enum(['create', 'update', 'patch', 'delete', 'evict', 'terminate', 'reboot', 'invoke']).optional(),
    resource: text.optional(),
    namespace: text.optional(),
    name: text.optional(),
    uid: text.optional(),
    subresource,
    gracePeriodSeconds: z.int().min(0).optional(),
    body: jsonValue.optional(),
    about: object,
    absent,
  });

const eventWith = <Given extends Names>({ by, reason, about: object }: Given) =>
  z.strictObject({
    by,
    type: z.enum(['Normal', 'Warning']).optional(),
    reason,
    message: z.string().optional(),
    kind: text.optional(),
    namespace: text.optional(),
    name: text.optional(),
    uid: text.optional(),
    about: object,
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

/** What an expectation can be about, with the names that are known. */
export const EXPECTED = { write: writeWith(KNOWN), event: eventWith(KNOWN), audit: KNOWN.audit, final };

const WHEN = {
  at: moment.optional(),
  within: duration.optional(),
  after: moment.optional(),
  before: moment.optional(),
  times: times.optional(),
};

export const expectation = z
  .strictObject({ ...WHEN, ...optionals({ write: writeWith(ANY), event: eventWith(ANY), audit: ANY.audit, final }) })
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

const { final: __, ...NAMED } = EXPECTED;
/** The names of an expectation that is valid, as they are known: what it refuses was hardly meant. */
export const expectationByName = z.object(optionals(NAMED));
