/** The eviction subresource: what PodDisruptionBudgets allow. */
import { describe, expect, it, vi } from 'vitest';
import type { Answer } from './http-client.ts';
import { putPolicy } from './policies.ts';
import {
  at,
  created,
  EVENTUALLY,
  inNamespace,
  OTHER_UID,
  patch,
  read,
  runningPod,
  textAt,
  type ApiServerSubject,
  type MakeSubject,
} from './subject.ts';

const labels = { app: 'web' };

function evict(subject: ApiServerSubject, name: string, more: object = {}): Promise<Answer> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: subject.namespace }, ...more };
  return subject.http.call('POST', `${inNamespace(subject, 'pods', name)}/eviction`, { body });
}

const budgets = ({ namespace }: ApiServerSubject, name = ''): string =>
  `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets${name === '' ? '' : `/${name}`}`;

/** A budget for the pods of this suite, with the status that its controller gives it. */
async function budget(subject: ApiServerSubject, name: string, minAvailable: number, more: object = {}): Promise<void> {
  const spec = { minAvailable, selector: { matchLabels: labels }, ...more };
  await created(subject, budgets(subject), { metadata: { name }, spec });
  const disruptionsAllowed = Math.max(0, 1 - minAvailable);
  const counts = { currentHealthy: 1, desiredHealthy: minAvailable, expectedPods: 1, disruptionsAllowed };
  await patch(subject, `${budgets(subject, name)}/status`, 'merge', { status: { ...counts, observedGeneration: 1 } });
}

