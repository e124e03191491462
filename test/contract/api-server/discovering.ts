/** Discovery, version, health, tables of built-in kinds: what kubectl reads before it does anything. */
import { describe, expect, it } from 'vitest';
import { at, created, listAt, read, runningPod, textAt, inNamespace, type MakeSubject } from './subject.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

export function defineDiscovering(makeSubject: MakeSubject): void {
  describe('discovery', () => {
    it('tells the version, and that the server is well', async () => {
      const subject = await makeSubject();
      const version = await read(subject, '/version');
      expect(version).toMatchObject({
        major: '1',
        minor: expect.stringMatching(/^\d+$/),
        gitVersion: expect.stringMatching(/^v1\./),
      });
      for (const path of ['/readyz', '/livez', '/healthz']) {
        const answer = await subject.http.call('GET', path);
        expect([answer.status, answer.text]).toEqual([200, 'ok']);
      }
    });

    it('lists the core versions and the groups with their preferred versions', async () => {
      const subject = await makeSubject();
      expect(await read(subject, '/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
      const groups = await read(subject, '/apis');
      expect(groups).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
      const policy = listAt(groups, 'groups').find(group => at(group, 'name') === 'policy');
      expect(policy).toEqual({
        name: 'policy',
        versions: [{ groupVersion: 'policy/v1', version: 'v1' }],
        preferredVersion: { groupVersion: 'policy/v1', version: 'v1' },
      });
      expect(await read(subject, '/apis/policy')).toMatchObject({ kind: 'APIGroup', name: 'policy' });
    });

    it('lists the resources of a version with verbs, short names and subresources', async () => {
      const subject = await makeSubject();
      const list = await read(subject, '/api/v1');
      expect(list).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
      const named = (name: string): unknown => listAt(list, 'resources').find(each => at(each, 'name') === name);
      expect(named('nodes')).toMatchObject({
        singularName: 'node',
        namespaced: false,
        kind: 'Node',
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        shortNames: ['no'],
      });
      expect(named('nodes/status')).toMatchObject({
        namespaced: false,
        kind: 'Node',
        verbs: ['get', 'patch', 'update'],
      });
      expect(named('pods')).toMatchObject({ namespaced: true, categories: ['all'], shortNames: ['po'] });
      expect(named('pods/eviction')).toEqual({
        name: 'pods/eviction',
        singularName: '',
        namespaced: true,
        group: 'policy',
        version: 'v1',
        kind: 'Eviction',
        verbs: ['create'],
      });
    });

    it('answers in one document where that is asked for', async () => {
      const subject = await makeSubject();
      const answer = await subject.http.call('GET', '/apis', { accept: AGGREGATED });
      expect(answer.body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
      const policy = listAt(answer.body, 'items').find(group => at(group, 'metadata.name') === 'policy');
      expect(policy).toMatchObject({
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'poddisruptionbudgets',
                responseKind: { kind: 'PodDisruptionBudget' },
                scope: 'Namespaced',
                singularResource: 'poddisruptionbudget',
                shortNames: ['pdb'],
                subresources: [{ subresource: 'status' }],
              },
            ],
            freshness: 'Current',
          },
        ],
      });
    });

    it('gives OpenAPI documents by group version', async () => {
      const subject = await makeSubject();
      const index = await read(subject, '/openapi/v3');
      expect(Object.keys(Object(at(index, 'paths')))).toEqual(expect.arrayContaining(['api/v1', 'apis/policy/v1']));
      const url = textAt(Object(at(index, 'paths'))['apis/policy/v1'], 'serverRelativeURL');
      expect(await read(subject, url)).toMatchObject({ openapi: '3.0.0' });
    });
  });

  describe('tables', () => {
    it.each([
      ['pods', ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node', 'Nominated Node', 'Readiness Gates']],
      ['configmaps', ['Name', 'Data', 'Age']],
      [
        'events',
        ['Last Seen', 'Type', 'Reason', 'Object', 'Subobject', 'Source', 'Message', 'First Seen', 'Count', 'Name'],
      ],
    ])('of %s have their columns', async (resource, columns) => {
      const subject = await makeSubject();
      const answer = await subject.http.call('GET', inNamespace(subject, resource), { accept: TABLE });
      expect(listAt(answer.body, 'columnDefinitions').map(each => at(each, 'name'))).toEqual(columns);
    });

    it('of pods show how they are', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const answer = await subject.http.call('GET', inNamespace(subject, 'pods'), { accept: TABLE });
      expect(listAt(answer.body, 'rows.0.cells').slice(0, 4)).toEqual(['web-0', '0/1', 'Running', '0']);
      expect(at(answer.body, 'rows.0.object')).toMatchObject({
        kind: 'PartialObjectMetadata',
        metadata: { name: 'web-0' },
      });
      await subject.http.call('DELETE', inNamespace(subject, 'pods', 'web-0'));
      const deleted = await subject.http.call('GET', inNamespace(subject, 'pods', 'web-0'), { accept: TABLE });
      expect(listAt(deleted.body, 'rows.0.cells')[2]).toBe('Terminating');
    });

    it('of nodes show whether they take pods', async () => {
      const subject = await makeSubject();
      const name = `node-of-${subject.namespace}`;
      const conditions = [{ type: 'Ready', status: 'False' }];
      await created(subject, '/api/v1/nodes', {
        metadata: { name },
        spec: { unschedulable: true },
        status: { conditions },
      });
      const answer = await subject.http.call('GET', `/api/v1/nodes/${name}`, { accept: TABLE });
      expect(listAt(answer.body, 'rows.0.cells').slice(0, 3)).toEqual([name, 'NotReady,SchedulingDisabled', '<none>']);
    });
  });
}
