import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../shared/domain/time.ts';
import {
  parseHealthEvent,
  type HealthEventEnvelope,
  type HealthEventMessage,
} from '../../../shared/contract/health-event.ts';

function read(detail: unknown, envelope?: HealthEventEnvelope): HealthEventMessage {
  const parsed = parseHealthEvent(detail, envelope);
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
    expect(read(FLAT)).toEqual({
      event: EVENT,
      form: 'flat',
      quarantine: undefined,
      isFatal: true,
      recommendsNone: false,
      clusters: [],
    });
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
    expect(read(cloudEvent)).toMatchObject({
      event: { checkName: FLAT.checkName },
      form: 'cloudEvent',
      clusters: ['c', 'cluster'],
    });
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
    const { event, form, quarantine } = read(stored);
    expect(form).toBe('stored');
    expect(event).toMatchObject({ id: 'doc-1', nodeName: 'node-1', recommendedAction: 2 });
    expect(event.entitiesImpacted).toEqual([{ entityType: 'GPU_UUID', entityValue: 'GPU-1' }]);
    expect(quarantine).toBe('AlreadyQuarantined');
  });

  it('is read as a custom resource and with proto field names', () => {
    const resource = { kind: 'HealthEventResource', spec: FLAT, status: { nodeQuarantined: 'Quarantined' } };
    expect(read(resource)).toMatchObject({ event: EVENT, form: 'resource', quarantine: 'Quarantined' });
    expect(read({ id: 'a', node_name: 'n', check_name: 'c', is_healthy: true }).event).toMatchObject({
      nodeName: 'n',
      checkName: 'c',
      isHealthy: true,
    });
  });

  it('needs a node, and some id', () => {
    expect(read({ nodeName: 'n' }, { id: 'envelope' }).event.id).toBe('envelope');
    expect(parseHealthEvent({ nodeName: 'n' })).toMatchObject({ ok: false, message: expect.stringContaining('detail.id') }); // prettier-ignore
    expect(parseHealthEvent({ id: 'a' })).toMatchObject({ ok: false, message: expect.stringContaining('detail.nodeName') }); // prettier-ignore
  });

  it.each([
    ['isHealthy', { isHealthy: 'no' }, 'detail.isHealthy: '],
    ['errorCode', { errorCode: '79' }, 'detail.errorCode: '],
    ['generatedTimestamp', { generatedTimestamp: 'yesterday' }, 'detail.generatedTimestamp: '],
    ['nanoseconds', { generatedTimestamp: { seconds: 1, nanos: -1 } }, 'detail.generatedTimestamp: '],
    ['nodeQuarantined', { nodeQuarantined: 5 }, 'detail.nodeQuarantined: '],
  ])('says what is wrong with %s', (_, fields, message) => {
    expect(parseHealthEvent({ id: 'a', nodeName: 'n', ...fields })).toMatchObject({
      ok: false,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['a name that is known', 'RESTART_BM', { recommendedAction: 24 }],
    ['its number', 24, { recommendedAction: 24 }],
    ['digits', '39', { recommendedAction: 39 }],
    ['a name of another release', 'RESTART_APP', { recommendedAction: 99, recommendedActionName: 'RESTART_APP' }],
    ['a negative number', -3, { recommendedAction: -3 }],
  ])('has an action by %s', (_, recommendedAction, event) => {
    expect(read({ id: 'a', nodeName: 'n', recommendedAction })).toMatchObject({ event, recommendsNone: false });
  });

  it('says whether it states that nothing is recommended', () => {
    expect(read({ id: 'a', nodeName: 'n' }).recommendsNone).toBe(false);
    for (const recommendedAction of [0, '0', 'NONE']) {
      expect(read({ id: 'a', nodeName: 'n', recommendedAction }).recommendsNone).toBe(true);
    }
  });

  it.each([
    ['', undefined],
    ['NotStarted', undefined],
    [null, undefined],
    ['SkippedByProfile', 'SkippedByProfile'],
  ])('has the quarantine status %j as %j', (nodeQuarantined, quarantine) => {
    expect(read({ id: 'a', nodeName: 'n', healthEventStatus: { nodeQuarantined } }).quarantine).toBe(quarantine);
  });

  it("is read in MongoDB's Extended JSON, and out of the layers that a database puts around it", () => {
    const document = {
      _id: { $oid: '65f0aaaaaaaaaaaaaaaaaaaa' },
      createdAt: { $date: { $numberLong: '1772359205000' } },
      healthevent: {
        nodename: 'n',
        recommendedaction: { $numberInt: '24' },
        generatedtimestamp: { seconds: { $numberLong: '1772359200' }, nanos: 5 },
        errorcode: [{ $numberInt: '79' }],
      },
      healtheventstatus: { nodequarantined: 'Quarantined' },
    };
    const expected = {
      form: 'stored',
      createdTime: 1_772_359_205_000,
      event: {
        id: '65f0aaaaaaaaaaaaaaaaaaaa',
        recommendedAction: 24,
        generatedTimestamp: { seconds: 1_772_359_200, nanos: 5 },
        errorCode: ['79'],
      },
    };
    expect(read(document)).toMatchObject(expected);
    expect(read({ operationType: 'update', fullDocument: document })).toMatchObject(expected);
    const row = { id: 'c0ffee00-0000-4000-8000-000000000000', document: { ...document, _id: undefined } };
    expect(read(row)).toMatchObject({ ...expected, event: { id: row.id } });
    expect(read({ ...document, createdAt: { $date: '2026-03-01T10:00:05Z' } })).toMatchObject(expected);
  });

  it('has numbers where others write text, and text where others write numbers', () => {
    const event = { errorCode: [79, '48'], entitiesImpacted: [{ entityType: 'GPU', entityValue: 0 }], metadata: { gpuCount: 8, mig: true, more: { a: [1] } } }; // prettier-ignore
    expect(
      read({ id: 'a', nodeName: 'n', generatedTimestamp: { seconds: '1772359200', nanos: 5 }, ...event }).event,
    ).toMatchObject({
      errorCode: ['79', '48'],
      entitiesImpacted: [{ entityType: 'GPU', entityValue: '0' }],
      metadata: { gpuCount: '8', mig: 'true', more: '{"a":[1]}' },
      generatedTimestamp: { seconds: 1_772_359_200, nanos: 5 },
    });
  });

  it.each<[string, object, readonly string[]]>([
    ['of its own', { cluster: 'a' }, ['a']],
    ["of the exporter's metadata", { source: 'x', data: { metadata: { cluster: 'b' }, healthEvent: {} } }, ['b']],
    ["of the exporter's source", { source: 'nvsentinel://c/healthevents', data: { healthEvent: {} } }, ['c']],
    ['of none', { source: 'monitoring/c', data: { healthEvent: {} } }, []],
    ['of two', { cluster: 'a', source: 'nvsentinel://c', data: { metadata: { cluster: 'c' }, healthEvent: {} } }, ['a', 'c']], // prettier-ignore
  ])('names the clusters %s', (_, detail, clusters) => {
    const data = (detail as { data?: object }).data;
    const whole = data === undefined ? { ...detail, id: 'a', nodeName: 'n' } : { ...detail, data: { ...data, healthEvent: { id: 'a', nodeName: 'n' } } }; // prettier-ignore
    expect(read(whole).clusters).toEqual(clusters);
  });

  describe('without an id of its own', () => {
    const { id: _, ...withoutId } = FLAT;
    const cloudEvent = (id: string, event: object = withoutId) => ({ id, time: '2024-11-01T15:00:00Z', data: { healthEvent: event } }); // prettier-ignore

    it('is the same event however often, and in whatever form, it is exported', () => {
      const ids = [cloudEvent('c1'), cloudEvent('c2'), withoutId, { healthEvent: withoutId }].map(
        (detail, index) => read(detail, { id: `envelope-${index}` }).event.id,
      );
      expect(new Set(ids).size).toBe(1);
      expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
      const shuffled = { ...withoutId, errorCode: ['79', '48'], message: 'in other words' };
      expect(read(shuffled).event.id).toBe(read({ ...shuffled, errorCode: ['48', '79'], message: '' }).event.id);
    });

    it.each([
      ['node', { nodeName: 'n2' }],
      ['agent', { agent: 'b' }],
      ['class', { componentClass: 'NIC' }],
      ['check', { checkName: 'b' }],
      ['health', { isHealthy: true }],
      ['code', { errorCode: ['48'] }],
      ['entity', { entitiesImpacted: [] }],
      ['millisecond', { generatedTimestamp: '2024-11-01T15:00:00.251Z' }],
    ])('is another event of another %s', (__, fields) => {
      expect(read({ ...withoutId, ...fields }).event.id).not.toBe(read(withoutId).event.id);
    });

    it('counts the first time that is there; without any it has the id of the CloudEvent, else of the message', () => {
      const { generatedTimestamp: __, ...timeless } = withoutId;
      const [stored, later] = ['2024-11-01T15:00:01Z', '2024-11-01T15:00:02Z'].map(createdAt => read({ healthEvent: timeless, createdAt }).event.id); // prettier-ignore
      expect(stored).not.toBe(later);
      const sent = { id: 'm', time: toEpochMs(Date.UTC(2024, 10, 1, 15)) };
      expect(read(timeless, sent).event.id).toBe(read(cloudEvent('c', timeless)).event.id);
      expect(read({ id: 'c', data: { healthEvent: timeless } }, { id: 'm' }).event.id).toBe('c');
      expect(read(timeless, { id: 'm' }).event.id).toBe('m');
    });

    it('is called as the custom resource that holds it', () => {
      const resource = { kind: 'HealthEventResource', metadata: { uid: 'u-1' }, spec: withoutId };
      expect(read(resource).event.id).toBe('u-1');
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
      fc.property(value, detail => typeof parseHealthEvent(detail, { id: 'x' }).ok === 'boolean'),
      { numRuns: 10_000 },
    );
  });
});
