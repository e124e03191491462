/** What differs between the functions: their size, how many run at once, and what they may touch. */
import { SOURCES, type FunctionName } from '../shared/contract/names.ts';
import { DEPLOYED_FUNCTIONS } from '../shared/contract/routes.ts';

export interface FunctionDefinition {
  readonly description: string;
  readonly memoryMiB: number;
  /**
   * Batches in progress at once, set on the event source: it protects the API server. Not reserved concurrency, whose throttling would count as
   * failed receives and which a new account (10 in all) cannot spare; reserved concurrency 0 stays free as the kill switch (docs/runbook.md).
   * SQS takes 2 or more.
   */
  readonly maxConcurrency: number;
  /** Reads and writes its own records (one writer per record type). */
  readonly ownsRecords: boolean;
  /** Queries the due index of all records. */
  readonly readsDueIndex: boolean;
  /** Whose inboxes it sends wake-ups to. */
  readonly wakes: readonly FunctionName[];
  /** Ends and looks at EC2 instances of the cluster. */
  readonly terminatesInstances?: boolean;
  /** The `source` under which it publishes, if it does. */
  readonly publishesAs?: string;
}

const DEFINITIONS: Partial<Record<FunctionName, FunctionDefinition>> = {
  finalizer: {
    description: 'Terminates nodes under a finalizer that the user names',
    memoryMiB: 512,
    maxConcurrency: 10,
    ownsRecords: true,
    readsDueIndex: false,
    wakes: ['finalizer'],
    terminatesInstances: true,
    publishesAs: SOURCES.finalizer,
  },
  repair: {
    description: 'Repairs nodes whose conditions outlast their toleration',
    memoryMiB: 512,
    maxConcurrency: 5,
    ownsRecords: true,
    readsDueIndex: false,
    wakes: ['repair'],
    publishesAs: SOURCES.repair,
  },
  'grace-period': {
    description: 'Holds nodes while pods on them are protected for a limited time',
    memoryMiB: 512,
    maxConcurrency: 10,
    ownsRecords: true,
    readsDueIndex: false,
    wakes: ['grace-period'],
  },
  timer: {
    description: 'Sweeps the due index every minute and wakes the owners of what is due',
    memoryMiB: 512,
    maxConcurrency: 2,
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
