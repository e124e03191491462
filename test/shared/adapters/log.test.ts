/** The lines as CloudWatch gets them: written by Powertools, read back from what it prints. */
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { describe, expect, it, vi } from 'vitest';
import { createAuditLog } from '../../../shared/adapters/log/audit-log.ts';
import { createMetricSink } from '../../../shared/adapters/log/metrics.ts';

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
