/** Observations for tests of the rule, with everything that a test does not name as a plain cluster has it. */
import { NO_DRAINS, type ActiveDrain, type CustomProgress, type DrainRecord } from '../../../functions/drain/record.ts';
import { FULL } from '../../../functions/drain/rule/pods.ts';
import type { DrainRequest, FinishedDrain, Timestamps } from '../../../functions/drain/request-record.ts';
import type {
  DrainedNode,
  DrainObservation,
  DrainConfiguration,
  EndMessage,
  PoliciesInForce,
  PoliciesNotServed,
  ReadyObservation,
  RequestMessage,
} from '../../../functions/drain/rule/observation.ts';
import { compileSettings } from '../../../functions/drain/settings.ts';
import { describeUnderWay } from '../../../functions/drain/rule/node-annotations.ts';
import { formatConfigFaults, parseConfig } from '../../../shared/contract/config-schema.ts';
import { NO_DRAIN_LIMITS } from '../../../shared/domain/drain-limits.ts';
import type { HealthEvent } from '../../../shared/domain/health-event.ts';
import { readPod, type PodView } from '../../../shared/domain/pod.ts';
import { DEFAULT_PROTECTION_POLICY } from '../../../shared/domain/protection.ts';
import { hours, toDurationMs, toEpochMs, type EpochMs } from '../../../shared/domain/time.ts';

export const NOW = toEpochMs(Date.UTC(2024, 10, 1, 15));

export function configurationOf(toml: string): DrainConfiguration {
  const parsed = parseConfig(toml);
  if (!parsed.ok) throw new Error(formatConfigFaults(parsed.faults));
  const settings = parsed.value.drain;
  if (settings === undefined) throw new Error('the configuration says nothing of drains');
  return { settings, ...compileSettings(settings) };
}

export const modes = (mode: string, more = ''): DrainConfiguration =>
  configurationOf(`${more}\n[[userNamespaces]]\nname = "*"\nmode = "${mode}"\n`);

export const CUSTOM = `
[customDrain]
enabled = true
templateFileName = "drain.yaml"
namespace = "nvsentinel"
apiGroup = "nvsentinel.nvidia.com"
version = "v1alpha1"
kind = "DrainRequest"
timeout = "1800"
statusConditionType = "DrainComplete"
statusConditionStatus = "True"
`;

const EVENT: HealthEvent = {
  id: 'e1',
  nodeName: 'n1',
  version: 1,
  agent: 'gpu-health-monitor',
  componentClass: 'GPU',
  checkName: 'GpuMemWatch',
  isFatal: true,
  isHealthy: false,
  message: '',
  recommendedAction: 24,
  customRecommendedAction: '',
  errorCode: [],
  entitiesImpacted: [],
  metadata: {},
  generatedTimestamp: undefined,
  quarantineOverrides: undefined,
  drainOverrides: undefined,
  processingStrategy: 1,
};

export const request = (
  id: string,
  event: Partial<HealthEvent> = {},
  quarantine?: DrainRequest['quarantine'],
): DrainRequest => ({ id, requestedBy: 'm', event: { ...EVENT, ...event, id }, quarantine });

/** A HealthEvent that asks for a drain. @param receivedTime undefined: it has no age */
export const asking = (asked: DrainRequest, receivedTime?: EpochMs): RequestMessage => ({
  kind: 'healthEvent',
  request: asked,
  receivedTime,
});

/** A monitor reports that this fault is over. */
export const recovered = (event: HealthEvent, timestamps?: Timestamps): Extract<EndMessage, { kind: 'recovered' }> => ({
  kind: 'recovered',
  event,
  timestamps,
  drainRequest: undefined,
});

/** A COMPONENT_RESET of GPUs. */
export const reset = (id: string, gpus: readonly string[], quarantine?: DrainRequest['quarantine']): DrainRequest =>
  request(
    id,
    { recommendedAction: 2, entitiesImpacted: gpus.map(entityValue => ({ entityType: 'GPU_UUID', entityValue })) },
    quarantine,
  );

