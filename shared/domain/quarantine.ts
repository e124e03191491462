/** The label by which NVSentinel and Curfew show how far quarantine, drain and remediation of a node are. */
export const STATE_LABEL = 'dgxc.nvidia.com/nvsentinel-state';

/** On a Node: JSON list of the HealthEvents that keep it quarantined. */
export const QUARANTINE_ANNOTATION = 'quarantineHealthEvent';

/** Whether NVSentinel quarantines the Node by its cordon, whoever has set that: to uncordon it would end the quarantine. */
export const isQuarantinedByCordon = (annotations: Readonly<Record<string, string>>): boolean =>
  annotations['quarantineHealthEventIsCordoned'] === 'True';

/** The values that a drain writes. */
export const DRAIN_STATES = { draining: 'draining', succeeded: 'drain-succeeded', failed: 'drain-failed' } as const;
/** Whether a drain writes this value of the label. */
export const isDrainState = (state: string | undefined): boolean =>
  Object.values<string | undefined>(DRAIN_STATES).includes(state);
/** Quarantined, and not drained yet. */
const QUARANTINED = 'quarantined';
/** Remediation is under way on the node: a drain does not overwrite it. */
export const REMEDIATING = 'remediating';

/** The label's value on a node once no drain writes it; undefined: none. */
export const stateWithoutDrain = (annotations: Readonly<Record<string, string>> = {}): string | undefined =>
  annotations[QUARANTINE_ANNOTATION] === undefined ? undefined : QUARANTINED;
