/** Mistakes in which of two policies that select as much decides. */
import { isA, withKubernetes, type Mutant } from './mutant.ts';

/** Of one letter each, `a` becomes `z`: the last by name is the first. */
const mirrored = (name: string): string =>
  name.replaceAll(/[a-z]/gu, letter => String.fromCodePoint(219 - (letter.codePointAt(0) ?? 0)));

export const POLICY_TIE_MUTANTS: readonly Mutant[] = [
  {
    name: 'termination-of-the-last-policy',
    mistake: 'takes the termination block of the last policy by name, where several select as much',
    breaks: ['I1', 'I5'],
    seed: 49,
    mutation: withKubernetes('finalizer', api => ({
      async list(type, query, options) {
        const answer = await api.list(type, query, options);
        if (answer.kind !== 'there' || !isA('NodeLifecyclePolicy', type)) return answer;
        const objects = answer.objects.map(policy => ({
          ...policy,
          metadata: { ...policy.metadata, name: mirrored(policy.metadata.name) },
        }));
        return { kind: 'there', objects };
      },
    })),
  },
];
