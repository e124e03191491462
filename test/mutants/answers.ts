/** Mistakes about what an answer of the API server says, and about how much one failure holds. */
import { KNOWN_POOLS } from '../../shared/contract/table.ts';
import { notServedText } from '../../shared/cluster/not-served.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import { messageOf, RetryableError } from '../../shared/errors.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import {
  isA,
  methodsOf,
  withKubernetes,
  withoutFirstRecord,
  withPortsOfRun,
  withRecords,
  type Mutant,
  type ResourceName,
} from './mutant.ts';

/** The function that takes "not served" of this kind for "there is none". */
const withoutNotServed = (name: FunctionName, resource: ResourceName): Mutation =>
  withKubernetes(name, api => ({
    async get(ref) {
      const answer = await api.get(ref);
      return answer.kind === 'notServed' && isA(resource, ref) ? { kind: 'notThere' } : answer;
    },
    async list(type, query, options) {
      const answer = await api.list(type, query, options);
      return answer.kind === 'notServed' && isA(resource, type) ? { kind: 'there', objects: [] } : answer;
    },
  }));

const omit = (state: NewRecord['state'], name: string): NewRecord['state'] =>
  Object.fromEntries(Object.entries(state).filter(([key]) => key !== name));

/** The function that takes policies that are not served for a list that failed. */
const withPolicyListFailing = (name: FunctionName): Mutation =>
  withKubernetes(name, api => ({
    async list(type, query, options) {
      const answer = await api.list(type, query, options);
      if (answer.kind === 'notServed') throw new RetryableError(`listing ${type.resource}`, { reason: 'NotServed' });
      return answer;
    },
  }));

/** The function that makes each eviction after the one before, and none after one that was not answered. */
const withEvictionsInARow = (name: FunctionName): Mutation =>
  withPortsOfRun(name, ({ kubernetes }) => {
    let last = Promise.resolve();
    const evict: typeof kubernetes.evict = async (ref, options) => {
      const before = last;
      const own = before.then(() => kubernetes.evict(ref, options));
      last = own.then(() => undefined);
      last.catch(() => undefined);
      return await own;
    };
    return { kubernetes: { ...methodsOf(kubernetes), evict } };
  });

/** A failure that ends the whole run: what is no answer of the API server goes up. */
const goesUp =
  (isMeant: boolean) =>
  (error: unknown): never => {
    if (isMeant && error instanceof RetryableError) throw new Error(messageOf(error));
    throw error;
  };

const NOT_SERVED = 'kinds-not-served.yaml';
const ONE_FAILURE = 'one-failure-holds-one-thing.yaml';

export const ANSWER_MUTANTS: readonly Mutant[] = [
  {
    name: 'not-served-closes-a-termination',
    mistake: 'takes a NodeClaim that is not served for one that is gone, and closes its termination',
    breaks: ['I6'],
    scenario: `${NOT_SERVED}#node-claims-not-served`,
    mutation: withoutNotServed('finalizer', 'NodeClaim'),
  },
  {
    name: 'not-served-releases-a-node',
    mistake: 'takes a Node whose NodeClaim is not served for one that has none',
    breaks: ['I1', 'I2', 'I6'],
    scenario: `${NOT_SERVED}#a-node-whose-node-claim-is-not-served`,
    mutation: withoutNotServed('finalizer', 'NodeClaim'),
  },
  {
    name: 'not-served-enforces',
    mistake: 'takes policies that are not served for no policies, whose mode is Enforce',
    breaks: ['I6'],
    scenario: `${NOT_SERVED}#policies-not-served`,
    mutation: withoutNotServed('drain', 'NodeLifecyclePolicy'),
  },
  {
    name: 'not-served-sends-messages-back',
    mistake: 'sends a message back that cannot be judged while policies are not served: a later one overtakes it',
    breaks: ['I7'],
    scenario: `${NOT_SERVED}#news-of-a-node-while-policies-are-not-served`,
    mutation: withPolicyListFailing('drain'),
  },
  {
    name: 'not-served-lets-time-outs-run-on',
    mistake: 'counts the time for which nothing could be judged as time that a pod had to end',
    breaks: ['I8'],
    scenario: `${NOT_SERVED}#time-outs-stand-still-while-policies-are-not-served`,
    mutation: withRecords('drain', records => ({
      put: (record, version) => records.put({ ...record, state: omit(record.state, 'heldSince') }, version),
    })),
  },
  {
    name: 'not-served-forgets-a-deletion',
    mistake: 'remembers nothing of a NodeClaim that is deleted while policies are not served',
    breaks: ['I5'],
    scenario: `${NOT_SERVED}#a-node-claim-deleted-while-policies-are-not-served`,
    mutation: withoutFirstRecord('finalizer'),
  },
  {
    name: 'not-served-write-finds-nothing',
    mistake: 'takes a patch that answers 404 for the kind for one of an object that is gone',
    breaks: ['I5', 'I9'],
    scenario: `${NOT_SERVED}#a-write-to-a-kind-that-is-not-served`,
    mutation: withKubernetes('finalizer', api => ({
      async patch(ref, patch, options) {
        const answer = await api.patch(ref, patch, options).catch(notServedText);
        return typeof answer === 'string' ? { kind: 'notFound' } : answer;
      },
    })),
  },
  {
    name: 'one-failed-eviction-ends-the-pass',
    mistake: 'evicts no other pod once an eviction has failed',
    breaks: ['I5'],
    scenario: `${ONE_FAILURE}#one-eviction-fails`,
    mutation: withEvictionsInARow('drain'),
  },
  {
    name: 'one-refused-eviction-holds-the-others',
    mistake: 'ends the pass of a termination with the first eviction that is refused',
    breaks: ['I5'],
    scenario: `${ONE_FAILURE}#a-deadline-ends-what-fails`,
    mutation: withEvictionsInARow('finalizer'),
  },
  {
    name: 'deadline-waits-for-a-pod',
    mistake: 'ends no instance past its deadline while the deletion of a pod fails',
    breaks: ['I5', 'I8'],
    scenario: `${ONE_FAILURE}#a-deadline-ends-what-fails`,
    mutation: withKubernetes('finalizer', api => ({
      delete: (ref, options) => api.delete(ref, options).catch(goesUp(isA('Pod', ref))),
    })),
  },
  {
    name: 'deadline-waits-for-a-taint',
    mistake: 'ends no instance past its deadline while its Node cannot be changed',
    breaks: ['I5', 'I8'],
    seed: 65,
    scenario: `${ONE_FAILURE}#a-deadline-waits-for-no-taint`,
    mutation: withKubernetes('finalizer', api => ({
      patch: (ref, patch, options) => api.patch(ref, patch, options).catch(goesUp(isA('Node', ref))),
    })),
  },
  {
    name: 'deadline-waits-for-attachments',
    mistake: 'ends no instance past its deadline before it has read which volumes are attached',
    breaks: ['I5', 'I8'],
    seed: 15,
    scenario: `${ONE_FAILURE}#a-deadline-ends-what-fails`,
    mutation: withKubernetes('finalizer', api => ({
      list: (type, query, options) => api.list(type, query, options).catch(goesUp(isA('VolumeAttachment', type))),
    })),
  },
  {
    name: 'nodepool-that-went-forgotten',
    mistake: 'forgets what a NodePool had granted to the pods on its nodes when it goes',
    breaks: ['I2'],
    scenario: 'nodepool-deleted.yaml#the-protection-of-a-nodepool-that-went',
    mutation: withRecords('drain', records => ({
      get: async key => (key.id.startsWith(KNOWN_POOLS.idPrefix) ? undefined : await records.get(key)),
    })),
  },
];
