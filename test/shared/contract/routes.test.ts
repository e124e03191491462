import { describe, expect, it } from 'vitest';
import { compileEventPattern } from '../../../packages/local-aws/src/event-pattern.ts';
import { heartbeatPattern, matchesPattern, ROUTES } from '../../../shared/contract/routes.ts';

const event = (detailType: string, detail: Record<string, unknown>, source = 'curfew.forwarder') => ({
  source,
  'detail-type': detailType,
  detail,
});
const targets = (sent: ReturnType<typeof event>): readonly string[] =>
  ROUTES.filter(({ pattern }) => matchesPattern(pattern('prod'), sent)).map(({ target }) => target);

describe('routes', () => {
  it("take the events of the cluster's own forwarder", () => {
    expect(targets(event('NodeClaimChanged', { cluster: 'prod' }))).toEqual(['finalizer', 'repair']);
    expect(targets(event('NodeChanged', { cluster: 'prod' }))).toEqual(
      expect.arrayContaining(['repair', 'grace-period']),
    );
  });

  it.each([
    ['another cluster', event('NodeChanged', { cluster: 'staging' })],
    ['no cluster', event('NodeChanged', {})],
    ['another source', event('NodeChanged', { cluster: 'prod' }, 'somebody')],
    ['another kind', event('SecretChanged', { cluster: 'prod' })],
  ])('leave those of %s alone', (_, sent) => {
    expect(targets(sent)).toEqual([]);
  });

  it("count no other cluster's heartbeat", () => {
    expect(matchesPattern(heartbeatPattern('prod'), event('ForwarderHeartbeat', { cluster: 'prod' }))).toBe(true);
    expect(matchesPattern(heartbeatPattern('prod'), event('ForwarderHeartbeat', { cluster: 'staging' }))).toBe(false);
  });

  it('tell of the pods of a node those who empty nodes alone', () => {
    expect(targets(event('NodePodsChanged', { cluster: 'prod' }))).toEqual(['finalizer', 'drain']);
    expect(targets(event('DrainedNodeChanged', { cluster: 'prod' }))).toEqual(['drain']);
  });

  it('tell of the annotations that hold a Node nobody but who holds it', () => {
    expect(targets(event('NodeProtectionChanged', { cluster: 'prod' }))).toEqual(['grace-period']);
  });

  it('tell of a pod with a protection nobody but its keeper: a node costs no look of those who do not empty it', () => {
    expect(targets(event('PodChanged', { cluster: 'prod' }))).toEqual(['grace-period']);
  });

  it('take nothing of what EC2 says, which is of the whole account', () => {
    const says = (state: string) =>
      targets(event('EC2 Instance State-change Notification', { 'instance-id': 'i-0abc', state }, 'aws.ec2'));
    expect([says('terminated'), says('shutting-down')]).toEqual([[], []]);
  });

  it('match as the local bus does', () => {
    const sent = ['prod', 'staging'].flatMap(cluster =>
      ['NodeChanged', 'NodeClaimChanged', 'PodChanged', 'ConfigMapChanged', 'SecretChanged'].map(type =>
        event(type, { cluster }),
      ),
    );
    for (const { pattern } of ROUTES) {
      const onBus = compileEventPattern(pattern('prod'));
      expect(sent.map(onBus)).toEqual(sent.map(each => matchesPattern(pattern('prod'), each)));
    }
  });
});
