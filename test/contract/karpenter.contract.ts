/** Karpenter's own definitions, unchanged, on the embedded API server and on kube-apiserver: what they refuse, prune and fill in. */
import { describe, expect, it, vi } from 'vitest';
import type { Answer } from './api-server/http-client.ts';
import { applyFiles } from './api-server/manifests.ts';
import { at, EVENTUALLY, listAt, patch, read, type ApiServerSubject, type MakeSubject } from './api-server/subject.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const NODE_POOLS = '/apis/karpenter.sh/v1/nodepools';
const NODE_CLAIMS = '/apis/karpenter.sh/v1/nodeclaims';
const REQUIREMENT = { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] };
const CLASS = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
const CLAIM_SPEC = { nodeClassRef: CLASS, requirements: [REQUIREMENT] };

interface Karpenter {
  readonly subject: ApiServerSubject;
  pool(more?: object, template?: object, query?: Readonly<Record<string, string>>): Promise<Answer>;
  claim(more?: object): Promise<Answer>;
}

/** @param files of the definitions, as the Go module of Karpenter has them */
export function defineKarpenterContract(name: string, makeSubject: MakeSubject, files: readonly string[]): void {
  /** A server with the definitions, and objects named for the case. */
  async function karpenter(): Promise<Karpenter> {
    const subject = await makeSubject();
    const { http } = subject;
    await applyFiles(http, files);
    for (const path of [NODE_POOLS, NODE_CLAIMS]) await vi.waitFor(async () => read(subject, path), EVENTUALLY);
    const apiVersion = 'karpenter.sh/v1';
    const metadata = { name: `of-${subject.namespace}` };
    return {
      subject,
      pool: (more = {}, template = {}, query = {}) =>
        http.call('POST', NODE_POOLS, {
          body: {
            apiVersion,
            kind: 'NodePool',
            metadata,
            spec: { template: { spec: { ...CLAIM_SPEC, ...template } }, ...more },
          },
          query,
        }),
      claim: (more = {}) =>
        http.call('POST', NODE_CLAIMS, {
          body: { apiVersion, kind: 'NodeClaim', metadata, spec: { ...CLAIM_SPEC, ...more } },
        }),
    };
  }
  const fieldsOf = (answer: Answer): readonly unknown[] =>
    listAt(answer.body, 'details.causes').map(cause => at(cause, 'field'));

  describe(`Karpenter's definitions: ${name}`, () => {
    it('define NodePools and NodeClaims that the cluster serves', async () => {
      const { subject, pool } = await karpenter();
      const answer = await pool();
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({
        metadata: { generation: 1 },
        spec: {
          disruption: {
            budgets: [{ nodes: '10%' }],
            consolidateAfter: '0s',
            consolidationPolicy: 'WhenEmptyOrUnderutilized',
          },
          template: { spec: { expireAfter: '720h' } },
        },
      });
      const columns = await subject.http.call('GET', NODE_CLAIMS, { accept: TABLE });
      expect(
        listAt(columns.body, 'columnDefinitions')
          .map(each => at(each, 'name'))
          .slice(0, 7),
      ).toEqual(['Name', 'Type', 'Capacity', 'Zone', 'Node', 'Ready', 'Age']);
    });

    it('prune what they do not know of a NodePool, which is why NodeLifecyclePolicy exists', async () => {
      const { pool } = await karpenter();
      const disruption = {
        consolidateAfter: '1m',
        customFinalizerName: 'example.com/mine',
        terminationGracePeriodSeconds: 60,
      };
      const answer = await pool({ repair: { defaultTolerationDuration: '10m' }, disruption });
      expect(answer.status).toBe(201);
      expect(at(answer.body, 'spec.repair')).toBeUndefined();
      expect(Object.keys(Object(at(answer.body, 'spec.disruption'))).toSorted()).toEqual([
        'budgets',
        'consolidateAfter',
        'consolidationPolicy',
      ]);
      expect(answer.headers['warning']).toContain('299 - "unknown field \\"spec.repair\\""');
    });

    it('refuse it under strict field validation', async () => {
      const { pool } = await karpenter();
      const answer = await pool({ repair: {} }, {}, { fieldValidation: 'Strict' });
      expect([answer.status, at(answer.body, 'message')]).toEqual([
        400,
        'NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.repair"',
      ]);
    });

    it.each(['30s', '1h30m5s'])('P6: take the terminationGracePeriod %s', async terminationGracePeriod => {
      const { pool, claim } = await karpenter();
      expect((await claim({ terminationGracePeriod })).status).toBe(201);
      expect((await pool({}, { terminationGracePeriod })).status).toBe(201);
    });

    it.each(['-1s', '1hr', 'Never', 'FooNever'])(
      'P6: refuse the terminationGracePeriod %s',
      async terminationGracePeriod => {
        const { pool, claim } = await karpenter();
        expect(fieldsOf(await claim({ terminationGracePeriod }))).toContain('spec.terminationGracePeriod');
        expect(fieldsOf(await pool({}, { terminationGracePeriod }))).toContain(
          'spec.template.spec.terminationGracePeriod',
        );
      },
    );

    it.each(['30s', '1h30m5s', 'Never'])('P7: take expireAfter and consolidateAfter %s', async value => {
      const { pool, claim } = await karpenter();
      expect((await claim({ expireAfter: value })).status).toBe(201);
      expect((await pool({ disruption: { consolidateAfter: value } }, { expireAfter: value })).status).toBe(201);
    });

    it.each(['-1s', '1hr', 'FooNever'])('P7: refuse expireAfter and consolidateAfter %s', async value => {
      const { pool, claim } = await karpenter();
      expect(fieldsOf(await claim({ expireAfter: value }))).toContain('spec.expireAfter');
      const answer = await pool({ disruption: { consolidateAfter: value } }, { expireAfter: value });
      expect(fieldsOf(answer)).toEqual(
        expect.arrayContaining(['spec.disruption.consolidateAfter', 'spec.template.spec.expireAfter']),
      );
    });

    it('hold NodeClaims to their rules', async () => {
      const { claim } = await karpenter();
      const messages = async (more: object): Promise<unknown> =>
        at((await claim(more)).body, 'details.causes.0.message');
      expect(fieldsOf(await claim({ nodeClassRef: undefined }))).toContain('spec.nodeClassRef');
      expect(await messages({ nodeClassRef: { ...CLASS, name: '' } })).toContain('name may not be empty');
      expect(await messages({ requirements: [{ ...REQUIREMENT, key: 'karpenter.sh/other' }] })).toContain(
        'label domain "karpenter.sh" is restricted',
      );
      expect(await messages({ requirements: [{ ...REQUIREMENT, values: [] }] })).toContain(
        "requirements with operator 'In' must have a value defined",
      );
      expect(fieldsOf(await claim({ requirements: [{ ...REQUIREMENT, operator: 'Near' }] }))).toContain(
        'spec.requirements[0].operator',
      );
    });

    it('keep the spec of a NodeClaim from being changed, and let its finalizers and its status be', async () => {
      const { subject, claim } = await karpenter();
      await claim();
      const path = `${NODE_CLAIMS}/of-${subject.namespace}`;
      const spec = await patch(subject, path, 'merge', { spec: { terminationGracePeriod: '1h' } });
      expect([spec.status, at(spec.body, 'details.causes.0.message')]).toEqual([
        422,
        'Invalid value: spec is immutable',
      ]);
      const metadata = { finalizers: ['curfew.dev/termination'], annotations: { a: 'b' } };
      expect((await patch(subject, path, 'merge', { metadata })).status).toBe(200);
      const status = { providerID: 'aws:///us-west-2a/i-0', nodeName: 'n1' };
      const written = await patch(subject, `${path}/status`, 'merge', { status });
      expect(written.body).toMatchObject({ metadata: { generation: 1 }, status });
    });
  });
}
