/** What every `KubernetesApi` does: the same assertions in process, over HTTP and on a real control plane. */
import { describe, expect, it, vi } from 'vitest';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { readConditions } from '../../shared/domain/node.ts';
import { matchRepairConditions } from '../../shared/domain/repair-policy.ts';
import { findSubject } from '../../shared/lifecycle/subject.ts';
import type { KubernetesObject, ObjectRef } from '../../shared/domain/kubernetes-object.ts';
import { KindNotServed } from '../../shared/ports/read-answer.ts';
import { createEventRecorder } from '../../shared/adapters/kubernetes/event-recorder.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import {
  budget,
  configMap,
  configMapRef,
  CRDS,
  created,
  NOT_SERVED,
  podRef,
  runningPod,
  type KubernetesSubject,
} from './kubernetes-subject.ts';
import { objectAt, objectsIn } from '../fakes/objects.ts';

const OTHER_UID = '00000000-0000-0000-0000-000000000000';
/** A real control plane answers some things a moment later (a new CRD, a deleted one). */
const EVENTUALLY = { timeout: 15_000, interval: 50 };

export function defineKubernetesApiContract(name: string, makeSubject: () => Promise<KubernetesSubject>): void {
  const type = RESOURCES.ConfigMap;

  describe(`KubernetesApi: ${name}: reading`, () => {
    it('knows nothing of an object that does not exist', async () => {
      const { api, namespace } = await makeSubject();
      expect(await api.get(configMapRef(namespace, 'nobody'))).toEqual({ kind: 'notThere' });
      expect(await api.get(configMapRef('no-such-namespace', 'nobody'))).toEqual({ kind: 'notThere' });
      expect(await api.get({ type: NOT_SERVED, name: 'nobody' })).toEqual({ kind: 'notServed', type: NOT_SERVED });
    });

    it('returns an object as it was stored', async () => {
      const { api, namespace } = await makeSubject();
      const stored = await created(api, type, configMap(namespace, 'a', { data: { key: 'välue\n' } }));
      expect(stored).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { key: 'välue\n' } });
      expect(stored.metadata.uid).not.toBe('');
      expect(stored.metadata.resourceVersion).not.toBe('');
      expect(await objectAt(api, configMapRef(namespace, 'a'))).toEqual(stored);
    });

    it('lists what its selectors select, with apiVersion and kind', async () => {
      const { api, namespace } = await makeSubject();
      await created(api, type, configMap(namespace, 'a', { metadata: { labels: { tier: 'one' } } }));
      await created(api, type, configMap(namespace, 'b', { metadata: { labels: { tier: 'two' } } }));
      await created(api, type, configMap(namespace, 'c'));
      const list = async (query: object) =>
        (await objectsIn(api, type, { namespace, ...query }))?.map(nameOf).toSorted();
      expect(await list({ labelSelector: 'tier' })).toEqual(['a', 'b']);
      expect(await list({ labelSelector: 'tier in (one,three)' })).toEqual(['a']);
      expect(await list({ labelSelector: 'tier=two' })).toEqual(['b']);
      expect(await list({ fieldSelector: 'metadata.name=c' })).toEqual(['c']);
      const [item] = await objectsIn(api, type, { namespace, fieldSelector: 'metadata.name=c' });
      expect(item).toEqual(await objectAt(api, configMapRef(namespace, 'c')));
    });

    it('keeps of each object what the projection keeps, with apiVersion and kind', async () => {
      const { api, namespace } = await makeSubject();
      await created(api, type, configMap(namespace, 'a', { data: { key: 'one' } }));
      await created(api, type, configMap(namespace, 'b', { data: { key: 'two' } }));
      const project = ({
        apiVersion,
        kind,
        metadata: { name, uid, resourceVersion, creationTimestamp },
        data,
      }: KubernetesObject) => ({
        apiVersion,
        kind,
        data,
        metadata: { name, uid, resourceVersion, creationTimestamp },
      });
      const query = { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' };
      const items = await objectsIn(api, type, query, { project });
      const whole = await objectsIn(api, type, query);
      expect(items).toStrictEqual(whole?.map(project));
      expect(items?.map(({ data }) => data)).toEqual([{ key: 'one' }, { key: 'two' }]);
      expect(items?.[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    });

    it('throws what the projection throws', async () => {
      const { api, namespace } = await makeSubject();
      await created(api, type, configMap(namespace, 'a'));
      const project = (): never => {
        throw new TypeError('a bug');
      };
      await expect(api.list(type, { namespace }, { project })).rejects.toThrow(new TypeError('a bug'));
    });

    it('lists nothing in a namespace that does not exist, and says where the resource is not served', async () => {
      const { api } = await makeSubject();
      expect(await objectsIn(api, type, { namespace: 'no-such-namespace' })).toEqual([]);
      expect(await api.list(NOT_SERVED)).toEqual({ kind: 'notServed', type: NOT_SERVED });
    });

    it('refuses a selector that it cannot read', async () => {
      const { api, namespace } = await makeSubject();
      await expect(api.list(type, { namespace, labelSelector: 'a in (' })).rejects.toMatchObject({
        name: 'RetryableError',
        isReadRefused: true,
      });
    });
  });

  describe(`KubernetesApi: ${name}: creating`, () => {
    it('does not create what exists', async () => {
      const { api, namespace } = await makeSubject();
      const stored = await created(api, type, configMap(namespace, 'a'));
      expect(await api.create(type, configMap(namespace, 'a', { data: { other: '1' } }))).toEqual({ kind: 'exists' });
      expect(await objectAt(api, configMapRef(namespace, 'a'))).toEqual(stored);
    });

    it('makes a name where only its beginning is given', async () => {
      const { api, namespace } = await makeSubject();
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-', namespace } };
      const first = await created(api, type, manifest);
      const second = await created(api, type, manifest);
      expect(first.metadata.name).toMatch(/^gen-.+/);
      expect(second.metadata.name).not.toBe(first.metadata.name);
    });

    it('creates nothing in a namespace that does not exist, nor of a resource that is not served', async () => {
      const { api } = await makeSubject();
      expect(await api.create(type, configMap('no-such-namespace', 'a'))).toEqual({ kind: 'notFound' });
      const manifest = { apiVersion: 'nobody.example.com/v1', kind: 'Nothing', metadata: { name: 'a' } };
      expect(await api.create(NOT_SERVED, manifest)).toEqual({ kind: 'notFound' });
    });

    it('says what is wrong with an object that it refuses', async () => {
      const { api, namespace } = await makeSubject();
      const outcome = await api.create(type, configMap(namespace, 'Not A Name'));
      expect(outcome).toMatchObject({ kind: 'invalid', message: expect.stringContaining('metadata.name') });
    });
  });

  describe(`KubernetesApi: ${name}: patching`, () => {
    it('merges, removes what is null and leaves the rest', async () => {
      const { api, namespace } = await makeSubject();
      const metadata = { annotations: { keep: '1', drop: '2' } };
      const before = await created(api, type, configMap(namespace, 'a', { metadata, data: { key: 'value' } }));
      const body = { metadata: { annotations: { drop: null, add: '3' } } };
      const outcome = await api.patch(configMapRef(namespace, 'a'), { type: 'merge', body });
      const after = await objectAt(api, configMapRef(namespace, 'a'));
      expect(outcome).toEqual({ kind: 'ok', object: after });
      expect(after).toMatchObject({ metadata: { uid: before.metadata.uid }, data: { key: 'value' } });
      expect(after?.metadata.annotations).toEqual({ keep: '1', add: '3' });
      expect(after?.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    });

    it('applies JSON patch operations, and none of them when a test fails', async () => {
      const { api, namespace } = await makeSubject();
      const ref = configMapRef(namespace, 'a');
      await created(api, type, configMap(namespace, 'a', { data: { key: 'one' } }));
      const replace = (from: string, to: string) =>
        api.patch(ref, {
          type: 'json',
          body: [
            { op: 'test', path: '/data/key', value: from },
            { op: 'replace', path: '/data/key', value: to },
          ],
        });
      expect(await replace('one', 'two')).toMatchObject({ kind: 'ok', object: { data: { key: 'two' } } });
      expect(await replace('one', 'three')).toMatchObject({ kind: 'conflict' });
      expect(await objectAt(api, ref)).toMatchObject({ data: { key: 'two' } });
    });

    it('answers notFound for an object that does not exist', async () => {
      const { api, namespace } = await makeSubject();
      const outcome = await api.patch(configMapRef(namespace, 'nobody'), { type: 'merge', body: { data: { a: 'b' } } });
      expect(outcome).toEqual({ kind: 'notFound' });
    });

    it('I6: does not take an object for gone whose kind is not served', async () => {
      const { api } = await makeSubject();
      const ref = { type: NOT_SERVED, name: 'nobody' };
      await expect(api.patch(ref, { type: 'merge', body: { spec: {} } })).rejects.toThrow(KindNotServed);
      await expect(api.delete(ref, { preconditions: {} })).rejects.toThrow(KindNotServed);
    });

    it('I10: takes resourceVersion and UID in a merge patch as preconditions', async () => {
      const { api, namespace } = await makeSubject();
      const ref = configMapRef(namespace, 'a');
      const { metadata } = await created(api, type, configMap(namespace, 'a'));
      const { uid, resourceVersion } = metadata;
      const patch = (preconditions: Record<string, string>, value: string) =>
        api.patch(ref, { type: 'merge', body: { metadata: preconditions, data: { value } } });
      expect(await patch({ uid, resourceVersion }, '1')).toMatchObject({
        kind: 'ok',
        object: { data: { value: '1' } },
      });
      expect(await patch({ uid, resourceVersion }, '2')).toMatchObject({ kind: 'conflict' });
      expect(await patch({ uid: OTHER_UID }, '3')).toMatchObject({ kind: 'conflict' });
      expect(await objectAt(api, ref)).toMatchObject({ data: { value: '1' } });
    });

    it('refuses a result that is not valid', async () => {
      const { api, namespace } = await makeSubject();
      await created(api, type, configMap(namespace, 'a'));
      const patch = { type: 'merge', body: { metadata: { labels: { 'not a key!': 'x' } } } } as const;
      await expect(api.patch(configMapRef(namespace, 'a'), patch)).rejects.toMatchObject({
        name: 'TerminalError',
        reason: 'Invalid',
      });
    });

    it('writes status through its subresource, and nothing else with it', async () => {
      const subject = await makeSubject();
      const pod = await runningPod(subject, 'web-0');
      const body = { metadata: { labels: { sneaked: 'in' } }, status: { reason: 'Because' } };
      const outcome = await subject.api.patch(podRef(pod), { type: 'merge', body }, { subresource: 'status' });
      expect(outcome).toMatchObject({ kind: 'ok', object: { status: { phase: 'Running', reason: 'Because' } } });
      const ignored = await subject.api.patch(podRef(pod), { type: 'merge', body: { status: { reason: 'Ignored' } } });
      expect(ignored).toMatchObject({ kind: 'ok', object: { status: { reason: 'Because' } } });
    });
  });

  describe(`KubernetesApi: ${name}: what must not mislead`, () => {
    // kube-apiserver takes it, and hands it out in that order: the first entry of a type counts.
    it('keeps several conditions of one type on a Node, in their order, that a merge patch writes', async () => {
      const { api, namespace } = await makeSubject();
      const ref = { type: RESOURCES.Node, name: `node-of-${namespace}` };
      await created(api, RESOURCES.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: ref.name } });
      const conditions = [
        { type: 'Ready', status: 'True', lastTransitionTime: '2024-11-01T15:00:00Z' },
        { type: 'Ready', status: 'False', lastTransitionTime: '2024-11-01T14:00:00Z' },
      ];
      const patch = { type: 'merge', body: { status: { conditions } } } as const;
      expect(await api.patch(ref, patch, { subresource: 'status' })).toMatchObject({ kind: 'ok' });
      const read = readConditions((await objectAt(api, ref))?.status?.['conditions']);
      expect(read.map(({ type: condition, status }) => `${condition}=${status}`)).toEqual([
        'Ready=True',
        'Ready=False',
      ]);
      expect(matchRepairConditions({ conditions: read })).toEqual([]);
      expect(matchRepairConditions({ conditions: read.toReversed() })).toHaveLength(1);
    });

    it('I10: knows the object by its UID when a message names it by another name, or names another by its name', async () => {
      const { api, namespace } = await makeSubject();
      const ref = configMapRef(namespace, 'a');
      const first = await created(api, type, configMap(namespace, 'a'));
      const { uid } = first.metadata;
      const loaded = { kind: 'known', value: null, stored: { subject: { kind: 'ConfigMap', name: 'a', uid } } };
      const timedRecordOf = (): never => ({ load: async () => loaded }) as never;
      const find = (name: string) =>
        findSubject({ kubernetes: api }, { ref: { ...ref, name }, uid, timedRecordOf }).then(found => found.kind);
      expect(await find('no-such-name')).toBe('here');
      await api.delete(ref, { preconditions: { uid } });
      await created(api, type, configMap(namespace, 'a'));
      expect(await find('a')).toBe('gone');
    });
  });

  describe(`KubernetesApi: ${name}: deleting`, () => {
    it('removes an object, and finds nothing the second time', async () => {
      const { api, namespace } = await makeSubject();
      const ref = configMapRef(namespace, 'a');
      const { metadata } = await created(api, type, configMap(namespace, 'a'));
      expect(await api.delete(ref, { preconditions: { uid: metadata.uid } })).toEqual({ kind: 'ok' });
      expect(await objectAt(api, ref)).toBeUndefined();
      expect(await api.delete(ref, { preconditions: { uid: metadata.uid } })).toEqual({ kind: 'notFound' });
    });

    it('I10: deletes no other object of the same name, nor another version', async () => {
      const { api, namespace } = await makeSubject();
      const ref = configMapRef(namespace, 'a');
      const stored = await created(api, type, configMap(namespace, 'a'));
      expect(await api.delete(ref, { preconditions: { uid: OTHER_UID } })).toMatchObject({ kind: 'conflict' });
      const { uid } = stored.metadata;
      const outcome = await api.delete(ref, { preconditions: { uid, resourceVersion: '1' } });
      expect(outcome).toMatchObject({ kind: 'conflict' });
      expect(await objectAt(api, ref)).toEqual(stored);
    });

    it('keeps an object with finalizers, marked, until the last one is gone', async () => {
      const { api, namespace } = await makeSubject();
      const ref = configMapRef(namespace, 'a');
      const finalizers = ['example.com/one', 'example.com/two'];
      const { metadata } = await created(api, type, configMap(namespace, 'a', { metadata: { finalizers } }));
      expect(await api.delete(ref, { preconditions: { uid: metadata.uid } })).toEqual({ kind: 'ok' });
      const marked = await objectAt(api, ref);
      expect(marked?.metadata.deletionTimestamp).toMatch(/^\d{4}-/);
      // Deleting again changes nothing.
      expect(await api.delete(ref, { preconditions: { uid: metadata.uid } })).toEqual({ kind: 'ok' });
      expect((await objectAt(api, ref))?.metadata.deletionTimestamp).toBe(marked?.metadata.deletionTimestamp);

      const remove = (left: string[]) => api.patch(ref, { type: 'merge', body: { metadata: { finalizers: left } } });
      expect(await remove(['example.com/two'])).toMatchObject({ kind: 'ok' });
      expect((await objectAt(api, ref))?.metadata.finalizers).toEqual(['example.com/two']);
      expect(await remove([])).toMatchObject({ kind: 'ok' });
      expect(await objectAt(api, ref)).toBeUndefined();
    });

    it('refuses a new finalizer on an object that is being deleted', async () => {
      const { api, namespace } = await makeSubject();
      const ref = configMapRef(namespace, 'a');
      const { metadata } = await created(
        api,
        type,
        configMap(namespace, 'a', { metadata: { finalizers: ['example.com/one'] } }),
      );
      await api.delete(ref, { preconditions: { uid: metadata.uid } });
      const body = { metadata: { finalizers: ['example.com/one', 'example.com/late'] } };
      await expect(api.patch(ref, { type: 'merge', body })).rejects.toMatchObject({ name: 'TerminalError' });
      await api.patch(ref, { type: 'merge', body: { metadata: { finalizers: null } } });
      expect(await objectAt(api, ref)).toBeUndefined();
    });

    it('deletes a pod gracefully, with its own grace period or a shorter one, and at once without', async () => {
      const subject = await makeSubject();
      const pod = await runningPod(subject, 'web-0');
      const preconditions = { uid: pod.metadata.uid };
      const graceOf = async () => (await objectAt(subject.api, podRef(pod)))?.metadata.deletionGracePeriodSeconds;
      expect(await subject.api.delete(podRef(pod), { preconditions })).toEqual({ kind: 'ok' });
      expect(await graceOf()).toBe(30);
      expect(await subject.api.delete(podRef(pod), { preconditions, gracePeriodSeconds: 5 })).toEqual({ kind: 'ok' });
      expect(await graceOf()).toBe(5);
      expect(await subject.api.delete(podRef(pod), { preconditions, gracePeriodSeconds: 0 })).toEqual({ kind: 'ok' });
      expect(await objectAt(subject.api, podRef(pod))).toBeUndefined();
    });
  });

  describe(`KubernetesApi: ${name}: evicting`, () => {
    const labels = { app: 'web' };

    it('deletes the pod gracefully where no budget objects', async () => {
      const subject = await makeSubject();
      const pod = await runningPod(subject, 'web-0', labels);
      await budget(subject, 'permits', { labels, minAvailable: 0, disruptionsAllowed: 1 });
      const evict = () => subject.api.evict(podRef(pod), { preconditions: { uid: pod.metadata.uid } });
      await vi.waitFor(async () => expect(await evict()).toEqual({ kind: 'ok' }), EVENTUALLY);
      expect((await objectAt(subject.api, podRef(pod)))?.metadata.deletionGracePeriodSeconds).toBe(30);
    });

    it('is blocked by a budget that allows no disruption', async () => {
      const subject = await makeSubject();
      const pod = await runningPod(subject, 'web-0', labels);
      await budget(subject, 'forbids', { labels, minAvailable: 1, disruptionsAllowed: 0 });
      const outcome = await subject.api.evict(podRef(pod), { preconditions: { uid: pod.metadata.uid } });
      expect(outcome).toMatchObject({ kind: 'blocked', message: expect.stringContaining('forbids') });
      expect((await objectAt(subject.api, podRef(pod)))?.metadata.deletionTimestamp).toBeUndefined();
    });

    it('reports two budgets for one pod as misconfigured', async () => {
      const subject = await makeSubject();
      const pod = await runningPod(subject, 'web-0', labels);
      await budget(subject, 'one', { labels, minAvailable: 0, disruptionsAllowed: 1 });
      await budget(subject, 'two', { labels, minAvailable: 0, disruptionsAllowed: 1 });
      const outcome = await subject.api.evict(podRef(pod), { preconditions: { uid: pod.metadata.uid } });
      expect(outcome).toMatchObject({
        kind: 'misconfigured',
        message: expect.stringContaining('more than one PodDisruptionBudget'),
      });
    });

    it('finds no pod that is not there', async () => {
      const { api, namespace } = await makeSubject();
      const ref: ObjectRef = { type: RESOURCES.Pod, namespace, name: 'nobody' };
      expect(await api.evict(ref, { preconditions: {} })).toEqual({ kind: 'notFound' });
    });

    it('I10: evicts no other pod of the same name', async () => {
      const subject = await makeSubject();
      const pod = await runningPod(subject, 'web-0', labels);
      expect(await subject.api.evict(podRef(pod), { preconditions: { uid: OTHER_UID } })).toMatchObject({
        kind: 'conflict',
      });
      expect((await objectAt(subject.api, podRef(pod)))?.metadata.deletionTimestamp).toBeUndefined();
    });
  });

  describe(`KubernetesApi: ${name}: custom resources`, () => {
    it('serves a definition from creation to deletion, with its schema', async () => {
      const { api, namespace } = await makeSubject();
      const group = `${namespace}.example.com`;
      const gadgets = { group, version: 'v1', resource: 'gadgets' };
      await created(api, CRDS, gadgetDefinition(group));
      await vi.waitFor(async () => expect(await objectsIn(api, gadgets)).toEqual([]), EVENTUALLY);
      const gadget = (spec: object) => ({
        apiVersion: `${group}/v1`,
        kind: 'Gadget',
        metadata: { name: 'g', namespace },
        spec,
      });
      const refused = await api.create(gadgets, gadget({ size: 'large' }));
      expect(refused).toMatchObject({ kind: 'invalid', message: expect.stringContaining('spec.size') });
      const stored = await created(api, gadgets, gadget({ size: 3, unknown: 'pruned' }));
      expect(stored).toMatchObject({ apiVersion: `${group}/v1`, kind: 'Gadget', spec: { size: 3 } });
      expect(stored.spec).not.toHaveProperty('unknown');
      expect(await objectsIn(api, gadgets)).toEqual([stored]);

      const ref = { type: CRDS, name: `gadgets.${group}` };
      const definition = await objectAt(api, ref);
      await api.delete(ref, { preconditions: { uid: definition?.metadata.uid ?? '' } });
      await vi.waitFor(
        async () => expect(await api.list(gadgets)).toEqual({ kind: 'notServed', type: gadgets }),
        EVENTUALLY,
      );
    });

    it('tells a version that is served no more from a kind that is gone', async () => {
      const { api, namespace } = await makeSubject();
      const group = `${namespace}.example.com`;
      const current = { group, version: 'v1', resource: 'gadgets' };
      const old = { ...current, version: 'v1beta1' };
      await created(api, CRDS, gadgetDefinition(group, { v1: true, v1beta1: true }));
      await vi.waitFor(
        async () => expect(await api.versionsOf({ group, kind: 'Gadget' })).toEqual(['v1', 'v1beta1']),
        EVENTUALLY,
      );
      await vi.waitFor(async () => expect(await objectsIn(api, old)).toEqual([]), EVENTUALLY);
      const stored = await created(api, old, {
        apiVersion: `${group}/v1beta1`,
        kind: 'Gadget',
        metadata: { name: 'g', namespace },
      });
      const { spec } = gadgetDefinition(group, { v1: true, v1beta1: false });
      await api.patch({ type: CRDS, name: `gadgets.${group}` }, { type: 'merge', body: { spec } });
      await vi.waitFor(async () => expect(await api.list(old)).toEqual({ kind: 'notServed', type: old }), EVENTUALLY);
      await vi.waitFor(async () => expect(await api.versionsOf({ group, kind: 'Gadget' })).toEqual(['v1']), EVENTUALLY);
      const { uid, name } = stored.metadata;
      expect(await api.get({ type: old, namespace, name })).toEqual({ kind: 'notServed', type: old });
      expect(await objectAt(api, { type: current, namespace, name })).toMatchObject({ metadata: { uid } });
      expect(await api.versionsOf({ group, resource: 'gadgets' })).toEqual(['v1']);
      expect(await api.versionsOf({ group, resource: 'nothings' })).toEqual([]);
      expect(await api.versionsOf({ group, kind: 'Nothing' })).toEqual([]);
      expect(await api.versionsOf({ group: 'nobody.example.com', kind: 'Gadget' })).toEqual([]);
      expect(await api.versionsOf({ group: '', kind: 'Pod' })).toEqual(['v1']);
      expect(await api.versionsOf({ group: '', resource: 'pods' })).toEqual(['v1']);
    });
  });

  describe(`KubernetesApi: ${name}: events`, () => {
    it('records one Event per object and reason, counts its repetitions and keeps the message of the last time', async () => {
      const { api, namespace } = await makeSubject();
      const failures: unknown[] = [];
      const recorder = createEventRecorder({
        kubernetes: api,
        clock: createManualClock(),
        instance: 'contract',
        onFailure: (_, error) => failures.push(error),
      });
      const about = await created(api, type, configMap(namespace, 'a'));
      const event = { type: 'Warning', reason: 'InvalidConfig', message: 'it says nothing', about } as const;
      await recorder.record(event);
      await recorder.record(event);
      await recorder.record({ ...event, message: 'it says something else' });
      await recorder.record({ ...event, reason: 'OtherReason' });
      expect(failures).toEqual([]);
      const recorded = await objectsIn(api, RESOURCES.Event, { namespace });
      expect(recorded).toContainEqual(
        expect.objectContaining({
          type: 'Warning',
          reason: 'InvalidConfig',
          message: 'it says something else',
          count: 3,
          source: { component: 'curfew' },
          involvedObject: expect.objectContaining({ kind: 'ConfigMap', name: 'a', namespace, uid: about.metadata.uid }),
        }),
      );
      expect(recorded.filter(({ reason }) => reason === 'InvalidConfig')).toHaveLength(1);
      expect(recorded.filter(({ reason }) => reason === 'OtherReason')).toMatchObject([{ count: 1 }]);
    });

    it('records what is about a cluster-scoped object in the default namespace', async () => {
      const { api, namespace } = await makeSubject();
      const failures: unknown[] = [];
      const clock = createManualClock();
      const onFailure = (_: unknown, error: unknown): number => failures.push(error);
      const recorder = createEventRecorder({ kubernetes: api, clock, instance: 'contract', onFailure });
      const uid = `uid-of-${namespace}`;
      const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid } };
      await recorder.record({ type: 'Normal', reason: 'Looked', message: 'at it', about });
      expect(failures).toEqual([]);
      const recorded = await objectsIn(api, RESOURCES.Event, {
        namespace: 'default',
        fieldSelector: `involvedObject.uid=${uid}`,
      });
      expect(recorded).toHaveLength(1);
    });
  });
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name;
}

/** @param versions whether each is served; `v1` is the stored one */
function gadgetDefinition(group: string, versions: Readonly<Record<string, boolean>> = { v1: true }) {
  const spec = { type: 'object', properties: { size: { type: 'integer' } } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: Object.entries(versions).map(([name, served]) => ({ name, served, storage: name === 'v1', schema })),
    },
  };
}