export function defineEvicting(makeSubject: MakeSubject): void {
  describe('evicting', () => {
    it('answers 201 and deletes gracefully where no budget selects the pod', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const answer = await evict(subject, 'web-0');
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
      expect(await read(subject, inNamespace(subject, 'pods', 'web-0'))).toMatchObject({
        metadata: { deletionGracePeriodSeconds: 30 },
        status: {
          conditions: [
            { type: 'Ready' },
            { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' },
          ],
        },
      });
    });

    it('answers 201 and counts the eviction where a budget allows it', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0', { labels });
      await budget(subject, 'permits', 0);
      await vi.waitFor(async () => expect((await evict(subject, 'web-0')).status).toBe(201), EVENTUALLY);
      expect((await evict(subject, 'web-0')).status).toBe(201);
    });

    it('answers 404 for a pod that is not there', async () => {
      const subject = await makeSubject();
      const answer = await evict(subject, 'nobody');
      expect([answer.status, at(answer.body, 'message')]).toEqual([404, 'pods "nobody" not found']);
    });

    it('answers 409 for another UID', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0', { labels });
      const answer = await evict(subject, 'web-0', { deleteOptions: { preconditions: { uid: OTHER_UID } } });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([409, 'Conflict']);
      expect(textAt(answer.body, 'message')).toContain(
        `the UID in the precondition (${OTHER_UID}) does not match the UID in record`,
      );
    });

    it('answers 429 while a budget forbids it, and says which', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0', { labels });
      await budget(subject, 'forbids', 1);
      const answer = await vi.waitFor(async () => {
        const refused = await evict(subject, 'web-0');
        // Until its controller has looked at the budget, the answer is another 429.
        expect(refused.headers['retry-after']).toBeUndefined();
        return refused;
      }, EVENTUALLY);
      expect(answer.status).toBe(429);
      expect(answer.body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        reason: 'TooManyRequests',
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget forbids needs 1 healthy pods and has 1 currently',
            },
          ],
        },
        code: 429,
      });
      expect(
        at(await read(subject, inNamespace(subject, 'pods', 'web-0')), 'metadata.deletionTimestamp'),
      ).toBeUndefined();
    });

    it('answers 500 where two budgets select the pod', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0', { labels });
      await budget(subject, 'one', 0);
      await budget(subject, 'two', 0);
      const answer = await evict(subject, 'web-0');
      expect(answer.status).toBe(500);
      expect(textAt(answer.body, 'message')).toBe(
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      );
    });

    it('does not ask budgets for a pod that waits for a node or has finished', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'done', { labels });
      await patch(subject, `${inNamespace(subject, 'pods', 'done')}/status`, 'merge', {
        status: { phase: 'Succeeded' },
      });
      const spec = { containers: [{ name: 'main', image: 'registry.example.com/main:1' }] };
      await created(subject, inNamespace(subject, 'pods'), { metadata: { name: 'pending', labels }, spec });
      await budget(subject, 'forbids', 1);
      expect((await evict(subject, 'done')).status).toBe(201);
      expect((await evict(subject, 'pending')).status).toBe(201);
    });

    it('evicts a pod that is not ready from a budget with AlwaysAllow', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0', { labels });
      const conditions = [{ type: 'Ready', status: 'False' }];
      await patch(subject, `${inNamespace(subject, 'pods', 'web-0')}/status`, 'merge', { status: { conditions } });
      await budget(subject, 'allows-unhealthy', 1, { unhealthyPodEvictionPolicy: 'AlwaysAllow' });
      await vi.waitFor(async () => expect((await evict(subject, 'web-0')).status).toBe(201), EVENTUALLY);
    });

    it('takes the grace period that the eviction asks for', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      await evict(subject, 'web-0', { deleteOptions: { gracePeriodSeconds: 7 } });
      const pod = await read(subject, inNamespace(subject, 'pods', 'web-0'));
      expect(at(pod, 'metadata.deletionGracePeriodSeconds')).toBe(7);
    });

    it('evicts nobody in a dry run', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      expect((await evict(subject, 'web-0', { deleteOptions: { dryRun: ['All'] } })).status).toBe(201);
      const pod = await read(subject, inNamespace(subject, 'pods', 'web-0'));
      expect(at(pod, 'metadata.deletionTimestamp')).toBeUndefined();
    });

    it.each([
      ['another name', { metadata: { name: 'web-1' } }],
      ['no name', { metadata: {} }],
      ['another namespace', { metadata: { name: 'web-0', namespace: 'default' } }],
      ['another kind', { kind: 'Pod' }],
    ])('answers 400 to %s than that of the path, and evicts nobody', async (_, more) => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const answer = await evict(subject, 'web-0', more);
      expect([answer.status, at(answer.body, 'reason')]).toEqual([400, 'BadRequest']);
      const pod = await read(subject, inNamespace(subject, 'pods', 'web-0'));
      expect(at(pod, 'metadata.deletionTimestamp')).toBeUndefined();
    });

    it('is allowed again of a pod that is being deleted, and shortens its grace', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      await evict(subject, 'web-0');
      expect((await evict(subject, 'web-0', { deleteOptions: { gracePeriodSeconds: 5 } })).status).toBe(201);
      const pod = await read(subject, inNamespace(subject, 'pods', 'web-0'));
      expect(at(pod, 'metadata.deletionGracePeriodSeconds')).toBe(5);
    });

    it('answers 409 to another version', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const answer = await evict(subject, 'web-0', { deleteOptions: { preconditions: { resourceVersion: '1' } } });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([409, 'Conflict']);
    });

    it('asks admission policies about pods/eviction, and none about the deletion of pods', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      await runningPod(subject, 'web-1');
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': subject.namespace } };
      const about = (resource: string, operation: string): object => ({
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations: [operation] }],
        namespaceSelector,
      });
      const KIND = 'ValidatingAdmissionPolicy';
      await putPolicy(subject, KIND, 'deletion', {
        matchConstraints: about('pods', 'DELETE'),
        validations: [{ expression: 'false' }],
      });
      await putPolicy(subject, KIND, 'eviction', {
        matchConstraints: about('pods/eviction', 'CREATE'),
        validations: [{ expression: "object.metadata.name != 'web-0'" }],
      });
      const dryRun = { deleteOptions: { dryRun: ['All'] } };
      await vi.waitFor(async () => {
        expect((await evict(subject, 'web-0', dryRun)).status).toBe(422);
      }, EVENTUALLY);
      expect((await evict(subject, 'web-1')).status).toBe(201);
    });
  });
}
