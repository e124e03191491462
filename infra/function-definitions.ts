/** What differs between the functions, one row each: their size, how many run at once, and what they may touch. A new function is one more row. */
import type { FunctionName } from '../shared/contract/names.ts';
import { DEPLOYED_FUNCTIONS } from '../shared/contract/routes.ts';

export interface FunctionDefinition {
  readonly description: string;
  readonly memoryMiB: number;
  /**
   * Batches in progress at once, set on the event source: it protects the API server. Not reserved concurrency, whose throttling would count as
   * failed receives and which a new account (10 in all) cannot spare. SQS takes 2 or more.
   */
  readonly maxConcurrency: number;
  /** Calls the API server; its access is then probed every minute. */
  readonly callsKubernetes: boolean;
  /** Reads and writes its own records (one writer per record type). */
  readonly ownsRecords: boolean;
  /** Queries the due index of all records. */
  readonly readsDueIndex: boolean;
  /** Whose inboxes it sends wake-ups to. */
  readonly wakes: readonly FunctionName[];
  /** The `source` under which it publishes, if it does. */
  readonly publishesAs?: string;
}

const DEFINITIONS: Partial<Record<FunctionName, FunctionDefinition>> = {
  repair: {
    description: 'Repairs nodes whose conditions outlast their toleration',
    memoryMiB: 512,
    maxConcurrency: 5,
    callsKubernetes: true,
    ownsRecords: true,
    readsDueIndex: false,
    wakes: ['repair'],
  },
  'grace-period': {
    description: 'Holds nodes while pods on them are protected for a limited time',
    memoryMiB: 512,
    maxConcurrency: 10,
    callsKubernetes: true,
    ownsRecords: true,
    readsDueIndex: false,
    wakes: ['grace-period'],
  },
  timer: {
    description: 'Sweeps the due index every minute and wakes the owners of what is due',
    memoryMiB: 512,
    maxConcurrency: 2,
    callsKubernetes: false,
    ownsRecords: false,
    readsDueIndex: true,
    wakes: DEPLOYED_FUNCTIONS.filter(name => name !== 'timer'),
  },
};

/** Throws when a function is deployed that nobody has described. */
export function definitionOf(name: FunctionName): FunctionDefinition {
  const definition = DEFINITIONS[name];
  if (definition === undefined) throw new Error(`function ${name} is deployed but has no definition`);
  return definition;
}
