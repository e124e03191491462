/** Get and list: what stands in an answer, what is selected, and how requests are refused. */
import { describe, expect, it } from 'vitest';
import {
  at,
  aConfigMap,
  configMaps,
  created,
  inNamespace,
  listAt,
  namesIn,
  read,
  runningPod,
  textAt,
  type MakeSubject,
} from './subject.ts';

export function defineReading(makeSubject: MakeSubject): void {
  describe('reading', () => {
    it('answers 200 with kind and apiVersion, and what the server filled in', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a', { key: 'välue' }));
      const object = await read(subject, configMaps(subject, 'a'));
      expect(object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { key: 'välue' } });
      expect(Object.keys(Object(at(object, 'metadata'))).toSorted()).toEqual([
        'creationTimestamp',
        'managedFields',
        'name',
        'namespace',
        'resourceVersion',
        'uid',
      ]);
    });

    it('answers 404 with a Status for an object that is not there', async () => {
      const subject = await makeSubject();
      const answer = await subject.http.call('GET', configMaps(subject, 'nobody'));
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'configmaps "nobody" not found',
        reason: 'NotFound',
        details: { name: 'nobody', kind: 'configmaps' },
        code: 404,
      });
    });

    it('answers 404 for a resource that is not served, with a Status where the group version is', async () => {
      const { http } = await makeSubject();
      const unknownGroup = await http.call('GET', '/apis/nobody.example.com/v1/nothings');
      expect([unknownGroup.status, unknownGroup.text]).toEqual([404, '404 page not found\n']);
      const unknownVersion = await http.call('GET', '/apis/apps/v9/deployments');
      expect([unknownVersion.status, at(unknownVersion.body, 'kind')]).toEqual([404, 'Status']);
      const unknownResource = await http.call('GET', '/api/v1/nothings');
      expect(unknownResource.status).toBe(404);
      expect(unknownResource.body).toMatchObject({
        reason: 'NotFound',
        message: 'the server could not find the requested resource',
      });
    });

    it('lists with the kind of the list, and without kind and apiVersion in the items of a built-in resource', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a'));
      const list = await read(subject, configMaps(subject));
      expect(list).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
      expect(textAt(list, 'metadata.resourceVersion')).toMatch(/^\d+$/);
      expect(listAt(list, 'items').filter(item => at(item, 'kind') !== undefined)).toEqual([]);
    });

    it('lists an empty collection as an empty list, also in a namespace that does not exist', async () => {
      const subject = await makeSubject();
      const list = await read(subject, '/api/v1/namespaces/no-such-namespace/pods');
      expect(list).toMatchObject({ kind: 'PodList', items: [] });
    });

    it('lists in pages of one snapshot', async () => {
      const subject = await makeSubject();
      for (const name of ['a', 'b', 'c'])
        await created(subject, inNamespace(subject, 'secrets'), { metadata: { name } });
      const page = async (query: string): Promise<unknown> =>
        read(subject, `${inNamespace(subject, 'secrets')}?${query}`);
      const first = await page('limit=2');
      expect(namesIn(first)).toEqual(['a', 'b']);
      expect(at(first, 'metadata.remainingItemCount')).toBe(1);
      await created(subject, inNamespace(subject, 'secrets'), { metadata: { name: 'd' } });
      const second = await page(`limit=2&continue=${textAt(first, 'metadata.continue')}`);
      expect(namesIn(second)).toEqual(['c']);
      expect(at(second, 'metadata.continue')).toBeUndefined();
      expect(textAt(second, 'metadata.resourceVersion')).toBe(textAt(first, 'metadata.resourceVersion'));
    });

    it('counts no remaining items where a selector selects', async () => {
      const subject = await makeSubject();
      const metadata = { labels: { tier: 'one' } };
      for (const name of ['a', 'b']) await created(subject, configMaps(subject), aConfigMap(name, {}, metadata));
      const list = await read(subject, `${configMaps(subject)}?limit=1&labelSelector=tier%3Done`);
      expect(namesIn(list)).toEqual(['a']);
      expect(at(list, 'metadata.continue')).toBeTypeOf('string');
      expect(at(list, 'metadata.remainingItemCount')).toBeUndefined();
    });

    it('refuses a continue token that it cannot read', async () => {
      const subject = await makeSubject();
      const answer = await subject.http.call('GET', configMaps(subject), { query: { limit: 1, continue: 'nonsense' } });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([400, 'BadRequest']);
    });

    it.each([
      ['tier', ['a', 'b']],
      ['!tier', ['c']],
      ['tier=one', ['a']],
      ['tier==one', ['a']],
      ['tier!=one', ['b', 'c']],
      ['tier in (one,three)', ['a']],
      ['tier notin (one)', ['b', 'c']],
      ['tier,tier!=one', ['b']],
      ['rank>4', ['b']],
      ['rank<4', ['a']],
    ])('selects by the labels %s', async (labelSelector, names) => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a', {}, { labels: { tier: 'one', rank: '3' } }));
      await created(subject, configMaps(subject), aConfigMap('b', {}, { labels: { tier: 'two', rank: '5' } }));
      await created(subject, configMaps(subject), aConfigMap('c'));
      const list = await subject.http.call('GET', configMaps(subject), { query: { labelSelector } });
      expect(namesIn(list.body).filter(name => name.length === 1)).toEqual(names);
    });

    it.each(['a in (', '=', 'a=b=c', 'a b', 'a!', 'rank>x'])('refuses the label selector %s', async labelSelector => {
      const subject = await makeSubject();
      const answer = await subject.http.call('GET', configMaps(subject), { query: { labelSelector } });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([400, 'BadRequest']);
    });

    it('selects pods by the fields that pods can be selected by', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const select = async (fieldSelector: string): Promise<readonly string[]> => {
        const answer = await subject.http.call('GET', inNamespace(subject, 'pods'), { query: { fieldSelector } });
        return namesIn(answer.body);
      };
      expect(await select('metadata.name=web-0')).toEqual(['web-0']);
      expect(await select('spec.nodeName=nowhere')).toEqual(['web-0']);
      expect(await select('spec.nodeName!=nowhere')).toEqual([]);
      expect(await select('status.phase=Running,spec.nodeName=nowhere')).toEqual(['web-0']);
      expect(await select('status.phase!=Running')).toEqual([]);
      expect(await select(`metadata.namespace=${subject.namespace}`)).toEqual(['web-0']);
    });

    it.each([
      ['pods', 'spec.hostname=a', 'spec.hostname'],
      ['configmaps', 'data.key=a', 'data.key'],
      ['pods', 'metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ])('refuses to select %s by %s', async (resource, fieldSelector, message) => {
      const subject = await makeSubject();
      const answer = await subject.http.call('GET', inNamespace(subject, resource), { query: { fieldSelector } });
      expect(answer.status).toBe(400);
      expect(textAt(answer.body, 'message')).toContain(message);
    });

    it('takes any cached state for resourceVersion 0 and at least the state of a version that is given', async () => {
      const subject = await makeSubject();
      const object = await created(subject, configMaps(subject), aConfigMap('a'));
      const resourceVersion = textAt(object, 'metadata.resourceVersion');
      const list = async (query: object): Promise<number> =>
        (await subject.http.call('GET', configMaps(subject), { query: { ...query } })).status;
      expect(await list({ resourceVersion: 0 })).toBe(200);
      expect(await list({ resourceVersion })).toBe(200);
      expect(await list({ resourceVersion, resourceVersionMatch: 'NotOlderThan' })).toBe(200);
      expect(await list({ resourceVersionMatch: 'NotOlderThan' })).toBe(422);
      expect(await list({ resourceVersion: 'x' })).toBe(400);
      expect(await list({ resourceVersion: 0, resourceVersionMatch: 'Exact' })).toBe(422);
    });

    it('reads an object at any version that there was, and no other', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a'));
      const get = async (resourceVersion: string): Promise<unknown[]> => {
        const answer = await subject.http.call('GET', configMaps(subject, 'a'), { query: { resourceVersion } });
        return [answer.status, at(answer.body, 'reason')];
      };
      expect(await get('0')).toEqual([200, undefined]);
      expect(await get('1')).toEqual([200, undefined]);
      expect(await get('x')).toEqual([500, undefined]);
      expect(await get('99999999')).toEqual([504, 'Timeout']);
    });

    it('lists the state at exactly an old version', async () => {
      const subject = await makeSubject();
      const object = await created(subject, configMaps(subject), aConfigMap('a'));
      await created(subject, configMaps(subject), aConfigMap('b'));
      const query = { resourceVersion: textAt(object, 'metadata.resourceVersion'), resourceVersionMatch: 'Exact' };
      const answer = await subject.http.call('GET', configMaps(subject), { query });
      expect(answer.status).toBe(subject.differing('list-at-exact-version', { real: 200, embedded: 410 }));
    });

    it('answers 406 for a form that it cannot give, and YAML and metadata alone on request', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a', { key: 'value' }));
      const get = (accept: string) => subject.http.call('GET', configMaps(subject, 'a'), { accept });
      expect((await get('text/html')).status).toBe(406);
      expect((await get('text/html, */*')).status).toBe(200);
      const yaml = await get('application/yaml');
      expect([yaml.status, yaml.headers['content-type']]).toEqual([200, 'application/yaml']);
      expect(yaml.text).toContain('key: value\n');
      const metadata = await get('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io');
      expect(metadata.body).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
      expect(at(metadata.body, 'data')).toBeUndefined();
    });
  });
}
