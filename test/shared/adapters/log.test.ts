/** The lines as CloudWatch gets them: written by Powertools, read back from what it prints. */
import { Metrics } from '@aws-lambda-powertools/metrics';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createAuditLog } from '../../../shared/adapters/log/audit-log.ts';
import { VERSION } from '../../../shared/contract/version.ts';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import { createMetricSink } from '../../../shared/adapters/log/metrics.ts';
import { anyText } from '../../builders/any-text.ts';

const SERVICE = 'curfew-repair';

/** What is printed for these records. */
async function printed(...records: readonly AuditRecord[]): Promise<readonly string[]> {
  const texts: string[] = [];
  const log = createAuditLog({
    serviceName: SERVICE,
    fields: () => ({ function_request_id: '0f8fad5b-d9cb-469f-a165-70867728950e', messageId: 'm1' }),
    print: text => texts.push(text),
    now: () => Date.UTC(2026, 0, 1),
  });
  for (const each of records) log.write(each);
  await Promise.resolve();
  return texts;
}

function captureLines(print: () => void): unknown[] {
  const lines: unknown[] = [];
  const read = (text: unknown): boolean => {
    lines.push(
      ...String(text)
        .trim()
        .split('\n')
        .map(line => JSON.parse(line)),
    );
    return true;
  };
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(read);
  try {
    print();
  } finally {
    stdout.mockRestore();
  }
  return lines;
}

const record = {
  function: 'repair',
  decision: 'blocked',
  reason: 'TooManyUnhealthy',
  message: '3 of 10 nodes are unhealthy',
  kind: 'Node',
  name: 'n1',
  uid: 'u1',
  details: { unhealthy: 3, nodes: 10 },
} as const;

describe('AuditLog', () => {
  it('shows what a terminal would obey, or an eye not see, as escapes', async () => {
    const [text = ''] = await printed({ ...record, message: 'the reason is \u001b[2J\u202Eevil\nat f' });
    expect(JSON.parse(text)).toMatchObject({ message: String.raw`the reason is \u001b[2J\u202eevil` + '\nat f' });
  });

  it('writes one JSON line that queries can select', async () => {
    const [text = ''] = await printed(record);
    expect(text.endsWith('}\n')).toBe(true);
    expect(JSON.parse(text)).toEqual({
      level: 'INFO',
      timestamp: '2026-01-01T00:00:00.000Z',
      service: SERVICE,
      version: VERSION,
      function_request_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      messageId: 'm1',
      audit: true,
      auditVersion: 1,
      ...record,
    });
  });

  it('writes what deploy/schemas/audit.schema.json describes', async () => {
    const file = join(import.meta.dirname, '../../../deploy/schemas/audit.schema.json');
    const isAudit = new Ajv2020({ validateFormats: false }).compile(JSON.parse(readFileSync(file, 'utf8')));
    const small = { ...record, uid: undefined, details: undefined } as unknown as AuditRecord;
    for (const each of [record, small, { ...record, namespace: 'prod' }]) {
      const [text = ''] = await printed(each);
      expect(isAudit(JSON.parse(text))).toBe(true);
      const missing = ['decision', 'auditVersion', 'message', 'timestamp'].filter(
        field => !isAudit({ ...JSON.parse(text), [field]: undefined }),
      );
      expect(missing).toHaveLength(4);
    }
  });

  it('writes lines of one go together, each with its end', async () => {
    const texts = await printed(record, { ...record, name: 'n2' });
    expect(texts).toHaveLength(1);
    expect(texts[0]?.match(/^\{.*\}$/gm)?.map(line => JSON.parse(line))).toMatchObject([
      { name: 'n1' },
      { name: 'n2' },
    ]);
  });
});

describe('an audit line', () => {
  const long = 'x'.repeat(120_000);

  it('is cut where its author wrote an annotation of 120,000 characters, and says so', async () => {
    const details = { 'prod/web-0': long, other: { value: long, list: [long] }, last: 7 };
    const [line = ''] = await printed({ ...record, message: `do-not-disrupt: ${long} is not valid`, details });
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8_000);
    expect(JSON.parse(line)).toMatchObject({
      ...record,
      message: expect.stringMatching(/^do-not-disrupt: x+… \(cut, 120029 characters in all\)$/),
      details: { 'prod/web-0': expect.stringContaining('cut, 120000 characters'), last: 7, cut: ['other'] },
    });
  });

  it('stays below 8,000 bytes whatever stands in it, and small ones stay as they are', async () => {
    const text = fc.oneof(
      anyText(),
      fc
        .tuple(fc.constantFrom('\u0000', '"', 'é', '💥', '\ud800', 'a'), fc.nat(9_000))
        .map(([one, times]) => one.repeat(times)),
    );
    const details = fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 })), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(text, text, text, details, async (message, name, reason, given) => {
        const written = { ...record, message, name, reason, uid: name, namespace: name, details: given };
        const [line = ''] = await printed(written);
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8_000);
        if (Buffer.byteLength(JSON.stringify(written)) < 300)
          expect(JSON.parse(line)).toMatchObject({ details: given });
      }),
      { numRuns: 300 },
    );
  });
});

describe('MetricSink', () => {
  it('writes metrics with dimensions of their own at once, the others together', () => {
    const lines = captureLines(() => {
      const metrics = new Metrics({ namespace: 'Curfew', serviceName: 'curfew-repair' });
      const sink = createMetricSink(metrics);
      sink.count('Decided', 1, { decision: 'repair' });
      sink.count('Freed', 1, { pool: 'default' });
      sink.count('Looked');
      sink.count('Looked', 2);
      sink.milliseconds('OldestOverdueTimer', 1500);
      metrics.publishStoredMetrics();
    });
    expect(lines).toMatchObject([
      { service: 'curfew-repair', decision: 'repair', Decided: 1 },
      { service: 'curfew-repair', pool: 'default', Freed: 1 },
      { service: 'curfew-repair', Looked: [1, 2], OldestOverdueTimer: 1500 },
    ]);
    expect(lines[0]).toHaveProperty('_aws.CloudWatchMetrics.0.Dimensions', [['service', 'decision']]);
    // Nothing of the line before it.
    expect(lines[1]).not.toHaveProperty('decision');
    expect(lines[1]).toHaveProperty('_aws.CloudWatchMetrics.0', {
      Namespace: 'Curfew',
      Dimensions: [['service', 'pool']],
      Metrics: [{ Name: 'Freed', Unit: 'Count' }],
    });
    expect(lines[2]).toHaveProperty('_aws.CloudWatchMetrics.0', {
      Namespace: 'Curfew',
      Dimensions: [['service']],
      Metrics: [
        { Name: 'Looked', Unit: 'Count' },
        { Name: 'OldestOverdueTimer', Unit: 'Milliseconds' },
      ],
    });
  });
});
