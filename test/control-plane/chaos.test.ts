/**
 * Chaos on a real control plane: eight nodes on which people and machines do what they do, while every part is killed, the API server is
 * away and etcd is given an earlier state. What the API server's audit log says afterwards must keep the invariants.
 *
 * `CHAOS_SEED=n` runs another story; `CHAOS_LOG=file` keeps what functions and driver say.
 */
import { appendFileSync, copyFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAuditLog } from './chaos/invariants.ts';
import { startCurfewProcesses, type CurfewProcesses } from './chaos/curfew-processes.ts';
import { runStory } from './chaos/run-story.ts';
import { drawStory } from './chaos/story.ts';
import { readAuditLog } from './end-to-end/audit-log.ts';
import { ensureEtcdutl } from './build.ts';
import { KARPENTER_CRDS } from './karpenter-crds.ts';

const SEED = Number(process.env['CHAOS_SEED'] ?? '1');
const LOG = process.env['CHAOS_LOG'];
const hasEtcdutl = (await ensureEtcdutl(() => undefined)) !== undefined;

describe.skipIf(KARPENTER_CRDS.length === 0 || !hasEtcdutl)('chaos', () => {
  let processes: CurfewProcesses;
  const problems: string[] = [];
  const begin = Date.now();
  const log = (line: string): void => {
    const text = `${((Date.now() - begin) / 1000).toFixed(1)} ${line}\n`;
    if (LOG !== undefined) appendFileSync(LOG, text);
  };
  beforeAll(async () => {
    processes = await startCurfewProcesses(
      line => log(`${line.function}: ${line.text}`),
      message => {
        log(`problem: ${message}`);
        problems.push(message);
      },
    );
  }, 180_000);
  afterAll(() => processes?.stop());

  it(`keeps every invariant (CHAOS_SEED=${SEED})`, async () => {
    const settled = await runStory(drawStory(SEED), processes, log);
    const { auditLog = '' } = processes.plane;
    if (LOG !== undefined) copyFileSync(auditLog, `${LOG}.audit`);
    const requests = readAuditLog(auditLog);
    const broken = checkAuditLog(requests, user =>
      user.startsWith('curfew-') ? user.slice('curfew-'.length) : undefined,
    );
    expect({ ...settled, broken }).toEqual({ open: [], failures: [], broken: [] });
  }, 420_000);
});
