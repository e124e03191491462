/** Mistakes about what others do for a termination or a clean-up, and about who takes the place of the built-in termination. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { HOOK_ANSWERED } from '../../shared/contract/names.ts';
import { original, withKubernetes, withListed, withRecords, type Mutant } from './mutant.ts';

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
    seed: 94,
    mutation: withKubernetes('finalizer', api => ({
      async create(type, manifest) {
        const outcome = await api.create(type, manifest);
        const isHook = outcome.kind === 'ok' && type.group === HOOKS_GROUP;
        return isHook ? { ...outcome, object: asDone(outcome.object) } : outcome;
      },
    })),
  },
  {
    name: 'hook-resource-forgotten',
    mistake: 'does not remember where the custom resource of a hook is, and so never sees that it is done',
    breaks: ['I5'],
    scenario: 'finalizer-hook-resources.yaml#a-custom-resource-is-made-and-waited-for',
    mutation: withRecords('finalizer', records => ({
      put(record, version) {
        const text = JSON.stringify(record.state, (key, value: unknown) => (key === 'resource' ? undefined : value));
        return records.put({ ...record, state: JSON.parse(text) }, version);
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
  {
    name: 'deaf-to-workers',
    mistake: 'does not listen to the workers that do what a clean-up or a hook asks for',
    breaks: ['I5'],
    scenario: 'finalizer-rule.yaml#an-event-is-answered-by-a-worker',
    mutation: {
      reconcilers: {
        finalizer: deps => {
          const reconcile = original('finalizer')(deps);
          return async message => {
            if (message.kind !== 'busEvent' || message.detailType !== HOOK_ANSWERED) await reconcile(message);
          };
        },
      },
    },
  },
];
