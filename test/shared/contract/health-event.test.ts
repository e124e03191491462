import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHealthEvent, type HealthEventMessage } from '../../../shared/contract/health-event.ts';

function read(detail: unknown, envelopeId?: string): HealthEventMessage {
  const parsed = parseHealthEvent(detail, envelopeId);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

const FLAT = {
  version: 1,
  agent: 'gpu-health-monitor',
  componentClass: 'GPU',
  checkName: 'SysLogsXIDError',
  isFatal: true,
  isHealthy: false,
  message: 'kernel: NVRM: Xid (PCI:0000:3b:00): 79, "fallen off the bus"',
  recommendedAction: 'RESTART_BM',
  errorCode: ['79'],
  entitiesImpacted: [{ entityType: 'GPU_UUID', entityValue: 'GPU-1' }],
  metadata: { providerID: 'aws:///us-west-2a/i-0abc', node_name: 'kept as it is' },
  generatedTimestamp: '2024-11-01T15:00:00.250Z',
  nodeName: 'node-1',
  drainOverrides: { force: true },
  processingStrategy: 'EXECUTE_REMEDIATION',
  id: '67204be5d2c3f5a1b8e0c9d4',
};
const EVENT = {
  ...FLAT,
  recommendedAction: 24,
  customRecommendedAction: '',
  generatedTimestamp: { seconds: 1_730_473_200, nanos: 250_000_000 },
  drainOverrides: { force: true, skip: false },
  quarantineOverrides: undefined,
  processingStrategy: 1,
};

describe('a HealthEvent', () => {
  it('is read flat, with its id', () => {
    expect(read(FLAT)).toEqual({ event: EVENT, quarantine: undefined });
  });

  it("is read out of the CloudEvent of NVSentinel's exporter", () => {
    const { id, ...withoutId } = FLAT;
    const cloudEvent = {
      specversion: '1.0',
      id,
      source: 'nvsentinel://cluster',
      type: 'com.nvidia.nvsentinel.health.v1',
      data: { metadata: { cluster: 'c' }, healthEvent: withoutId },
    };
    expect(read(cloudEvent).event).toEqual(EVENT);
    const inner = { ...cloudEvent, id: 'outer', data: { healthEvent: FLAT } };
    expect(read(inner).event.id).toBe(id);
  });

  it('is read as NVSentinel stores it, with its quarantine status', () => {
    const stored = {
      _id: 'doc-1',
      createdAt: '2024-11-01T15:00:01Z',
      healthevent: {
        nodename: 'node-1',
        checkname: 'SysLogsXIDError',
        recommendedaction: 2,
        entitiesimpacted: [{ entitytype: 'GPU_UUID', entityvalue: 'GPU-1' }],
        generatedtimestamp: { seconds: 1_730_473_200, nanos: 0 },
      },
      healtheventstatus: { nodequarantined: 'AlreadyQuarantined', userpodsevictionstatus: {} },
    };
    const { event, quarantine } = read(stored);
    expect(event).toMatchObject({ id: 'doc-1', nodeName: 'node-1', recommendedAction: 2 });
    expect(event.entitiesImpacted).toEqual([{ entityType: 'GPU_UUID', entityValue: 'GPU-1' }]);
    expect(quarantine).toBe('AlreadyQuarantined');
  });

  it('is read as a custom resource and with proto field names', () => {
    const resource = { kind: 'HealthEventResource', spec: FLAT, status: { nodeQuarantined: 'Quarantined' } };
    expect(read(resource)).toEqual({ event: EVENT, quarantine: 'Quarantined' });
    expect(read({ id: 'a', node_name: 'n', check_name: 'c', is_healthy: true }).event).toMatchObject({
      nodeName: 'n',
      checkName: 'c',
      isHealthy: true,
    });
  });

  it('needs a node, and has the id of the message when it has none of its own', () => {
    expect(read({ nodeName: 'n' }, 'envelope').event.id).toBe('envelope');
    expect(parseHealthEvent({ nodeName: 'n' }, undefined)).toMatchObject({ ok: false, message: expect.stringContaining('detail.id') }); // prettier-ignore
    expect(parseHealthEvent({ id: 'a' }, undefined)).toMatchObject({ ok: false, message: expect.stringContaining('detail.nodeName') }); // prettier-ignore
  });

  it.each([
    ['recommendedAction', { recommendedAction: 'EXPLODE' }, 'detail.recommendedAction: must be one of NONE, '],
    ['isHealthy', { isHealthy: 'no' }, 'detail.isHealthy: '],
    ['errorCode', { errorCode: '79' }, 'detail.errorCode: '],
    ['generatedTimestamp', { generatedTimestamp: 'yesterday' }, 'detail.generatedTimestamp: '],
    ['nodeQuarantined', { nodeQuarantined: 'Maybe' }, 'detail.nodeQuarantined: '],
  ])('says what is wrong with %s', (_, fields, message) => {
    expect(parseHealthEvent({ id: 'a', nodeName: 'n', ...fields }, undefined)).toMatchObject({
      ok: false,
      message: expect.stringContaining(message),
    });
  });

  it('may hold what a newer version adds', () => {
    expect(read({ ...FLAT, shinyNewField: { a: 1 }, recommendedAction: 42 }).event.recommendedAction).toBe(42);
  });

  it('is answered without throwing whatever it holds', () => {
    const key = fc.constantFrom(...Object.keys(FLAT), 'data', 'healthevent', 'healtheventstatus', 'spec', 'kind');
    const value = fc.letrec(tie => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.dictionary(key, tie('any')),
        fc.constant('HealthEventResource'),
      ),
    })).any;
    fc.assert(
      fc.property(value, detail => typeof parseHealthEvent(detail, 'x').ok === 'boolean'),
      { numRuns: 10_000 },
    );
  });
});
