/** The sample that drain templates are checked and shown with. */
import type { HealthEvent } from '../domain/health-event.ts';

/** Namespace → names of pods. */
export type PodsToDrain = Readonly<Record<string, readonly string[]>>;

/** An event in which every field has a value: what is shown where nobody gives one. */
export const SAMPLE_EVENT: HealthEvent = {
  id: '67204be5d2c3f5a1b8e0c9d4',
  nodeName: 'node-1',
  version: 1,
  agent: 'gpu-health-monitor',
  componentClass: 'GPU',
  checkName: 'GpuMemWatch',
  isFatal: true,
  isHealthy: false,
  message: 'GPU 0 has fallen off the bus',
  recommendedAction: 24,
  customRecommendedAction: '',
  errorCode: ['79'],
  entitiesImpacted: [{ entityType: 'GPU_UUID', entityValue: 'GPU-11111111-2222-3333-4444-555555555555' }],
  metadata: { providerID: 'aws:///us-west-2a/i-0123456789abcdef0' },
  generatedTimestamp: { seconds: 1_730_473_200, nanos: 0 },
  quarantineOverrides: { force: false, skip: false },
  drainOverrides: { force: false, skip: false },
  processingStrategy: 1,
};
export const SAMPLE_PODS: PodsToDrain = { default: ['web-0', 'web-1'], training: ['worker-0'] };
