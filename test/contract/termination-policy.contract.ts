/**
 * The admission policy that `curfew policies admission` prints, on the embedded API server and on kube-apiserver, with Karpenter's
 * definitions and with those that `curfew crd-patch nodepool` patches.
 */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { nodePoolPatch } from '../../cli/crd-patch.ts';
import { terminationPolicy } from '../../cli/policies/termination-policy.ts';
import { terminationTable } from '../../cli/policies/termination-settings.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { applyFiles, applyManifest } from './api-server/manifests.ts';
import { at, EVENTUALLY, patch, read, type ApiServerSubject, type MakeSubject } from './api-server/subject.ts';

const CLAIMS = '/apis/karpenter.sh/v1/nodeclaims';
const NODES = '/api/v1/nodes';
const POOLS = '/apis/karpenter.sh/v1/nodepools';
const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.karpenter.sh';
const OURS = 'example.com/ours';
const BUILTIN = 'karpenter.sh/termination';
const MARK = 'curfew.dev/termination-finalizer';
const CLASS = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
const REQUIREMENT = { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] };

const anObject = (
  kind: string,
  name: string,
  spec: JsonObject,
  labels: Record<string, string> = {},
): KubernetesObject => ({
  apiVersion: kind === 'NodePool' ? 'karpenter.sh/v1' : 'curfew.dev/v1alpha1',
  kind,
  metadata: { name, labels, uid: name, resourceVersion: '', creationTimestamp: '' },
  spec,
});
const asked = (name: string, termination: JsonObject): readonly KubernetesObject[] => [
  anObject('NodePool', name, {}, { pool: name }),
  anObject('NodeLifecyclePolicy', name, {
    nodePoolSelector: { matchLabels: { pool: name } },
    termination: { finalizerName: OURS, ...termination },
  }),
];

