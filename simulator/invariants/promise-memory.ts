/** I12: what a deleted object had promised. A NodePool that went is remembered while something of it is left, and a FinalizerRule while an object carries its finalizer. */
import { fieldsOf, dig, listOf, poolNameOf } from './reading.ts';
import type { Fact, MakeMemory } from './stored-fact.ts';

const POOL = 'known-pool/';

/** What a NodePool had said of finalizer and grace period. As long as it is there, it may be edited. */
export const poolsThatWent: MakeMemory = ({ mirror }) => ({
  isIn: key => key.startsWith(`finalizer/${POOL}`),
  factsIn({ id, state }) {
    const { schemaVersion: _, ...value } = state;
    const name = id.slice(POOL.length);
    const isOfPool = (resource: 'nodes' | 'nodeclaims'): boolean =>
      [...mirror.all(resource).values()].some(object => poolNameOf(object) === name);
    const referrer = (): string | undefined => {
      if (mirror.named('nodepools', name) !== undefined) return undefined;
      return isOfPool('nodes') || isOfPool('nodeclaims') ? 'it is gone, and some of its nodes are left' : undefined;
    };
    return new Map([[JSON.stringify(value), { words: `what NodePool ${name} had said`, referrer }]]);
  },
});

/** That the finalizer of a rule stands for a clean-up. */
export const finalizersOfFinalizerRules: MakeMemory = ({ current }) => ({
  isIn: key => key.startsWith('finalizer/object/'),
  factsIn({ subject: { apiVersion, kind, namespace, name, uid = '' }, state }) {
    const entries = [state, ...Object.values(fieldsOf(dig(state, 'others')))];
    return new Map(
      entries.map((entry): [string, Fact] => {
        const { rule, finalizerName } = fieldsOf(entry);
        const metadata = {
          name,
          uid,
          resourceVersion: '',
          creationTimestamp: '',
          ...(namespace !== undefined && { namespace }),
        };
        const referrer = (): string | undefined => {
          const object = current({ apiVersion, kind, metadata });
          const isOn = listOf(object?.metadata.finalizers).includes(finalizerName);
          return isOn ? `${kind} ${name} still carries its finalizer` : undefined;
        };
        return [`${String(rule)} ${String(finalizerName)}`, { words: `the clean-up by ${String(rule)}`, referrer }];
      }),
    );
  },
});
