/** What goes wrong beside a mistake: a call that certainly fails. */
import type { NewRecord } from '../../shared/ports/record-store.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { addDuration, isDue, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { isA, methodsOf, original, type Fault, type ResourceName } from './mutant.ts';

type FunctionFault = Exclude<Fault, { of: 'forwarder' }>;

/** The mutation, or the product, with the fault. */
export function withFault(mutation: Mutation, fault: Fault): Mutation {
  if (fault.of === 'forwarder') {
    const { forwarder = ports => ports } = mutation;
    return { ...mutation, forwarder: ports => forwarder({ ...ports, ...fault.ports(ports) }) };
  }
  const { of, ports } = fault;
  const factory = mutation.reconcilers?.[of] ?? original(of);
  const faulty: typeof factory = deps => factory({ ...deps, ...ports(deps) });
  return { ...mutation, reconcilers: { ...mutation.reconcilers, [of]: faulty } };
}

/** The function's first lists of that resource fail. @param times a single failure is often corrected by the next look */
export function firstListsFail(of: FunctionName, resource: ResourceName, times = 1): FunctionFault {
  let failed = 0;
  const ports: FunctionFault['ports'] = ({ kubernetes }) => ({
    kubernetes: {
      ...methodsOf(kubernetes),
      async list(type, query, options) {
        if (failed >= times || !isA(resource, type)) return await kubernetes.list(type, query, options);
        failed += 1;
        throw new RetryableError(`list ${resource}: 500`, { reason: 'InternalError' });
      },
    },
  });
  return { of, ports };
}

/** The first write of such a record fails, and nothing of it is stored. */
export function firstWriteFails(of: FunctionName, isSuch: (record: NewRecord) => boolean): FunctionFault {
  let hasFailed = false;
  const ports: FunctionFault['ports'] = ({ records }) => ({
    records: {
      get: key => records.get(key),
      async put(record, version) {
        if (hasFailed || !isSuch(record)) return await records.put(record, version);
        hasFailed = true;
        throw new RetryableError(`put ${record.id}: 500`, { reason: 'InternalServerError' });
      },
      delete: (key, version) => records.delete(key, version),
    },
  });
  return { of, ports };
}

/** The function's first get of that resource fails, once so much time has gone by since its first call. */
export function laterGetFails(of: FunctionName, resource: ResourceName, after: DurationMs): FunctionFault {
  let begin: EpochMs | undefined;
  let hasFailed = false;
  const ports: FunctionFault['ports'] = ({ kubernetes, clock }) => ({
    kubernetes: {
      ...methodsOf(kubernetes),
      async get(ref) {
        begin ??= clock.now();
        if (hasFailed || !isA(resource, ref) || !isDue(clock.now(), addDuration(begin, after))) {
          return await kubernetes.get(ref);
        }
        hasFailed = true;
        throw new RetryableError(`get ${resource}: 500`, { reason: 'InternalError' });
      },
    },
  });
  return { of, ports };
}

/** The function's first deletions of that resource are refused. */
export function firstDeletionsFail(of: FunctionName, resource: ResourceName, times: number): FunctionFault {
  let failed = 0;
  const ports: FunctionFault['ports'] = ({ kubernetes }) => ({
    kubernetes: {
      ...methodsOf(kubernetes),
      async delete(ref, options) {
        if (failed >= times || !isA(resource, ref)) return await kubernetes.delete(ref, options);
        failed += 1;
        throw new RetryableError(`delete ${resource}: 500`, { reason: 'InternalError' });
      },
    },
  });
  return { of, ports };
}

/** EC2 refuses to end instances for so long, as one that is protected from termination. */
export function terminationsAreRefused(duration: DurationMs): FunctionFault {
  let begin: EpochMs | undefined;
  const ports: FunctionFault['ports'] = ({ instances, clock }) => ({
    instances: {
      describe: providerID => instances.describe(providerID),
      checkOf: (...args) => instances.checkOf(...args),
      list: () => instances.list(),
      async terminate(providerID) {
        begin ??= clock.now();
        if (isDue(clock.now(), addDuration(begin, duration))) return await instances.terminate(providerID);
        return { kind: 'refused', reason: 'OperationNotPermitted', message: 'it is protected from termination' };
      },
      reboot: providerID => instances.reboot(providerID),
      terminateInAutoScalingGroup: providerID => instances.terminateInAutoScalingGroup(providerID),
    },
  });
  return { of: 'finalizer', ports };
}

/** The answer to the function's first deletion of that resource is lost. */
export function firstDeletionIsUnknown(of: FunctionName, resource: ResourceName): FunctionFault {
  let hasFailed = false;
  const ports: FunctionFault['ports'] = ({ kubernetes }) => ({
    kubernetes: {
      ...methodsOf(kubernetes),
      async delete(ref, options) {
        const outcome = await kubernetes.delete(ref, options);
        if (hasFailed || !isA(resource, ref)) return outcome;
        hasFailed = true;
        throw new RetryableError(`delete ${resource}: connection reset`, { outcomeUnknown: true });
      },
    },
  });
  return { of, ports };
}

/** The bus refuses what the forwarder publishes, once, when so much time has gone by since its first entries. */
export function laterEntriesAreRefused(after: DurationMs): Fault {
  let begin: EpochMs | undefined;
  let hasFailed = false;
  return {
    of: 'forwarder',
    ports: ({ bus, clock }) => ({
      bus: {
        async publish(entries) {
          begin ??= clock.now();
          if (hasFailed || !isDue(clock.now(), addDuration(begin, after))) return await bus.publish(entries);
          hasFailed = true;
          return entries.map(() => ({ kind: 'retry', code: 'InternalFailure' }));
        },
      },
    }),
  };
}
