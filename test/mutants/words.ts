/** Mistakes in which words go ahead of what is done: a write is taken for made, and told. */
import type { FunctionName } from '../../shared/contract/names.ts';
import type { JsonObject, KubernetesObject, ObjectRef } from '../../shared/domain/kubernetes-object.ts';
import { dig, listOf } from '../../simulator/invariants/reading.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { isA, withKubernetes, withPorts, type Mutant, type ResourceName } from './mutant.ts';

/** The function that believes that these patches were made. They are not sent. */
const believingPatches = (
  name: FunctionName,
  resource: ResourceName,
  isSuch: (body: JsonObject, before: readonly unknown[]) => boolean,
): Mutation =>
  withKubernetes(name, api => ({
    async patch(ref, patch, options) {
      const seen = isA(resource, ref) && patch.type === 'merge' ? await api.get(ref) : undefined;
      if (seen?.kind !== 'there' || patch.type !== 'merge') return await api.patch(ref, patch, options);
      const { object } = seen;
      return isSuch(patch.body, object.metadata.finalizers ?? [])
        ? { kind: 'ok', object }
        : await api.patch(ref, patch, options);
    },
  }));

const finalizersOf = (body: JsonObject): readonly unknown[] => listOf(dig(body, 'metadata', 'finalizers'));

const cordoned = (node: KubernetesObject): KubernetesObject => ({
  ...node,
  spec: { ...node.spec, unschedulable: true },
});

/** Custom resources, not Events. */
const isRequest = (what: ObjectRef | ObjectRef['type']): boolean => ('type' in what ? what.type : what).group !== '';

export const WORD_MUTANTS: readonly Mutant[] = [
  {
    name: 'says-that-a-node-is-cordoned',
    mistake: 'says that a node is cordoned and waits, and has only marked it',
    breaks: ['I9'],
    scenario: 'drain-limits.yaml#drain-limits-one-after-the-other',
    mutation: withKubernetes('drain', api => ({
      async get(ref) {
        const answer = await api.get(ref);
        if (answer.kind !== 'there' || !isA('Node', ref)) return answer;
        const isMarked = dig(answer.object, 'metadata', 'annotations', 'curfew.dev/cordoned-by-drain') !== undefined;
        return { kind: 'there', object: isMarked ? cordoned(answer.object) : answer.object };
      },
      async patch(ref, patch, options) {
        if (patch.type !== 'merge' || dig(patch.body, 'spec', 'unschedulable') !== true)
          return await api.patch(ref, patch, options);
        const { spec: _, ...body } = patch.body;
        return await api.patch(ref, { type: 'merge', body }, options);
      },
    })),
  },
  {
    name: 'says-that-a-cordon-is-taken-back',
    mistake: 'says that nothing keeps a node any more, whose cordon and mark stay',
    breaks: ['I9'],
    seed: 96,
    scenario: 'drain-recoveries.yaml#drain-recoveries-after-days',
    mutation: believingPatches('drain', 'Node', body => dig(body, 'spec', 'unschedulable') === null),
  },
  {
    name: 'says-that-it-reboots',
    mistake: 'says that a reboot has begun, and has not asked EC2 for it',
    breaks: ['I9'],
    seed: 100033,
    scenario: 'repair-reboot-called-off.yaml#repair-reboot-under-a-veto',
    mutation: withPorts('repair', ({ instances }) => ({
      instances: {
        describe: providerID => instances.describe(providerID),
        checkOf: (providerID, check) => instances.checkOf(providerID, check),
        list: () => instances.list(),
        terminate: providerID => instances.terminate(providerID),
        terminateInAutoScalingGroup: providerID => instances.terminateInAutoScalingGroup(providerID),
        reboot: async () => ({ kind: 'ok' }),
      },
    })),
  },
  {
    name: 'says-that-it-lets-a-node-go',
    mistake: 'says that the last protection on a node has ended, and leaves its annotation on',
    breaks: ['I9'],
    seed: 1,
    scenario: 'do-not-disrupt-clock.yaml#do-not-disrupt-clock-of-the-design',
    mutation: believingPatches(
      'grace-period',
      'Node',
      body => dig(body, 'metadata', 'annotations', 'karpenter.sh/do-not-disrupt') === null,
    ),
  },
  {
    name: 'says-that-it-holds-a-node',
    mistake: 'says that it holds a node for its protected pods, and has not put its annotation on',
    breaks: ['I9'],
    seed: 1,
    scenario: 'do-not-disrupt-clock.yaml#do-not-disrupt-clock-of-the-design',
    mutation: believingPatches(
      'grace-period',
      'Node',
      body => dig(body, 'metadata', 'annotations', 'karpenter.sh/do-not-disrupt') === 'true',
    ),
  },
  {
    name: 'says-that-a-replacement-takes-its-place',
    mistake: 'says that the replacement takes the place of a node, and leaves its taint on',
    breaks: ['I9'],
    scenario: 'repair-replaces-first.yaml#repair-replace-then-terminate',
    mutation: believingPatches('repair', 'Node', body => Array.isArray(dig(body, 'spec', 'taints'))),
  },
  {
    name: 'says-that-a-finalizer-is-on',
    mistake: 'says that its finalizer is on a NodeClaim or Node, and has not put it on',
    breaks: ['I9'],
    seed: 5,
    scenario: 'finalizer-custom-termination.yaml#finalizer-is-put-on-and-its-termination-carried-out',
    mutation: believingPatches('finalizer', 'NodeClaim', (body, has) => finalizersOf(body).length > has.length),
  },
  {
    name: 'says-that-a-finalizer-is-off',
    mistake: 'says that a termination is over and its finalizer off, which is still on',
    breaks: ['I9'],
    seed: 5,
    scenario: 'finalizer-custom-termination.yaml#finalizer-is-put-on-and-its-termination-carried-out',
    mutation: believingPatches('finalizer', 'NodeClaim', (body, has) => finalizersOf(body).length < has.length),
  },
  {
    name: 'says-that-it-asks-by-custom-resource',
    mistake: 'says that a custom resource asks for the drain, and has not made it',
    breaks: ['I9'],
    seed: 96,
    scenario: 'drain-custom-ends.yaml#drain-custom-fails',
    mutation: withKubernetes('drain', api => ({
      async create(type, manifest) {
        if (!isRequest(type)) return await api.create(type, manifest);
        const { name = '', ...metadata } = manifest.metadata;
        const uid = `uid-of-${name}`;
        const made = { ...metadata, name, uid, resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' };
        return { kind: 'ok', object: { ...manifest, metadata: made } };
      },
    })),
  },
  {
    name: 'says-that-it-asks-nobody-any-more',
    mistake: 'says that the drain is no longer left to the custom resource, which it has not deleted',
    breaks: ['I9'],
    seed: 138,
    scenario: 'drain-custom-ends.yaml#drain-custom-fails-over-to-a-mode',
    mutation: withKubernetes('drain', api => ({
      delete: async (ref, options) => (isRequest(ref) ? { kind: 'ok' } : await api.delete(ref, options)),
    })),
  },
];
