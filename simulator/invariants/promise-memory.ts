/** I12: what a deleted object had promised. A NodePool that went is remembered while something of it is left, and a FinalizerRule while an object carries its finalizer. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import { fieldsOf, dig, listOf, poolNameOf } from './reading.ts';
import type { Fact, MakeMemory } from './stored-fact.ts';

const POOL = 'known-pool/';

const TERMINATION_FIELDS = ['customFinalizerName', 'terminationGracePeriodSeconds'] as const;
const saysAsLast = (state: unknown, last: KubernetesObject | undefined): boolean =>
  TERMINATION_FIELDS.every(field => dig(state, field) === dig(last, 'spec', 'disruption', field));

/** What a NodePool had said of finalizer and grace period. As long as it is there, it may be edited. */
export const poolsThatWent: MakeMemory = ({ mirror }) => ({
  isIn: key => key.startsWith(`finalizer/${POOL}`),
  factsIn({ id, state }) {
    const { schemaVersion: _, ...value } = state;
    const name = id.slice(POOL.length);
    const isOfPool = (resource: 'nodes' | 'nodeclaims'): boolean =>
      [...mirror.all(resource).values()].some(object => poolNameOf(object) === name);
    const referrer = (after: NewRecord | undefined): string | undefined => {
      if (mirror.named('nodepools', name) !== undefined) return undefined;
      // A run may have read the last edit while the NodePool was there, and store it afterwards.
      if (after !== undefined && saysAsLast(after.state, mirror.lastPools().get(name))) return undefined;
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
        // Another rule with the same finalizer takes the entry over.
        return [String(finalizerName), { words: `the clean-up by ${String(rule)}`, referrer }];
      }),
    );
  },
});
