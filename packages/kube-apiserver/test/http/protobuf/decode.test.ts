import { assert, dictionary, property, string, uint8Array } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeKubernetesProtobuf, NotUnderstood } from '../../../src/http/protobuf/decode.ts';
import { messages } from '../../../src/http/protobuf/messages.ts';
import { MalformedProtobuf } from '../../../src/http/protobuf/wire.ts';
import { envelope, field, message } from './encode.ts';

/** Metadata as Go sends it: fields that nobody set are there, and empty. */
function metadata(name: string): Buffer {
  return message(field(1, name), field(2, ''), field(3, ''), field(4, ''), field(5, ''), field(7, 0), field(8, ''));
}

const entry = (key: string, value: string | Buffer): Buffer => message(field(1, key), field(2, value));

describe('a protobuf body', () => {
  test('is read without the zero values that Go always sends', () => {
    const raw = message(field(1, metadata('curfew')), field(2, ''), field(3, message(field(1, ''))));
    expect(decodeKubernetesProtobuf(envelope('v1', 'Namespace', raw))).toEqual({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'curfew' },
    });
  });

  test('keeps maps, lists, bytes and zero values that somebody set', () => {
    const port = message(field(1, ''), field(2, 0), field(3, 8080));
    const container = message(field(1, 'c'), field(2, 'i'), field(4, '-a'), field(4, ''), field(6, port), field(8, ''));
    const template = message(field(1, ''), field(2, message(field(2, container), field(14, ''))));
    const surge = message(field(1, 1), field(2, 0), field(3, '25%'));
    const absolute = message(field(1, 0), field(2, 1), field(3, ''));
    const strategy = message(field(1, 'RollingUpdate'), field(2, message(field(1, absolute), field(2, surge))));
    const selector = field(1, entry('app', 'a'));
    const spec = message(
      field(1, 0),
      field(2, selector),
      field(3, template),
      field(4, strategy),
      field(5, 0),
      field(7, 0),
    );
    const deployment = message(field(1, metadata('d')), field(2, spec), field(3, message(field(1, 0), field(2, 0))));
    expect(decodeKubernetesProtobuf(envelope('apps/v1', 'Deployment', deployment))).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'a' } },
        template: {
          spec: {
            containers: [{ name: 'c', image: 'i', args: ['-a', ''], ports: [{ containerPort: 8080 }] }],
            securityContext: {},
          },
        },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: '25%' } },
      },
    });
    const secret = message(field(1, metadata('s')), field(2, entry('k', Buffer.from([0, 255]))), field(3, 'Opaque'));
    expect(decodeKubernetesProtobuf(envelope('v1', 'Secret', secret))).toMatchObject({
      data: { k: 'AP8=' },
      type: 'Opaque',
    });
  });

  test('reads times, to the second or the microsecond', () => {
    const time = message(field(1, 1_767_225_600), field(2, 1_500_000));
    const event = message(field(1, metadata('e')), field(6, time), field(7, ''), field(10, time));
    expect(decodeKubernetesProtobuf(envelope('v1', 'Event', event))).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      eventTime: '2026-01-01T00:00:00.001500Z',
    });
  });

  test('of any ConfigMap comes out as it went in', () => {
    const data = dictionary(string(), string({ unit: 'grapheme' }));
    assert(
      property(data, values => {
        const entries = Object.entries(values).map(([key, value]) => field(2, entry(key, value)));
        const body = envelope('v1', 'ConfigMap', message(field(1, metadata('c')), ...entries));
        const decoded = decodeKubernetesProtobuf(body);
        expect(decoded.data ?? {}).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  test('is refused when it says something that is not in the table, never half read', () => {
    expect(() => decodeKubernetesProtobuf(envelope('v1', 'Gadget', message()))).toThrow(NotUnderstood);
    const volumes = message(field(1, message(field(1, 'v'))));
    const job = message(field(2, message(field(6, message(field(2, volumes))))));
    expect(() => decodeKubernetesProtobuf(envelope('batch/v1', 'Job', job))).toThrow(
      'field 1 of PodSpec is not understood',
    );
  });

  test('that is broken is said to be malformed', () => {
    expect(() => decodeKubernetesProtobuf(Buffer.from('{}'))).toThrow(MalformedProtobuf);
    const whole = envelope('v1', 'Namespace', message(field(1, metadata('curfew'))));
    expect(() => decodeKubernetesProtobuf(whole.subarray(0, 20))).toThrow(MalformedProtobuf);
    assert(
      property(uint8Array(), bytes => {
        try {
          decodeKubernetesProtobuf(Buffer.concat([Buffer.from('k8s\0'), bytes]));
        } catch (error) {
          if (!(error instanceof MalformedProtobuf || error instanceof NotUnderstood)) throw error;
        }
      }),
    );
  });
});

describe('the table of messages', () => {
  const scalars = new Set(['string', 'int', 'bool', 'bytes', 'Time', 'MicroTime', 'IntOrString', 'Quantity']);

  test('knows every type that it names, and gives no number or name twice', () => {
    for (const rules of messages.values()) {
      for (const { type } of rules.values()) expect(scalars.has(type) || messages.has(type)).toBe(true);
      expect(new Set([...rules.values()].map(({ name }) => name)).size).toBe(rules.size);
    }
  });
});
