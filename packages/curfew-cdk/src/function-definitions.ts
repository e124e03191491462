/** What differs between the functions, one row each: their size and how many run at once. What they may touch: `shared/contract/permissions.ts`. */
import { MAX_CONCURRENCY } from '../../../shared/contract/inbox.ts';
import type { FunctionName } from '../../../shared/contract/names.ts';

export interface FunctionDefinition {
  readonly description: string;
  readonly memoryMiB: number;
  /**
   * Batches in progress at once, set on the event source: it protects the API server. Not reserved concurrency, whose throttling would count as
   * failed receives and which a new account (10 in all) cannot spare. SQS takes 2 or more.
   */
  readonly maxConcurrency: number;
}

/** The definitions of all functions: one without a row does not compile. */
export const FUNCTION_DEFINITIONS: Readonly<Record<FunctionName, FunctionDefinition>> = {
  finalizer: {
    description: 'Terminates nodes under a finalizer that the user names',
    memoryMiB: 512,
    maxConcurrency: MAX_CONCURRENCY,
  },
  drain: {
    description: 'Drains nodes that a health event or a request names',
    memoryMiB: 512,
    maxConcurrency: MAX_CONCURRENCY,
  },
  repair: {
    description: 'Repairs nodes whose conditions outlast their toleration',
    memoryMiB: 512,
    maxConcurrency: 5,
  },
  'grace-period': {
    description: 'Holds nodes while pods on them are protected for a limited time',
    memoryMiB: 512,
    maxConcurrency: MAX_CONCURRENCY,
  },
  timer: {
    description: 'Sweeps the due index every minute and wakes the owners of what is due',
    memoryMiB: 512,
    maxConcurrency: 2,
  },
};
