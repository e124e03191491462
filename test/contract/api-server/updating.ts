/** Updates, and the status. */
import { describe, expect, it } from 'vitest';
import {
  at,
  aConfigMap,
  configMaps,
  created,
  inNamespace,
  OTHER_UID,
  patch,
  read,
  runningPod,
  textAt,
  type MakeSubject,
} from './subject.ts';

const STALE =
  'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again';

const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'nowhere', uid: OTHER_UID };

const versionOf = (body: unknown): string => textAt(body, 'metadata.resourceVersion');

export function defineUpdating(makeSubject: MakeSubject): void {
  describe('update', () => {
    it('replaces the object when its version is the newest, and refuses an older one', async () => {
      const subject = await makeSubject();
      const before = await created(subject, configMaps(subject), aConfigMap('a', { key: '1' }));
      const put = (resourceVersion: string, data: object) =>
        subject.http.call('PUT', configMaps(subject, 'a'), { body: aConfigMap('a', data, { resourceVersion }) });
      const first = await put(versionOf(before), { other: '2' });
      expect([first.status, at(first.body, 'data')]).toEqual([200, { other: '2' }]);
      const second = await put(versionOf(before), { third: '3' });
      expect([second.status, at(second.body, 'reason'), at(second.body, 'message')]).toEqual([409, 'Conflict', STALE]);
      expect(at(second.body, 'details')).toEqual({ name: 'a', kind: 'configmaps' });
    });

    it('is unconditional without a version where the resource allows it', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a', { key: '1' }));
      const update = await subject.http.call('PUT', configMaps(subject, 'a'), { body: aConfigMap('a', { key: '2' }) });
      expect(update.status).toBe(200);
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${subject.namespace}/leases`;
      await created(subject, leases, { metadata: { name: 'a' }, spec: { holderIdentity: 'one' } });
      const body = { metadata: { name: 'a' }, spec: { holderIdentity: 'two' } };
      const lease = await subject.http.call('PUT', `${leases}/a`, { body });
      expect([lease.status, at(lease.body, 'reason')]).toEqual([422, 'Invalid']);
      expect(textAt(lease.body, 'message')).toContain('metadata.resourceVersion: Invalid value: ');
      expect(textAt(lease.body, 'message')).toContain('must be specified for an update');
    });

    it('creates where the resource allows it, and answers 404 elsewhere', async () => {
      const subject = await makeSubject();
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${subject.namespace}/leases`;
      const lease = await subject.http.call('PUT', `${leases}/a`, { body: { metadata: { name: 'a' }, spec: {} } });
      expect(lease.status).toBe(201);
      const configMap = await subject.http.call('PUT', configMaps(subject, 'a'), { body: aConfigMap('a') });
      expect(configMap.status).toBe(404);
    });

    it('refuses another UID, another name and another namespace', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a'));
      const put = async (metadata: object): Promise<number> =>
        (await subject.http.call('PUT', configMaps(subject, 'a'), { body: aConfigMap('a', {}, metadata) })).status;
      expect(await put({ uid: OTHER_UID })).toBe(409);
      expect(await put({ name: 'b' })).toBe(400);
      expect(await put({ namespace: 'default' })).toBe(400);
    });

    it('raises the generation with the spec only, and with neither labels nor status', async () => {
      const subject = await makeSubject();
      const path = `/apis/policy/v1/namespaces/${subject.namespace}/poddisruptionbudgets`;
      await created(subject, path, { metadata: { name: 'a' }, spec: { minAvailable: 1, selector: {} } });
      const generations: unknown[] = [];
      const write = async (suffix: string, body: object): Promise<void> => {
        const answer = await patch(subject, `${path}/a${suffix}`, 'merge', body);
        generations.push(at(answer.body, 'metadata.generation'));
      };
      await write('', { metadata: { labels: { a: 'b' } } });
      await write('', { spec: { minAvailable: 2 } });
      await write('/status', { status: { currentHealthy: 5 } });
      await write('', { status: { currentHealthy: 6 } });
      expect(generations).toEqual([1, 2, 2, 2]);
    });
  });

  describe('status', () => {
    it('is written through its subresource alone, which leaves the spec alone', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const path = inNamespace(subject, 'pods', 'web-0');
      const status = await patch(subject, `${path}/status`, 'merge', {
        metadata: { labels: { kept: 'yes' }, ownerReferences: [OWNER] },
        spec: { activeDeadlineSeconds: 5 },
        status: { reason: 'Because' },
      });
      expect(status.body).toMatchObject({ status: { phase: 'Running', reason: 'Because' } });
      // The metadata of a pod is written with it, save its owners.
      expect(at(status.body, 'metadata.labels')).toEqual({ kept: 'yes' });
      expect(at(status.body, 'metadata.ownerReferences')).toBeUndefined();
      expect(at(status.body, 'spec.activeDeadlineSeconds')).toBeUndefined();
      const ignored = await patch(subject, path, 'merge', { status: { reason: 'Ignored' } });
      expect(ignored.body).toMatchObject({ status: { reason: 'Because' } });
    });

    it('is dropped from what is created, save of a Node', async () => {
      const subject = await makeSubject();
      const name = `node-of-${subject.namespace}`;
      const node = await created(subject, '/api/v1/nodes', { metadata: { name }, status: { capacity: { cpu: '4' } } });
      expect(at(node, 'status.capacity.cpu')).toBe('4');
      const path = `/apis/policy/v1/namespaces/${subject.namespace}/poddisruptionbudgets`;
      const budget = await created(subject, path, {
        metadata: { name: 'a' },
        spec: { selector: {} },
        status: { currentHealthy: 5 },
      });
      expect(at(budget, 'status.currentHealthy')).toBe(0);
    });

    it('is read at its own path too, and is not there for a resource without one', async () => {
      const subject = await makeSubject();
      const pod = await runningPod(subject, 'web-0');
      expect(await read(subject, `${inNamespace(subject, 'pods', 'web-0')}/status`)).toEqual(pod);
      await created(subject, configMaps(subject), aConfigMap('a'));
      const answer = await subject.http.call('GET', `${configMaps(subject, 'a')}/status`);
      expect(answer.status).toBe(404);
    });
  });
}
