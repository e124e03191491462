/** Mistakes about hooks that are custom resources, and about who takes the place of the built-in termination. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { withKubernetes, withListed, type Mutant } from './mutant.ts';

const HOOKS_GROUP = 'network.example.com';

const asDone = (object: KubernetesObject): KubernetesObject => ({
  ...object,
  status: { ...object.status, conditions: [{ type: 'Done', status: 'True' }] },
});

const withoutReplacing = (policy: KubernetesObject): KubernetesObject =>
  JSON.stringify(policy.spec?.['termination']).includes('"Replace"')
    ? { ...policy, spec: { ...policy.spec, termination: undefined } }
    : policy;

export const HOOK_RESOURCE_MUTANTS: readonly Mutant[] = [
  {
    name: 'hook-resource-not-waited-for',
    mistake: 'makes the custom resource of a hook, and takes it for done',
    breaks: ['I1'],
    scenario: 'finalizer-hook-resources.yaml#a-custom-resource-is-made-and-waited-for',
    seed: 19,
    mutation: withKubernetes('finalizer', api => ({
      async create(type, manifest) {
        const outcome = await api.create(type, manifest);
        const isHook = outcome.kind === 'ok' && type.group === HOOKS_GROUP;
        return isHook ? { ...outcome, object: asDone(outcome.object) } : outcome;
      },
    })),
  },
  {
    name: 'hands-off-what-it-replaces',
    mistake: 'leaves nodes alone where its finalizer takes the place of the built-in one',
    breaks: ['I5'],
    seed: 88,
    mutation: withListed('finalizer', 'NodeLifecyclePolicy', withoutReplacing),
  },
];
