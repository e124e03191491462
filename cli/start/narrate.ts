/** Turns what the parts do into lines of the timeline: writes at the API server, audit lines of functions. */
import { z } from 'zod';
import type { LogLine } from '../../packages/local-aws/src/log-lines.ts';
import type { ObservedWrite } from '../../packages/kube-apiserver/src/types.ts';
import { FUNCTION_NAMES, HOOK_ANSWERED, SOURCES } from '../../shared/contract/names.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import type { Timeline, LineSource } from './timeline.ts';

const auditSchema = z.object({
  audit: z.literal(true),
  function: z.enum(FUNCTION_NAMES),
  decision: z.string(),
  reason: z.string(),
  message: z.string(),
  kind: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  uid: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type AuditLine = z.infer<typeof auditSchema>;

/** The audit record in a function's log line, if it is one. */
export function readAuditLine(line: LogLine): AuditLine | undefined {
  const parsed = auditSchema.safeParse(line.record);
  return parsed.success ? parsed.data : undefined;
}

/** A log line of a function that says that something went wrong, as text; undefined for a warning and less. */
export function readProblem({ record, text, function: name }: LogLine): string | undefined {
  const level = record?.['level'];
  if (level !== 'ERROR' && level !== 'CRITICAL') return undefined;
  const message = record?.['message'];
  return `${name}: ${typeof message === 'string' ? message : text}`;
}

export function narrateAudit(timeline: Timeline, audit: AuditLine): void {
  timeline.line(audit.function, `${audit.decision} ${audit.kind} ${audit.name}: ${audit.message}`);
}

/** A user whose writes the timeline shows. The others are the functions, whose users are `curfew-` and their name. */
const KARPENTER = 'actor:karpenter';
function voiceOf(user: string): LineSource | undefined {
  if (user === KARPENTER) return 'karpenter';
  return FUNCTION_NAMES.find(name => user === `curfew-${name}`);
}

/** One line for a write that matters to the story; Events and the story's own writes are told elsewhere. */
export function narrateWrite(timeline: Timeline, write: ObservedWrite): void {
  const voice = voiceOf(write.user);
  if (voice === undefined || write.resource.kind === 'Event') return;
  const target = `${write.resource.kind} ${write.ref.name}`;
  const gone = write.before !== undefined && write.after === undefined;
  timeline.line(voice, gone ? `${target} is gone` : `${write.verb} ${target}${describeBody(write)}`);
}

/** Fields that say of which object a patch is, not what it changes. */
const PRECONDITIONS: readonly string[] = ['metadata.uid', 'metadata.resourceVersion'];
const MAX_CHANGES = 3;

/** Describes the fields that a patch sets or removes. The patch itself stands in the audit log of the API server. */
function describeBody({ verb, body }: ObservedWrite): string {
  if (verb !== 'patch' || !isJsonObject(body)) return '';
  const changes = changesIn(body).filter(({ path }) => !PRECONDITIONS.includes(path));
  const told = changes.slice(0, MAX_CHANGES).map(({ path, value }) => {
    if (value === null) return `removes ${path}`;
    return typeof value === 'object' ? `sets ${path}` : `sets ${path} to ${value}`;
  });
  const left = changes.length - told.length;
  return told.length === 0 ? '' : `: ${told.join(', ')}${left === 0 ? '' : `, and ${left} more`}`;
}

/** An annotation or a label is named by its key alone, as people do. */
function changesIn(body: JsonObject, prefix = ''): readonly { readonly path: string; readonly value: JsonValue }[] {
  return Object.entries(body).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const isNamed = prefix === 'metadata.annotations.' || prefix === 'metadata.labels.';
    const path = isNamed ? key : `${prefix}${key}`;
    return isJsonObject(value) && !isNamed ? changesIn(value, `${path}.`) : [{ path, value }];
  });
}

/** These are told as writes and decisions. */
const UNTOLD: readonly string[] = [SOURCES.forwarder, SOURCES.timer];

/** One line for an event on the bus, with the key by which a worker answers it. */
export function narrateEvent(timeline: Timeline, { source, detailType, detail }: BusEvent): void {
  if (UNTOLD.includes(source) || source.startsWith('aws.')) return;
  const sender = FUNCTION_NAMES.find(name => source === `curfew.${name}`);
  const { key, id, status } = detail;
  const facts = Object.entries({ key, id, status, node: nodeOf(detail) }).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [`${name} ${value}`] : [],
  );
  const from = sender === undefined ? ` from ${source}` : '';
  timeline.line(sender ?? 'bus', `event ${detailType}${from}: ${facts.join(', ')}`);
  if (typeof key === 'string' && detailType !== HOOK_ANSWERED)
    timeline.plain(`            npx curfew event send ${HOOK_ANSWERED} --key ${key} --result succeed   answers it`);
}

function nodeOf({ nodeName, node }: BusEvent['detail']): unknown {
  return nodeName ?? (isJsonObject(node) ? node['name'] : undefined);
}

interface BusEvent {
  readonly source: string;
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
}
