/** The trace of a run on a real cluster: Curfew's writes out of the API server's audit log, its own audit records, calls to the cloud. */
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { isKubernetesObject } from '../../../shared/adapters/kubernetes/objects.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import type { ObservedWrite, ResourceInfo } from '../../../packages/kube-apiserver/src/types.ts';
import { createTrace, type TraceEntry } from '../../../simulator/trace.ts';
import type { AuditedRequest } from './audit-log.ts';

/** What is known in this process, with the instant at which it was said. */
export type Remark = { readonly time: EpochMs } & (
  | { readonly kind: 'audit'; readonly record: AuditRecord }
  | { readonly kind: 'call'; readonly call: Parameters<ReturnType<typeof createTrace>['addCall']>[0] }
);

const VERBS: Readonly<Record<string, ObservedWrite['verb']>> = {
  create: 'create',
  update: 'update',
  patch: 'patch',
  delete: 'delete',
};

export interface TraceSources {
  readonly requests: readonly AuditedRequest[];
  readonly remarks: readonly Remark[];
  /** The part of Curfew behind a user; undefined for anybody else. */
  readonly partOf: (user: string) => string | undefined;
}

/** Lines in the order of time; what is said at one instant in the order in which it was given. */
export function traceOf({ requests, remarks, partOf }: TraceSources): readonly TraceEntry[] {
  let time: EpochMs;
  const trace = createTrace(() => time);
  const answered = new Map<string, KubernetesObject>();
  const writes = requests.flatMap(request => {
    const by = partOf(request.user);
    const write = by === undefined ? undefined : withBefore(toWrite(request), answered);
    return by === undefined || write === undefined
      ? []
      : [{ time: request.time, add: () => trace.addWrite(write, by) }];
  });
  const said = remarks.map(remark => ({
    time: remark.time,
    add: () => {
      if (remark.kind === 'audit') return trace.addAudit(remark.record);
      trace.addCall(remark.call);
    },
  }));
  for (const entry of [...writes, ...said].toSorted((a, b) => a.time - b.time)) {
    ({ time } = entry);
    entry.add();
  }
  return trace.entries;
}

/** A write that the API server accepted; undefined for a read, and for one that it refused. */
function toWrite(request: AuditedRequest): ObservedWrite | undefined {
  const verb = VERBS[request.verb];
  const { resource, group, name, namespace, subresource, requestObject, responseObject, code } = request;
  if (verb === undefined || resource === undefined || code >= 300) return undefined;
  const isEviction = subresource === 'eviction';
  const after = isKubernetesObject(responseObject) ? responseObject : undefined;
  const grace = requestObject?.['gracePeriodSeconds'];
  const isDelete = verb === 'delete';
  return {
    verb: isEviction ? 'evict' : verb,
    user: request.user,
    resource: resourceInfo(group, resource),
    ref: {
      type: { group, version: '', resource },
      name: name ?? after?.metadata.name ?? '',
      ...(namespace !== undefined && { namespace }),
    },
    ...(subresource !== undefined && !isEviction && { subresource }),
    ...(typeof grace === 'number' && { gracePeriodSeconds: grace }),
    ...(requestObject !== undefined && !isDelete && !isEviction && { body: requestObject }),
    ...(after === undefined ? withUidOf(responseObject, name ?? '') : { after }),
  };
}

/** The log holds no object as it was before a change: it is what the last write of Curfew was answered with, as far as there is one. */
function withBefore(
  write: ObservedWrite | undefined,
  answered: Map<string, KubernetesObject>,
): ObservedWrite | undefined {
  if (write?.after === undefined) return write;
  const { ref, verb, after } = write;
  const key = JSON.stringify([ref.type.group, ref.type.resource, ref.namespace, ref.name]);
  const before = answered.get(key);
  answered.set(key, after);
  return verb === 'patch' && before?.metadata.uid === after.metadata.uid ? { ...write, before } : write;
}

/** A Status that tells of a deletion names the object; the rest of it is not known any more. */
function withUidOf(status: Readonly<Record<string, unknown>> | undefined, name: string): { before?: KubernetesObject } {
  const details = status?.['details'];
  if (typeof details !== 'object' || details === null || !('uid' in details) || typeof details.uid !== 'string')
    return {};
  const metadata = { name, uid: details.uid, resourceVersion: '', creationTimestamp: '' };
  return { before: { apiVersion: '', kind: '', metadata } };
}

/** As much of a resource as a trace line says. */
function resourceInfo(group: string, resource: string): ResourceInfo {
  const nothing = { kind: '', listKind: '', singular: '', shortNames: [], categories: [], verbs: [], subresources: [] };
  return { ...nothing, group, version: '', resource, namespaced: true, hasStatus: true };
}
