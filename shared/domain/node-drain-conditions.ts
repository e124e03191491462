/**
 * Conditions of a Node about its drain, in the names of Kubernetes 1.37. A condition is Curfew's by its reason, and never a sign that the node
 * is unhealthy.
 */
import type { NodeCondition } from './node.ts';

/** `True` while a drain is under way. */
export const DRAIN_IN_PROGRESS = 'DrainInProgress';
/** `True` once a drain has emptied the node, until it is opened. */
export const DRAINED = 'Drained';

/** With it begins the reason of each condition that Curfew writes on a Node. */
export const OWN_REASON = 'Curfew';

/** Whether Curfew wrote the condition. */
export const isOwnCondition = ({ reason }: Pick<NodeCondition, 'reason'>): boolean => reason.startsWith(OWN_REASON);
