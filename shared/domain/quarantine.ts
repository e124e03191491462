/** The label by which NVSentinel and Curfew show how far quarantine, drain and remediation of a node are (reference on NVSentinel, §5.1). */
export const STATE_LABEL = 'dgxc.nvidia.com/nvsentinel-state';

/** The values that a drain writes. */
export const DRAIN_STATES = { draining: 'draining', succeeded: 'drain-succeeded', failed: 'drain-failed' } as const;
/** Quarantined, and not drained yet. */
export const QUARANTINED = 'quarantined';
/** Somebody is at work on the node: a drain does not write over it. */
export const REMEDIATING = 'remediating';
