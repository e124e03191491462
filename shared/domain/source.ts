/** `source` values of events on the bus by which a rule knows who asks. */
export const REPAIR_SOURCE = 'curfew.repair';
export const FINALIZER_SOURCE = 'curfew.finalizer';
/** A person, by the command line. */
export const OPERATOR_SOURCE = 'curfew.operator';

/** The UID of the node that a request of repair is about: the id begins with it (`functions/repair/node/rule/attempt.ts`). */
export const nodeOfRequest = (requestId: string): string | undefined => /^(.+)\.\d+$/.exec(requestId)?.[1];
