/** DeleteOptions that cannot be read or contradict themselves: nothing is deleted. */
import { describe, expect, it } from 'vitest';
import {
  aConfigMap,
  at,
  configMaps,
  created,
  inNamespace,
  OTHER_UID,
  runningPod,
  type MakeSubject,
} from './subject.ts';

export function defineDeleteOptions(makeSubject: MakeSubject): void {
  describe('delete options', () => {
    it.each([
      [{ preconditions: 'x' }, 400],
      [{ preconditions: { uid: 5 } }, 400],
      [{ preconditions: { resourceVersion: 5 } }, 400],
      [{ gracePeriodSeconds: '5' }, 400],
      [{ gracePeriodSeconds: 1.5 }, 400],
      [{ propagationPolicy: 5 }, 400],
      [{ orphanDependents: 'yes' }, 400],
      [{ dryRun: 'All' }, 400],
      [{ kind: 'Other' }, 400],
      ['[]', 400],
      ['{', 400],
      [{ preconditions: { uid: '' } }, 409],
      [{ preconditions: { uid: OTHER_UID } }, 409],
      [{ preconditions: { resourceVersion: '' } }, 409],
      [{ dryRun: ['Some'] }, 422],
      [{ propagationPolicy: '' }, 422],
      [{ propagationPolicy: 'Sideways' }, 422],
      [{ orphanDependents: false, propagationPolicy: 'Background' }, 422],
    ])('%j is refused with %i, and nothing is deleted', async (body, status) => {
      const subject = await makeSubject();
      const object = await created(subject, configMaps(subject), aConfigMap('a'));
      const answer = await subject.http.call('DELETE', configMaps(subject, 'a'), { body });
      expect([answer.status, at(answer.body, 'status')]).toEqual([status, 'Failure']);
      expect((await subject.http.call('GET', configMaps(subject, 'a'))).body).toEqual(object);
    });

    it.each([
      [{ gracePeriodSeconds: 'x' }, 400],
      [{ dryRun: 'Some' }, 422],
      [{ propagationPolicy: 'Sideways' }, 422],
    ])('%j in the query is refused with %i, and nothing is deleted', async (query, status) => {
      const subject = await makeSubject();
      const object = await created(subject, configMaps(subject), aConfigMap('a'));
      const answer = await subject.http.call('DELETE', configMaps(subject, 'a'), { query: { ...query } });
      expect(answer.status).toBe(status);
      expect((await subject.http.call('GET', configMaps(subject, 'a'))).body).toEqual(object);
    });

    it('of the wrong type in an eviction are refused, and nobody is evicted', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const path = inNamespace(subject, 'pods', 'web-0');
      const deleteOptions = { preconditions: { uid: 5 } };
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0' }, deleteOptions };
      expect((await subject.http.call('POST', `${path}/eviction`, { body })).status).toBe(400);
      expect(at((await subject.http.call('GET', path)).body, 'metadata.deletionTimestamp')).toBeUndefined();
    });

    it('have no say over all namespaces at once', async () => {
      const { http } = await makeSubject();
      const answer = await http.call('DELETE', '/api/v1/namespaces', { query: { labelSelector: 'no=such' } });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([405, 'MethodNotAllowed']);
    });
  });
}
