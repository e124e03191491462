import { describe, expect, it } from 'vitest';
import { askedBy } from '../../../functions/drain/asks.ts';
import { parseHealthEvent } from '../../../shared/contract/health-event.ts';

const event = { id: 'e1', nodeName: 'n1' };
const status = (nodeQuarantined: unknown) => ({ nodeQuarantined, userPodsEvictionStatus: { status: '' } });
const flat = (fields: object) => ({ ...event, ...fields });
const exported = (fields: object, healthEventStatus?: object) => ({
  data: { healthEvent: { ...event, ...fields }, healthEventStatus },
});
const stored = (fields: object, nodeQuarantined?: unknown) => ({
  _id: 'd1',
  healthevent: { nodename: 'n1', ...fields },
  healtheventstatus: status(nodeQuarantined),
});
const resource = (fields: object, nodeQuarantined?: unknown) => ({
  kind: 'HealthEventResource',
  spec: { ...event, ...fields },
  status: status(nodeQuarantined),
});

describe('what a HealthEvent asks for', () => {
  it.each<[string, object, string]>([
    ['flat, says nothing', flat({}), 'drain'],
    ['flat, fatal', flat({ isFatal: true }), 'drain'],
    ['flat, fatal, recommends NONE', flat({ isFatal: true, recommendedAction: 'NONE' }), 'drain'],
    ['flat, not fatal', flat({ isFatal: false, recommendedAction: 'RESTART_BM' }), 'notQuarantined'],
    ['flat, recommends NONE', flat({ recommendedAction: 0 }), 'notQuarantined'],
    ['flat, healthy', flat({ isHealthy: true }), 'recovered'],
    ['flat, not fatal, forced', flat({ isFatal: false, drainOverrides: { force: true } }), 'drain'],
    ['flat, not fatal, quarantined', flat({ isFatal: false, nodeQuarantined: 'Quarantined' }), 'drain'],
    ['flat, NotStarted', flat({ healthEventStatus: { nodeQuarantined: 'NotStarted' } }), 'drain'],
    ['flat, a word of another release', flat({ isFatal: true, nodeQuarantined: 'SkippedByProfile' }), 'notQuarantined'],
    ['exported, says nothing', exported({}), 'notQuarantined'],
    ['exported, fatal', exported({ isFatal: true }), 'drain'],
    ['exported, quarantined', exported({}, status('AlreadyQuarantined')), 'drain'],
    ['stored, fatal, without a status', stored({ isfatal: true }, ''), 'notQuarantined'],
    ['stored, fatal, null', stored({ isfatal: true }, null), 'notQuarantined'],
    ['stored, NotStarted', stored({ isfatal: true }, 'NotStarted'), 'notQuarantined'],
    ['stored, quarantined', stored({}, 'Quarantined'), 'drain'],
    ['stored, forced', stored({ drainoverrides: { force: true } }, ''), 'drain'],
    ['stored, healthy', stored({ ishealthy: true }, ''), 'recovered'],
    ['resource, fatal, without a status', resource({ isFatal: true }), 'notQuarantined'],
    ['resource, quarantined', resource({}, 'Quarantined'), 'drain'],
    ['resource, a word of another release, forced', resource({ drainOverrides: { force: true } }, 'Maybe'), 'drain'],
    ['un-quarantined', flat({ isHealthy: true, nodeQuarantined: 'UnQuarantined' }), 'unQuarantined'],
    ['cancelled', flat({ nodeQuarantined: 'Cancelled' }), 'cancelled'],
    ['for the record', flat({ isFatal: true, processingStrategy: 'STORE_ONLY' }), 'nothing'],
    ['a strategy of another release', flat({ isFatal: true, processingStrategy: 'ASK_A_PERSON' }), 'nothing'],
    ['drained already', flat({ nodeQuarantined: 'Quarantined', healthEventStatus: { nodeQuarantined: 'Quarantined', userPodsEvictionStatus: { status: 'Succeeded' } } }), 'nothing'], // prettier-ignore
    ['skipped by a profile', flat({ healthEventStatus: { nodeQuarantined: 'Quarantined', userPodsEvictionStatus: { status: 'Skipped' } } }), 'drain'], // prettier-ignore
  ])('%s', (_, detail, kind) => {
    const read = parseHealthEvent(detail);
    if (!read.ok) throw new Error(read.message);
    expect(askedBy(read.value).kind).toBe(kind);
  });
});
