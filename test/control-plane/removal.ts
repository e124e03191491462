/**
 * How long a definition or a namespace may take to go. kube-apiserver looks for objects of a deleted definition every 5 s for a minute.
 * If it still sees some then, for instance in a cache that was replaced meanwhile, it begins again; on a busy machine more than once.
 */
export const REMOVAL = '--timeout=300s';
/** Of a test that waits for one. */
export const REMOVAL_TEST = { timeout: 330_000 };
