/** What repair is asked to look at, and what it finds there. Types only. */
import type { Configuration } from '../../shared/cluster/read-configuration.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { Owner } from '../../shared/domain/node-owner.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { Held } from '../../shared/lifecycle/record-codec.ts';
import type { TimedRecord } from '../../shared/lifecycle/timed-record.ts';
import type { PolicySet } from '../../shared/policies/policy-set.ts';
import type { RepairRules } from './decide.ts';
import type { Episode } from './incident.ts';
import type { NodeRecord } from './record.ts';

/** The rules of a pool, and where they come from. */
export interface PoolRules {
  readonly rules: RepairRules;
  readonly pool: KubernetesObject | undefined;
  /** The same, or as it was before it went: what it granted to pods still holds. */
  readonly known: KubernetesObject | undefined;
  readonly policies: PolicySet;
  readonly config: Configuration;
}

/** The node to look at, and why. */
export interface NodeTarget {
  readonly name: string;
  readonly uid?: string | undefined;
  /** What made us look: the node changed, something around it did, or a timer. */
  readonly cause: 'node' | 'surroundings' | 'timer';
  /** The pool of the NodeClaim that changed, if that was it: a pass of it is asked for, too. */
  readonly pool?: string | undefined;
  /** The event says that nothing changed that a healthy node without a record would be looked at for. */
  readonly isCalm?: boolean;
  /** The event says that the node is gone: without a record there is nothing to close. */
  readonly onlyIfKnown?: boolean;
}

/** The Node is there. */
export interface Here {
  readonly kind: 'here';
  readonly object: KubernetesObject;
  readonly node: NodeView;
  readonly record: TimedRecord<NodeRecord>;
  readonly held: NodeRecord | undefined;
  readonly pool: string | undefined;
  readonly owner: Owner;
  readonly rules: PoolRules;
  readonly episodes: readonly Episode[];
  readonly now: EpochMs;
}
/** It is not, and a record of it is left. */
export type Gone = {
  readonly kind: 'gone';
  readonly record: TimedRecord<NodeRecord>;
  readonly held: Extract<Held<NodeRecord>, { kind: 'held' }>;
};
