/** Mistakes in custom drains. */
import { decide } from '../../functions/drain/decide.ts';
import { createReconciler } from '../../functions/drain/route.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import { hours } from '../../shared/domain/time.ts';
import { textOf } from '../../simulator/invariants/reading.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { deciding, seeing, withConfiguration } from './drain-mutations.ts';
import { isA, methodsOf, withKubernetes, type Mutant } from './mutant.ts';

/** Texts of the event are put into the template before it is rendered: they are read as its own. */
const pastingMessages: Mutation = {
  reconcilers: {
    drain(deps) {
      const messages: string[] = [];
      const { kubernetes } = deps;
      const paste = (text: string): string => text.replace('{{ .HealthEvent.Message }}', messages.at(-1) ?? '');
      const reconcile = createReconciler({
        ...deps,
        kubernetes: {
          ...methodsOf(kubernetes),
          async get(ref) {
            const answer = await kubernetes.get(ref);
            if (answer.kind !== 'there' || !isA('ConfigMap', ref)) return answer;
            const { data } = answer.object;
            if (!isJsonObject(data)) return answer;
            const pasted = Object.entries(data).map(([key, text]) => [key, paste(textOf(text) ?? '')]);
            return { kind: 'there', object: { ...answer.object, data: Object.fromEntries(pasted) } };
          },
        },
      });
      return message => {
        if (message.kind === 'busEvent') messages.push(textOf(message.detail['message']) ?? '');
        return reconcile(message);
      };
    },
  },
};

export const DRAIN_CUSTOM_MUTANTS: readonly Mutant[] = [
  {
    name: 'drain-pastes-texts-into-its-template',
    mistake: 'lets a text of the event become a field of the custom resource',
    breaks: ['I8'],
    scenario: 'drain-template-injected.yaml#drain-template-injected',
    mutation: pastingMessages,
  },
  {
    name: 'custom-drain-follows-the-label',
    mistake: 'forgets that the custom resource was asked for once the node loses its label',
    breaks: ['I2'],
    scenario: 'drain-custom-stays.yaml#drain-custom-stays',
    mutation: deciding((decision, seen) => {
      const isLost =
        seen.kind === 'drain' &&
        seen.configuration?.settings.customDrain !== undefined &&
        !seen.configuration.isCustom(seen.node.labels);
      const { active } = seen.record;
      if (!isLost || active?.phase.kind !== 'custom') return decision;
      return decide({ ...seen, record: { ...seen.record, active: { ...active, phase: { kind: 'draining' } } } });
    }),
  },
  {
    name: 'drain-beside-the-custom-one',
    mistake: 'evicts pods that the custom drain is to end',
    breaks: ['I2'],
    seed: 54,
    mutation: withConfiguration(configuration => ({
      ...configuration,
      isCustom: () => false,
      modeOf: () => 'Immediate',
    })),
  },
  {
    name: 'drain-of-a-foreign-resource',
    mistake: 'takes a custom resource of its name for its own',
    breaks: ['I7'],
    seed: 86,
    mutation: seeing(seen =>
      seen.resource.kind === 'present' ? { ...seen, resource: { ...seen.resource, isOurs: true } } : seen,
    ),
  },
  {
    name: 'drain-leaves-its-resource',
    mistake: 'does not delete the custom resource when the drain is over',
    breaks: ['I5', 'I9'],
    seed: 29,
    mutation: withKubernetes('drain', api => ({
      delete: (ref, options) =>
        ref.type.resource === 'drainrequests' ? Promise.resolve({ kind: 'ok' }) : api.delete(ref, options),
    })),
  },
  {
    name: 'drain-waits-for-ever',
    mistake: 'does not enforce the time-out of a custom drain',
    breaks: ['I5'],
    seed: 26,
    scenario: 'drain-custom-ends.yaml#drain-custom-fails-out-of-time',
    mutation: withConfiguration(configuration => {
      const { customDrain } = configuration.settings;
      if (customDrain === undefined) return configuration;
      return {
        ...configuration,
        settings: { ...configuration.settings, customDrain: { ...customDrain, timeout: hours(24) } },
      };
    }),
  },
];
