/** The lines as CloudWatch gets them: written by Powertools, read back from what it prints. */
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createAuditLog } from '../../../shared/adapters/log/audit-log.ts';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import { createMetricSink } from '../../../shared/adapters/log/metrics.ts';
import { anyText } from '../../builders/any-text.ts';

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
  it('writes one JSON line that queries can select', () => {
    const lines = captureLines(() => {
      const logger = new Logger({ serviceName: 'curfew-repair', logLevel: 'INFO' });
      logger.appendKeys({ function_request_id: 'r1' });
      createAuditLog(logger).write(record);
    });
    expect(lines).toEqual([
      expect.objectContaining({ audit: true, service: 'curfew-repair', function_request_id: 'r1', ...record }),
    ]);
  });
});

/** The line of a record as CloudWatch gets it. */
function lineOf(written: AuditRecord): string {
  const texts: string[] = [];
  const print = (text: unknown): boolean => texts.push(String(text)) > 0;
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(print);
  try {
    const logger = new Logger({ serviceName: 'curfew-grace-period', logLevel: 'INFO' });
    logger.appendKeys({ function_request_id: '0f8fad5b-d9cb-469f-a165-70867728950e' });
    createAuditLog(logger).write(written);
  } finally {
    stdout.mockRestore();
  }
  return texts.join('');
}

describe('an audit line', () => {
  const long = 'x'.repeat(120_000);

  it('is cut where its author wrote an annotation of 120,000 characters, and says so', () => {
    const details = { 'prod/web-0': long, other: { value: long, list: [long] }, last: 7 };
    const line = lineOf({ ...record, message: `do-not-disrupt: ${long} is not valid`, details });
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8_000);
    expect(JSON.parse(line)).toMatchObject({
      ...record,
      message: expect.stringMatching(/^do-not-disrupt: x+… \(cut, 120029 characters in all\)$/),
      details: { 'prod/web-0': expect.stringContaining('cut, 120000 characters'), last: 7, cut: ['other'] },
    });
  });

  it('stays below 8,000 bytes whatever stands in it, and small ones stay as they are', () => {
    const text = fc.oneof(
      anyText(),
      fc
        .tuple(fc.constantFrom('\u0000', '"', 'é', '💥', '\ud800', 'a'), fc.nat(9_000))
        .map(([one, times]) => one.repeat(times)),
    );
    const details = fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 })), { maxKeys: 5 });
    fc.assert(
      fc.property(text, text, text, details, (message, name, reason, given) => {
        const written = { ...record, message, name, reason, uid: name, namespace: name, details: given };
        const line = lineOf(written);
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
      sink.count('Looked');
      sink.count('Looked', 2);
      sink.milliseconds('OldestOverdueTimer', 1500);
      metrics.publishStoredMetrics();
    });
    expect(lines).toMatchObject([
      { service: 'curfew-repair', decision: 'repair', Decided: 1 },
      { service: 'curfew-repair', Looked: [1, 2], OldestOverdueTimer: 1500 },
    ]);
    expect(lines[0]).toHaveProperty('_aws.CloudWatchMetrics.0.Dimensions', [['service', 'decision']]);
    expect(lines[1]).toHaveProperty('_aws.CloudWatchMetrics.0', {
      Namespace: 'Curfew',
      Dimensions: [['service']],
      Metrics: [
        { Name: 'Looked', Unit: 'Count' },
        { Name: 'OldestOverdueTimer', Unit: 'Milliseconds' },
      ],
    });
  });
});
