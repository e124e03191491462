/** One NodeClaim with a Node and an instance, all being deleted, and the context in which a single step of its termination runs. */
import type { StepContext } from '../../../../functions/finalizer/termination/context.ts';
import type { ObservedTermination } from '../../../../functions/finalizer/termination/observe.ts';
import { EMPTY_TERMINATION, type TerminationRecord } from '../../../../functions/finalizer/termination/record.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesManifest } from '../../../../shared/domain/kubernetes-object.ts';
import { addDuration, toEpochMs, type DurationMs } from '../../../../shared/domain/time.ts';
import { createBackoff } from '../../../../shared/lifecycle/refusals.ts';
import { createReporter } from '../../../../shared/lifecycle/reporter.ts';
import type { Instances } from '../../../../shared/ports/instances.ts';
import { createCloud } from '../../../../simulator/cloud.ts';
import { createVirtualTime } from '../../../../simulator/virtual-time.ts';
import { createCluster } from '../../../../simulator/world.ts';
import { finalizerPorts } from '../../../builders/finalizer-ports.ts';

export const PROVIDER_ID = 'aws:///us-west-2a/i-0abc';
/** The deletion of NodeClaim and Node. */
export const DELETED = toEpochMs(Date.UTC(2024, 10, 1, 15));

const NODE = { type: RESOURCES.Node, name: 'n1' };
const CLAIM = { type: RESOURCES.NodeClaim, name: 'c1' };
const GOING = {
  creationTimestamp: '2024-11-01T09:00:00Z',
  deletionTimestamp: '2024-11-01T15:00:00Z',
  finalizers: ['example.com/custom'],
};

export interface StepWorldOptions {
  /** Metadata and spec of the Node, where they are others. */
  readonly node?: { readonly metadata?: JsonObject; readonly spec?: JsonObject } | undefined;
  /** Metadata of the NodeClaim, where it is another one. */
  readonly claim?: { readonly metadata: JsonObject };
  readonly others?: readonly KubernetesManifest[];
  readonly isForced?: boolean;
  readonly instances?: (own: Instances) => Partial<Instances>;
}

/** Each run stands on a look of its own, and remembers nothing of the run before but what is in the record. */
export function createStepWorld(options: StepWorldOptions = {}) {
  const time = createVirtualTime({ start: DELETED });
  const core = createCluster(time);
  const spec = { providerID: PROVIDER_ID, ...options.node?.spec };
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', ...GOING, ...options.node?.metadata }, spec });
  core.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'c1', ...GOING, ...options.claim?.metadata },
    status: { providerID: PROVIDER_ID, nodeName: 'n1' },
  });
  for (const object of options.others ?? []) core.seed(object);
  const cloud = createCloud(time);
  cloud.add(PROVIDER_ID);
  const calls: string[] = [];
  const own = cloud.instances(verb => void calls.push(verb));
  const kubernetes = createInProcessKubernetesApi(core, 'curfew:finalizer');
  const said: string[] = [];
  const deps = {
    ...finalizerPorts(kubernetes, () => time.now(), { audit: { write: ({ reason }) => void said.push(reason) } }),
    instances: { ...own, ...options.instances?.(own) },
  };
  let record: TerminationRecord = EMPTY_TERMINATION;

  /** The context of the turns of one run. */
  function startRun(): () => StepContext {
    const run: StepContext['run'] = {
      ownAttempt: undefined,
      ownHooks: new Set(),
      answers: new Map(),
      backoff: createBackoff(time),
      releasedNodes: new Set(),
      lostRaces: 0,
    };
    return () => {
      const claim = core.get(CLAIM);
      // Pool and record are left out: no single step looks at them there.
      const observed = {
        now: time.now(),
        object: claim,
        claim,
        nodes: [core.get(NODE)],
        sharedWith: [],
        endedWith: undefined,
        providerID: PROVIDER_ID,
        termination: { kind: 'none', mode: 'Enforce', isBraked: false },
      } as Partial<ObservedTermination> as ObservedTermination;
      return {
        deps,
        observed,
        now: time.now(),
        deadline: undefined,
        isForced: options.isForced ?? false,
        finalizerNames: ['example.com/custom'],
        settings: undefined,
        hookOwner: { kind: 'ours' },
        reporter: createReporter('finalizer', deps),
        run,
        record: () => record,
        saveRecord: async change => {
          record = { ...record, ...change };
          return true;
        },
      };
    };
  }

  return {
    startRun,
    core,
    cloud,
    /** Verbs that EC2 has taken. */
    calls,
    /** Reasons of the audit lines. */
    said,
    record: () => record,
    node: () => core.get(NODE),
    claim: () => core.get(CLAIM),
    pass: (duration: DurationMs) => time.runUntil(addDuration(time.now(), duration)),
  };
}
