/**
 * Where the embedded API server is known to answer otherwise than kube-apiserver. The contract asserts both answers under the id, so
 * an entry that stops being true fails; `docs/internals/embedded-api-server.md` lists each id; `npm run test:control-plane` prints them.
 */
export interface Difference {
  readonly id: string;
  readonly what: string;
  readonly why: string;
}

export const DIFFERENCES = [
  {
    id: 'list-at-exact-version',
    what: 'A list at exactly an old resourceVersion is answered with 410, as if it were compacted.',
    why: 'Only the current state is kept; Curfew and its clients list the newest.',
  },
  {
    id: 'unknown-fields-of-built-in-kinds',
    what: 'Unknown fields of built-in kinds are kept, and fieldValidation=Strict does not see them.',
    why: 'Built-in kinds have no schema here; custom resources are pruned and checked by theirs.',
  },
  {
    id: 'rules-of-built-in-kinds',
    what: 'Most rules of built-in kinds are not checked: a pod without containers, a budget with both limits, a pod that moves.',
    why: 'Only what Curfew depends on is: metadata, taints, the providerID, Leases, Events, definitions.',
  },
  {
    id: 'defaults-of-built-in-kinds',
    what: 'Built-in kinds get few defaults: no tolerations, no settings of containers, no fields that Go writes as null or zero.',
    why: 'No scheduler and no kubelet stands behind this server that would read them.',
  },
  {
    id: 'empty-maps-of-built-in-kinds',
    what: 'An empty map of a built-in kind (`data: {}`) is kept where kube-apiserver leaves it out.',
    why: 'Which maps Go leaves out stands in the types of each kind, which are not modelled here.',
  },
  {
    id: 'rules-that-do-not-compile',
    what: 'A definition whose CEL rule does not compile, or costs too much, is accepted; what cannot be run is skipped with a warning.',
    why: 'The CEL implementation here cannot tell a wrong rule from one that uses a function it lacks.',
  },
  {
    id: 'types-in-an-apply',
    what: 'A server-side apply whose field has the wrong type is refused with 422 by validation; kube-apiserver answers 500 before.',
    why: 'The schema of an apply knows how values merge, not their types; the refusal is the same for who applies.',
  },
  {
    id: 'definitions-go-at-once',
    what: 'A deleted definition and its objects are gone with the answer, a Status; kube-apiserver holds it by a finalizer for a moment.',
    why: 'There is no controller here that would remove the objects later.',
  },
] as const satisfies readonly Difference[];

export type DifferenceId = (typeof DIFFERENCES)[number]['id'];