/** @param files of Karpenter's definitions */
export function defineTerminationPolicyContract(
  name: string,
  makeSubject: MakeSubject,
  files: readonly string[],
): void {
  describe(`the termination policy: ${name}`, () => {
    let subject: ApiServerSubject;
    let names = 0;

    beforeAll(async () => {
      subject = await makeSubject();
      await applyFiles(subject.http, files);
      for (const path of [CLAIMS, POOLS]) await vi.waitFor(async () => read(subject, path), EVENTUALLY);
      const result = terminationTable([
        ...asked('keep', {}),
        ...asked('replace', { builtin: 'Replace' }),
        ...asked('nodes-only', { builtin: 'Replace', scope: 'NodeOnly' }),
        anObject('NodePool', 'named', { disruption: { customFinalizerName: 'example.com/named' } }),
        anObject('NodePool', 'plain', {}),
      ]);
      if (result.kind !== 'table') throw new Error(result.messages.join());
      for (const manifest of terminationPolicy(result.table)) {
        const answer = await applyManifest(subject.http, {
          ...manifest,
          metadata: { name: String(manifest.metadata.name) },
        });
        expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
      }
      await vi.waitFor(async () => {
        const probe = await make(CLAIMS, 'keep', [], { dryRun: 'All' });
        expect(at(probe, 'metadata.finalizers')).toEqual([OURS]);
      }, EVENTUALLY);
    }, 60_000);

    async function make(
      path: string,
      pool: string | undefined,
      finalizers: readonly string[],
      query: Readonly<Record<string, string>> = {},
    ): Promise<unknown> {
      const metadata = {
        name: `t${(names += 1)}-${subject.namespace}`,
        labels: pool === undefined ? {} : { 'karpenter.sh/nodepool': pool },
        finalizers,
      };
      const body =
        path === NODES
          ? { apiVersion: 'v1', kind: 'Node', metadata }
          : {
              apiVersion: 'karpenter.sh/v1',
              kind: 'NodeClaim',
              metadata,
              spec: { nodeClassRef: CLASS, requirements: [REQUIREMENT] },
            };
      const answer = await subject.http.call('POST', path, { body, query });
      expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
      return answer.body;
    }
    const finalizersOf = (object: unknown): unknown => at(object, 'metadata.finalizers');
    const nameOf = (object: unknown): string => String(at(object, 'metadata.name'));

    it.each([
      { path: CLAIMS, pool: 'keep', sent: [BUILTIN], stored: [BUILTIN, OURS] },
      { path: NODES, pool: 'keep', sent: [], stored: [OURS] },
      { path: CLAIMS, pool: 'keep', sent: [OURS], stored: [OURS] },
      { path: CLAIMS, pool: 'replace', sent: [BUILTIN, 'a.example/b'], stored: ['a.example/b', OURS] },
      { path: NODES, pool: 'replace', sent: [BUILTIN], stored: [OURS] },
      { path: CLAIMS, pool: 'nodes-only', sent: [BUILTIN], stored: [BUILTIN] },
      { path: NODES, pool: 'nodes-only', sent: [BUILTIN], stored: [OURS] },
      { path: CLAIMS, pool: 'named', sent: [], stored: ['example.com/named'] },
      { path: CLAIMS, pool: 'plain', sent: [BUILTIN], stored: [BUILTIN] },
      { path: NODES, pool: 'unknown', sent: [], stored: undefined },
      { path: NODES, pool: undefined, sent: [], stored: undefined },
    ])('$path of the pool $pool created with $sent has $stored', async ({ path, pool, sent, stored }) => {
      const object = await make(path, pool, sent);
      expect(finalizersOf(object)).toEqual(stored);
      const ours = stored?.find(each => each === OURS || each === 'example.com/named');
      expect(Object(at(object, 'metadata.annotations'))[MARK]).toBe(ours);
    });

    it.each([CLAIMS, NODES])('Replace takes it off %s in merge patches, applies and updates', async collection => {
      const object = await make(collection, 'replace', []);
      const path = `${collection}/${nameOf(object)}`;
      const both = { metadata: { finalizers: [BUILTIN, OURS] } };
      expect(finalizersOf((await patch(subject, path, 'merge', both)).body)).toEqual([OURS]);
      const { apiVersion, kind } = { apiVersion: at(object, 'apiVersion'), kind: at(object, 'kind') };
      const applied = await patch(
        subject,
        path,
        'apply',
        { apiVersion, kind, metadata: { name: nameOf(object), finalizers: [BUILTIN] } },
        { fieldManager: 'karpenter', force: true },
      );
      expect([applied.status, finalizersOf(applied.body)]).toEqual([200, [OURS]]);
      const stored = await read(subject, path);
      const put = await subject.http.call('PUT', path, {
        body: { ...Object(stored), metadata: { ...Object(at(stored, 'metadata')), finalizers: [BUILTIN] } },
      });
      expect([put.status, finalizersOf(put.body)]).toEqual([200, [OURS]]);
    });

    it('puts ours on a node in the write by which Karpenter takes it over, and not in later ones', async () => {
      const node = await make(NODES, undefined, []);
      const path = `${NODES}/${nameOf(node)}`;
      const joined = { metadata: { labels: { 'karpenter.sh/nodepool': 'keep' }, finalizers: [BUILTIN] } };
      expect(finalizersOf((await patch(subject, path, 'merge', joined)).body)).toEqual([BUILTIN, OURS]);
      const removed = await patch(subject, path, 'merge', { metadata: { finalizers: [BUILTIN] } });
      expect(finalizersOf(removed.body)).toEqual([BUILTIN]);
    });

    it.each([CLAIMS, NODES])('leaves writes of the status of %s alone', async collection => {
      const object = await make(collection, 'replace', []);
      const path = `${collection}/${nameOf(object)}`;
      const status = collection === NODES ? { conditions: [{ type: 'Ready', status: 'True' }] } : { nodeName: 'n1' };
      const written = await patch(subject, `${path}/status`, 'merge', { status });
      expect([written.status, finalizersOf(written.body)]).toEqual([200, [OURS]]);
      expect(written.body).toMatchObject({ status });
    });

    it('lets an object that is being deleted go', async () => {
      const claim = await make(CLAIMS, 'replace', [BUILTIN]);
      const path = `${CLAIMS}/${nameOf(claim)}`;
      await subject.http.call('DELETE', path);
      expect(finalizersOf(await read(subject, path))).toEqual([OURS]);
      expect((await patch(subject, path, 'merge', { metadata: { finalizers: null } })).status).toBe(200);
      expect((await subject.http.call('GET', path)).status).toBe(404);
    });

    it('is not needed to keep the fields of the designs: the patch of the definition does that', async () => {
      const patched = await subject.http.call('PATCH', DEFINITION, {
        body: JSON.stringify(nodePoolPatch()),
        type: 'application/json-patch+json',
      });
      expect({ status: patched.status, text: patched.text.slice(0, 300) }).toMatchObject({ status: 200 });
      const disruption = { consolidateAfter: '1m', customFinalizerName: OURS, terminationGracePeriodSeconds: 3600 };
      const repair = { defaultTolerationDuration: '10m', policies: [{ conditionType: 'Ready', toleration: '15m' }] };
      const send = (more: object, poolName = `p-${subject.namespace}`) =>
        subject.http.call('POST', POOLS, {
          body: {
            apiVersion: 'karpenter.sh/v1',
            kind: 'NodePool',
            metadata: { name: poolName },
            spec: {
              template: { spec: { nodeClassRef: CLASS, requirements: [REQUIREMENT] } },
              disruption: { ...disruption, ...more },
              repair,
            },
          },
          query: { fieldValidation: 'Strict' },
        });
      await vi.waitFor(async () => expect((await send({})).status).toBe(201), EVENTUALLY);
      const stored = await read(subject, `${POOLS}/p-${subject.namespace}`);
      expect(stored).toMatchObject({ spec: { disruption, repair } });
      const fieldsOf = async (more: object): Promise<unknown> =>
        at((await send(more, 'refused')).body, 'details.causes.0.field');
      expect(await fieldsOf({ customFinalizerName: BUILTIN })).toBe('spec.disruption.customFinalizerName');
      expect(await fieldsOf({ customFinalizerName: 'nodomain' })).toBe('spec.disruption.customFinalizerName');
      expect(await fieldsOf({ terminationGracePeriodSeconds: -1 })).toBe(
        'spec.disruption.terminationGracePeriodSeconds',
      );
    });
  });
}
