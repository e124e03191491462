/** Where a run that begins in the middle may differ from the one that went on, and why. */
import type { InvariantName } from '../../simulator/invariants/invariant.ts';

/** Calls that come another number of times. A changed rule has its line here, with its reason. */
export const OTHER_CALLS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  // Its intent is in the item, so it may have been made: its outcome is looked for, and it is not made again (I4).
  'v1/finalizer-nodeclaim-06': { 'invoke hooks second-letter-b for nc1': 1 },
  'v1/finalizer-nodeclaim-41': { 'invoke hooks dereg for n': 25 },
  'v1/finalizer-nodeclaim-44': { 'invoke hooks deregister for nc1': 0 },
  'v1/repair-cluster-05': { 'reboot instances aws:///us-west-2a/i-n1': 0 },
  'v1/repair-pool-32': { 'reboot instances aws:///us-west-2a/i-n1': 0 },
  // The node was well for two minutes and has the same boot ID: it is the same illness, in which the reboot was taken.
  'v1/repair-pool-21': { 'reboot instances aws:///us-west-2a/i-n1': 0 },
  // An illness never starts before its Node was made, and this Node is deleted before it is due.
  'v1/repair-concurrent-repairs-05': { 'terminate instances aws:///us-west-2a/i-a1': 0 },
  // The simulated Karpenter finds its NodeClaim terminating, and is faster.
  'v1/finalizer-nodeclaim-36': { 'evict pods prod/web-0': 0 },
};

/** Invariants that judge by what came before, which this run has not seen. */
export const JUDGED_BY_THE_PAST: Readonly<Record<string, readonly InvariantName[]>> = {
  // Who put the finalizer on.
  'v1/finalizer-nodeclaim-13': ['I7'],
  'v1/finalizer-nodeclaim-14': ['I7'],
  // That its clean-up was done.
  'v1/finalizer-object-04': ['I1'],
  // Since when the worker has not answered.
  'v1/finalizer-object-07': ['I5'],
  // That the repair was refused a moment ago.
  'v1/repair-cluster-02': ['I5'],
  'v1/repair-cluster-06': ['I5'],
  'v1/repair-pool-05': ['I5'],
  // That the actions before it were taken.
  'v1/repair-pool-10': ['I3'],
  'v1/repair-pool-11': ['I3'],
  'v1/repair-pool-14': ['I3'],
  'v1/repair-pool-18': ['I3'],
  'v1/repair-pool-20': ['I3'],
  'v1/repair-pool-21': ['I3'],
};

/** What has no item yet is dealt with as ever, beside an item of a later version. */
export const WITHOUT_ITEM: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  // The termination of the other node has not begun.
  'v1/finalizer-nodeclaim-18': {
    'delete nodes n2': 1,
    'evict pods prod/b': 1,
    'terminate instances aws:///us-west-2a/i-n2': 1,
  },
};
