import { describe, expect, it } from 'vitest';
import { messageGroupOf, messageGroupOfBody } from '../../../shared/contract/message-group.ts';
import { ORPHAN_CHECK_WAKE_UP, toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';

const node = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };

describe('the group of a message', () => {
  it.each([
    ['an event of an object of a pool', { subject: node, hints: { nodePool: 'gpu' } }, 'NodePool/gpu'],
    ['an event of another object', { subject: node, hints: {} }, 'Node/n1'],
    ['an object in a namespace', { subject: { ...node, kind: 'Pod', namespace: 'web' } }, 'Pod/web/n1'],
    ['a wake-up', toWakeUpEnvelope(ORPHAN_CHECK_WAKE_UP).detail, 'OrphanCheck/instances'],
    ['a request for a drain', { nodeName: 'n2' }, 'Node/n2'],
    ['the answer of a worker', { key: 'call-7', result: 'succeed' }, 'call-7'],
    ['an order of an operator', { id: 'instance/aws:///us-west-2a/i-0abc' }, 'instance/aws:///us-west-2a/i-0abc'],
    ['nothing of ours', { anything: 1 }, 'other'],
    ['no object', null, 'other'],
  ])('is for %s', (_, detail, expected) => {
    expect(messageGroupOf(detail)).toBe(expected);
    expect(messageGroupOfBody(JSON.stringify({ detail }))).toBe(expected);
  });

  it('is one that SQS takes, whatever the message says', () => {
    expect(messageGroupOfBody('not JSON')).toBe('other');
    expect(messageGroupOfBody('')).toBe('other');
    expect(messageGroupOf({ nodeName: `ä b${'x'.repeat(300)}` })).toMatch(/^Node\/\?\?bx{120}$/);
  });
});
