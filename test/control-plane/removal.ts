/**
 * How long a definition or a namespace may take to go. kube-apiserver looks for objects of a deleted definition every 5 s for a minute.
 * If it still sees some then, for instance in a cache that was replaced meanwhile, it begins again.
 */
export const REMOVAL = '--timeout=150s';
/** Of a test that waits for one. */
export const REMOVAL_TEST = { timeout: 180_000 };
