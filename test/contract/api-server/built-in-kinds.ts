/** Rules and defaults of built-in kinds: those that Curfew relies on hold on both servers, the others are a difference. */
import { describe, expect, it } from 'vitest';
import { at, created, inNamespace, listAt, patch, textAt, type ApiServerSubject, type MakeSubject } from './subject.ts';

const nodeOf = ({ namespace }: ApiServerSubject): string => `node-of-${namespace}`;
const budgetsOf = ({ namespace }: ApiServerSubject): string =>
  `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
const CONTAINERS = [{ name: 'main', image: 'registry.example.com/main:1' }];

export function defineBuiltInKinds(makeSubject: MakeSubject): void {
  describe('rules of built-in kinds', () => {
    it('keep the providerID of a node once it is set, and its taints unique', async () => {
      const subject = await makeSubject();
      const path = `/api/v1/nodes/${nodeOf(subject)}`;
      await created(subject, '/api/v1/nodes', {
        metadata: { name: nodeOf(subject) },
        spec: { providerID: 'aws:///a/i-1' },
      });
      const refused = async (spec: object): Promise<unknown[]> => {
        const answer = await patch(subject, path, 'merge', { spec });
        return [answer.status, at(answer.body, 'details.causes.0.field')];
      };
      const taint = { key: 'a', effect: 'NoSchedule' };
      expect(await refused({ providerID: 'aws:///a/i-2' })).toEqual([422, 'spec.providerID']);
      expect(await refused({ taints: [taint, { ...taint, value: 'x' }] })).toEqual([422, 'metadata.taints[1]']);
      expect(await refused({ taints: [{ key: 'a', effect: 'Sometimes' }] })).toEqual([
        422,
        'metadata.taints[0].effect',
      ]);
    });

    it('leave false out of a node that takes pods', async () => {
      const subject = await makeSubject();
      const path = `/api/v1/nodes/${nodeOf(subject)}`;
      await created(subject, '/api/v1/nodes', { metadata: { name: nodeOf(subject) }, spec: { unschedulable: true } });
      const answer = await patch(subject, path, 'merge', { spec: { unschedulable: false } });
      expect([answer.status, at(answer.body, 'spec')]).toEqual([200, {}]);
    });

    it.each([
      ['pods', { containers: [] }, 'spec.containers'],
      ['pods', { containers: [{ name: 'Not A Name', image: 'a' }] }, 'spec.containers[0].name'],
      ['budgets', { minAvailable: 1, maxUnavailable: 1, selector: {} }, 'spec'],
      ['budgets', { minAvailable: '120%', selector: {} }, 'spec.minAvailable'],
      ['budgets', { unhealthyPodEvictionPolicy: 'Never', selector: {} }, 'spec.unhealthyPodEvictionPolicy'],
    ])('refuse %s with the spec %j', async (resource, spec, field) => {
      const subject = await makeSubject();
      const path = resource === 'pods' ? inNamespace(subject, 'pods') : budgetsOf(subject);
      const answer = await subject.http.call('POST', path, { body: { metadata: { name: 'a' }, spec } });
      const seen = [answer.status, ...listAt(answer.body, 'details.causes').map(cause => at(cause, 'field'))];
      expect(seen).toEqual(
        subject.differing<unknown[]>('rules-of-built-in-kinds', { real: [422, field], embedded: [201] }),
      );
    });

    it('keep what a pod runs, and where, from being changed', async () => {
      const subject = await makeSubject();
      await created(subject, inNamespace(subject, 'pods'), {
        metadata: { name: 'a' },
        spec: { nodeName: 'x', containers: CONTAINERS },
      });
      const answer = await patch(subject, inNamespace(subject, 'pods', 'a'), 'merge', { spec: { nodeName: 'y' } });
      expect(answer.status).toBe(subject.differing('rules-of-built-in-kinds', { real: 422, embedded: 200 }));
    });
  });

  describe('defaults of built-in kinds', () => {
    it('give a pod its grace period, its restart policy and its phase', async () => {
      const subject = await makeSubject();
      const body = { metadata: { name: 'a' }, spec: { containers: CONTAINERS } };
      const pod = await created(subject, inNamespace(subject, 'pods'), body);
      expect(pod).toMatchObject({
        metadata: { generation: 1 },
        spec: {
          terminationGracePeriodSeconds: 30,
          restartPolicy: 'Always',
          dnsPolicy: 'ClusterFirst',
          schedulerName: 'default-scheduler',
          securityContext: {},
        },
        status: { phase: 'Pending', qosClass: 'BestEffort' },
      });
    });

    it('give the tolerations and settings that a scheduler and a kubelet look at', async () => {
      const subject = await makeSubject();
      const body = { metadata: { name: 'a' }, spec: { containers: CONTAINERS } };
      const pod = await created(subject, inNamespace(subject, 'pods'), body);
      const keys = listAt(pod, 'spec.tolerations').map(toleration => textAt(toleration, 'key'));
      const seen = [...keys, at(pod, 'spec.containers.0.imagePullPolicy'), at(pod, 'spec.priority')];
      expect(seen).toEqual(
        subject.differing<unknown[]>('defaults-of-built-in-kinds', {
          real: ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable', 'IfNotPresent', 0],
          embedded: [undefined, undefined],
        }),
      );
    });

    it('write fields that nobody set as nothing', async () => {
      const subject = await makeSubject();
      const conditions = [{ type: 'Ready', status: 'True' }];
      const body = { metadata: { name: nodeOf(subject) }, status: { conditions } };
      const node = await created(subject, '/api/v1/nodes', body);
      expect(at(node, 'status.conditions')).toEqual(
        subject.differing<unknown>('defaults-of-built-in-kinds', {
          real: [{ type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }],
          embedded: conditions,
        }),
      );
    });
  });
}
