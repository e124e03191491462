/**
 * The trace: one JSON object a line, in the order of time. This schema is the one that the simulator writes, that a page is made from, and
 * that `docs/trace.md` describes. A reader skips fields and kinds that it does not know; what changes the meaning of a field raises the version.
 */
import { z } from 'zod';

/** Readers refuse a trace of another version. */
export const TRACE_VERSION = 1;

const json = z.record(z.string(), z.unknown());
/** RFC 3339 with milliseconds, UTC. */
const instant = z.string().refine(text => !Number.isNaN(Date.parse(text)), 'not an RFC 3339 instant');

const about = z.looseObject({
  kind: z.string().optional(),
  namespace: z.string().optional(),
  name: z.string().optional(),
  uid: z.string().optional(),
});

/** The first line: what the trace is of. */
const header = z.looseObject({
  t: instant,
  kind: z.literal('trace'),
  version: z.literal(TRACE_VERSION),
  /** Where it comes from: a run on virtual time, an audit log, or a cluster that is being watched. */
  source: z.enum(['simulation', 'audit', 'live']),
  name: z.string(),
  file: z.string().optional(),
  start: instant,
  end: instant,
  seed: z.number().optional(),
});

/** The last line: how it ended. A trace without it is cut off. */
const end = z.looseObject({
  t: instant,
  kind: z.literal('end'),
  /** Every expectation held and no invariant was violated; missing where nothing was expected. */
  ok: z.boolean().optional(),
  problems: z.array(z.string()),
});

/** What the author of the scenario did. */
const step = z.looseObject({
  t: instant,
  kind: z.literal('step'),
  by: z.string(),
  action: z.string(),
  text: z.string(),
  about: about.optional(),
  /** Why it had no effect. */
  problem: z.string().optional(),
});

/** What Karpenter, the kubelet, the disruption controller or the cloud did to an object of the cluster. */
const actor = z.looseObject({
  t: instant,
  kind: z.literal('actor'),
  by: z.string(),
  verb: z.string(),
  resource: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  uid: z.string().optional(),
  subresource: z.string().optional(),
  /** The object went with this. */
  gone: z.literal(true).optional(),
});

/** The state of an instance of the cloud, when it changes. */
const instance = z.looseObject({ t: instant, kind: z.literal('instance'), providerID: z.string(), state: z.string() });

/**
 * An object of the cluster as it is from now on: Nodes with their conditions, NodeClaims, Pods, budgets, policies, whoever changed it. The
 * first line of an object has it whole, later ones only what changed (RFC 7386).
 */
const object = z.looseObject({
  t: instant,
  kind: z.literal('object'),
  group: z.string(),
  version: z.string(),
  resource: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  object: json.optional(),
  change: json.optional(),
  gone: z.literal(true).optional(),
});

/** A policy, NodePool or configuration that is in force from now on, as its author wrote it. */
const policy = z.looseObject({
  t: instant,
  kind: z.literal('policy'),
  objectKind: z.string(),
  name: z.string(),
  /** YAML. */
  text: z.string(),
  file: z.string().optional(),
  /** Where it begins in the file, from 1. */
  line: z.number().optional(),
  gone: z.literal(true).optional(),
});

/** The settings of repair that are in force for a pool from now on, whichever policy or NodePool they stand in. */
const rules = z.looseObject({
  t: instant,
  kind: z.literal('rules'),
  /** Missing: for nodes without a NodePool. */
  pool: z.string().optional(),
  mode: z.string(),
  /** `NodeLifecyclePolicy web`; missing: no block applies, and nothing is repaired. */
  source: z.string().optional(),
  /** The feature gate of repair. */
  gateOpen: z.boolean(),
  maxUnhealthy: z.string().optional(),
  maxConcurrentRepairs: z.string().optional(),
  maxConcurrentRepairsPerCluster: z.string().optional(),
  maxConcurrentRepairsPerZone: z.string().optional(),
});

/** A change of Curfew that the API server, the cloud, a hook or a clean-up accepted. */
const write = z.looseObject({
  t: instant,
  kind: z.literal('write'),
  by: z.string(),
  verb: z.string(),
  resource: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  uid: z.string().optional(),
  subresource: z.string().optional(),
  gracePeriodSeconds: z.number().optional(),
  body: z.unknown().optional(),
  about: about.optional(),
});

/** A status that Curfew wrote of a policy: it says how things stand and changes nothing. */
const status = write.extend({ kind: z.literal('status') });

/** A Kubernetes Event that Curfew recorded. */
const event = z.looseObject({
  t: instant,
  kind: z.literal('event'),
  by: z.string().optional(),
  type: z.string().optional(),
  reason: z.string(),
  message: z.string(),
  about,
});

/** A decision of a function, with the numbers it rests on. */
const audit = z.looseObject({
  t: instant,
  kind: z.literal('audit'),
  function: z.string(),
  decision: z.string(),
  reason: z.string(),
  message: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  uid: z.string().optional(),
  details: json.optional(),
  about,
});

/** A message that ended in a dead-letter queue. */
const buried = z.looseObject({
  t: instant,
  kind: z.literal('buried'),
  by: z.string(),
  reason: z.string(),
  message: z.string(),
});

export const traceLine = z.discriminatedUnion('kind', [
  header,
  end,
  step,
  actor,
  instance,
  object,
  policy,
  rules,
  write,
  status,
  event,
  audit,
  buried,
]);

export type TraceLine = z.infer<typeof traceLine>;
export type LineOf<Kind extends TraceLine['kind']> = Extract<TraceLine, { kind: Kind }>;
export type TraceHeader = LineOf<'trace'>;