export const active = (given: Partial<ActiveDrain> = {}): ActiveDrain => ({
  id: 'e1',
  requests: [request('e1')],
  scope: { kind: 'full' },
  startTime: NOW,
  force: false,
  phase: { kind: 'draining' },
  cordon: { quarantined: false, by: 'own' },
  warned: [],
  tried: [],
  goneCount: 0,
  drained: 0,
  failedLooks: 0,
  askedEvictions: {},
  reported: '',
  pausedFor: toDurationMs(0),
  returns: [],
  ...given,
});

const NODE: DrainedNode = {
  name: 'n1',
  uid: 'uid-n1',
  kubeletSilentSince: undefined,
  labels: {},
  unschedulable: false,
  cordonMark: undefined,
  quarantine: undefined,
  isReleased: false,
  requestedId: undefined,
  underWay: undefined,
  isWatched: false,
  shownDrain: 'nothing',
};

const NO_POLICIES: PoliciesInForce = {
  kind: 'known',
  mode: 'Enforce',
  unreadable: undefined,
  limits: NO_DRAIN_LIMITS,
  protection: DEFAULT_PROTECTION_POLICY,
  isProtectionOverridden: false,
};

export function observation(
  given: Partial<Omit<DrainObservation, 'kind' | 'record' | 'node' | 'inForce'>> & {
    readonly record?: Partial<DrainRecord>;
    readonly node?: Partial<DrainedNode>;
    readonly inForce?: Partial<PoliciesInForce> | PoliciesNotServed;
  } = {},
): DrainObservation {
  return {
    kind: 'drain',
    now: NOW,
    incoming: undefined,
    configuration: modes('Immediate'),
    maxEventAge: hours(1),
    pods: [],
    poolDrains: undefined,
    resource: { kind: 'notAsked' },
    ...given,
    inForce: given.inForce?.kind === 'notServed' ? given.inForce : { ...NO_POLICIES, ...given.inForce },
    record: { ...NO_DRAINS, ...given.record },
    node: { ...NODE, ...given.node },
  };
}

/** Of a drain that nothing pauses. */
export function readyObservation(given: Parameters<typeof observation>[0] = {}): ReadyObservation {
  const seen = observation(given);
  const { configuration, inForce } = seen;
  if (configuration === undefined || inForce.kind === 'notServed') throw new Error('the drain pauses');
  return { ...seen, configuration, inForce };
}

/** The node as the drain under way needs it. */
export const prepared = (drain: ActiveDrain): Partial<DrainedNode> => ({
  unschedulable: true,
  cordonMark: drain.id,
  isWatched: true,
  underWay: describeUnderWay(drain),
  labels: { 'dgxc.nvidia.com/nvsentinel-state': 'draining' },
});

export const pod = (name: string, given: object = {}, status: object = { phase: 'Running' }): PodView =>
  readPod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'ml',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      creationTimestamp: '2024-11-01T12:00:00Z',
      ...given,
    },
    spec: { nodeName: 'n1' },
    status: { ...status },
  });

/** A drain that has ended, all of its pods. */
export const finished = (id: string, given: Partial<FinishedDrain> = {}): FinishedDrain => ({
  id,
  status: 'Succeeded',
  reason: 'Drained',
  message: '',
  left: [],
  scope: FULL,
  drained: 1,
  startTime: NOW,
  endTime: NOW,
  fault: { agent: 'a', componentClass: 'c', checkName: 'k', entities: [] },
  recovered: false,
  ...given,
});

/** The custom resource of drain e1. */
export const RESOURCE: CustomProgress = {
  group: 'nvsentinel.nvidia.com',
  version: 'v1alpha1',
  resource: 'drainrequests',
  name: 'drain-n1-e1',
  namespace: 'nvsentinel',
  kind: 'DrainRequest',
  uid: 'uid-cr',
  createdTime: NOW,
  recreated: 0,
};
