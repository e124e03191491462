/** The audit log of kube-apiserver: who asked for what, whether it was allowed, and what came of it. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseTimestamp, toEpochMs, type EpochMs } from '../../../shared/domain/time.ts';

const json: z.ZodType<Readonly<Record<string, unknown>>> = z.record(z.string(), z.unknown());

const eventSchema = z.object({
  stage: z.string(),
  verb: z.string(),
  user: z.object({ username: z.string() }),
  objectRef: z
    .object({
      resource: z.string(),
      subresource: z.string().optional(),
      apiGroup: z.string().optional(),
      namespace: z.string().optional(),
      name: z.string().optional(),
      uid: z.string().optional(),
    })
    .optional(),
  responseStatus: z.object({ code: z.number().optional() }).optional(),
  requestObject: json.optional(),
  responseObject: json.optional(),
  requestReceivedTimestamp: z.string(),
  stageTimestamp: z.string(),
  annotations: z.record(z.string(), z.string()).optional(),
});

/** How each line begins. */
const BEGIN = '{"kind":"Event","apiVersion":"audit.k8s.io/';

export interface AuditedRequest {
  /** When it was answered. */
  readonly time: EpochMs;
  readonly received: EpochMs;
  readonly user: string;
  /** As RBAC names it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, … */
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Absent for a path that is no resource. */
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly code: number;
  readonly allowed: boolean;
  readonly requestObject: Readonly<Record<string, unknown>> | undefined;
  readonly responseObject: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The requests that are finished, or watches that are started, in order.
 *
 * @param from where in the file to begin, in bytes: at a line's beginning
 */
export function readAuditLog(path: string, from = 0): readonly AuditedRequest[] {
  const lines = readFileSync(path).subarray(from).toString().split('\n');
  // The last one is not written to its end yet, or is empty.
  return lines.slice(0, -1).flatMap(line => {
    if (line === '') return [];
    // An API server that was killed may have written half a line: the next one goes on in it.
    const event = eventSchema.parse(JSON.parse(line.slice(line.lastIndexOf(BEGIN))));
    const isWatch = event.verb === 'watch';
    if (event.stage !== (isWatch ? 'ResponseStarted' : 'ResponseComplete')) return [];
    return [toRequest(event)];
  });
}

function toRequest(event: z.infer<typeof eventSchema>): AuditedRequest {
  const { objectRef, requestObject, responseObject, annotations = {} } = event;
  return {
    time: instantOf(event.stageTimestamp),
    received: instantOf(event.requestReceivedTimestamp),
    user: event.user.username,
    verb: event.verb,
    group: objectRef?.apiGroup ?? '',
    resource: objectRef?.resource,
    subresource: objectRef?.subresource,
    namespace: objectRef?.namespace,
    name: objectRef?.name,
    code: event.responseStatus?.code ?? 0,
    allowed: annotations['authorization.k8s.io/decision'] === 'allow',
    requestObject,
    responseObject,
  };
}

const instantOf = (text: string): EpochMs => parseTimestamp(text) ?? toEpochMs(Date.parse(text));
