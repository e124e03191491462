/** Leases, which parts of Curfew hold, and Events, which they record. */
import { describe, expect, it } from 'vitest';
import { at, created, inNamespace, listAt, patch, textAt, type MakeSubject } from './subject.ts';

export function defineLeasesAndEvents(makeSubject: MakeSubject): void {
  describe('leases', () => {
    it('keep times to the microsecond and change holders at a version only', async () => {
      const subject = await makeSubject();
      const path = `/apis/coordination.k8s.io/v1/namespaces/${subject.namespace}/leases`;
      const renewTime = '2024-11-01T15:00:00.123456Z';
      const lease = await created(subject, path, {
        metadata: { name: 'a' },
        spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime },
      });
      expect(at(lease, 'spec')).toEqual({ holderIdentity: 'one', leaseDurationSeconds: 15, renewTime });
      const resourceVersion = textAt(lease, 'metadata.resourceVersion');
      const take = (holderIdentity: string) =>
        patch(subject, `${path}/a`, 'merge', { metadata: { resourceVersion }, spec: { holderIdentity } });
      const [two, three] = [await take('two'), await take('three')];
      expect([two.status, three.status]).toEqual([200, 409]);
      const wrong = await patch(subject, `${path}/a`, 'merge', { spec: { leaseDurationSeconds: 0 } });
      expect(wrong.status).toBe(422);
      const noTime = await patch(subject, `${path}/a`, 'merge', { spec: { renewTime: 'yesterday' } });
      expect([noTime.status, at(noTime.body, 'details.causes.0.field')]).toEqual([422, 'patch']);
    });
  });

  describe('events', () => {
    const event = (subject: { readonly namespace: string }, involvedObject: object): object => ({
      metadata: { name: 'web-0.1', namespace: subject.namespace },
      involvedObject,
      reason: 'Looked',
      message: 'at it',
      type: 'Warning',
      source: { component: 'contract' },
    });

    it('are stored, and selected by what they are about', async () => {
      const subject = await makeSubject();
      const path = inNamespace(subject, 'events');
      const about = { kind: 'Pod', namespace: subject.namespace, name: 'web-0', uid: 'uid-1' };
      await created(subject, path, event(subject, about));
      const count = async (fieldSelector: string): Promise<number> =>
        listAt((await subject.http.call('GET', path, { query: { fieldSelector } })).body, 'items').length;
      expect(await count('involvedObject.uid=uid-1,involvedObject.kind=Pod')).toBe(1);
      expect(await count('involvedObject.name=web-1')).toBe(0);
      expect(await count('reason=Looked,type=Warning')).toBe(1);
      expect(await count('type!=Warning')).toBe(0);
    });

    it('are in the namespace of what they are about, or in default where that has none', async () => {
      const subject = await makeSubject();
      const about = { kind: 'Pod', namespace: 'default', name: 'web-0' };
      const other = await subject.http.call('POST', inNamespace(subject, 'events'), { body: event(subject, about) });
      expect([other.status, at(other.body, 'details.causes.0.field')]).toEqual([422, 'involvedObject.namespace']);
      const node = await subject.http.call('POST', inNamespace(subject, 'events'), {
        body: event(subject, { kind: 'Node', name: 'n' }),
      });
      expect([node.status, at(node.body, 'details.causes.0.field')]).toEqual([422, 'involvedObject.namespace']);
    });
  });
}
