/** What is read of an audit log whose API server was killed in the middle of a line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { readAuditLog } from './audit-log.ts';

const folder = mkdtempSync(join(tmpdir(), 'curfew-audit-log-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const line = (name: string): string =>
  JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    stage: 'ResponseComplete',
    verb: 'get',
    user: { username: 'somebody' },
    objectRef: { resource: 'nodes', name },
    requestReceivedTimestamp: '2026-01-01T10:00:00.000001Z',
    stageTimestamp: '2026-01-01T10:00:01.000001Z',
  });

it('is every whole line, also the one that goes on in a torn one', () => {
  const file = join(folder, 'audit.log');
  writeFileSync(file, `${line('n1')}\n${line('n2').slice(0, 120)}${line('n3')}\n${line('n4')}\n`);
  expect(readAuditLog(file).map(({ name }) => name)).toEqual(['n1', 'n3', 'n4']);
  expect(readAuditLog(file)[0]).toMatchObject({
    received: Date.parse('2026-01-01T10:00:00Z'),
    time: Date.parse('2026-01-01T10:00:01Z'),
  });
});
