/** The conditions by which a Node shows its drain. */
import { expect, it } from 'vitest';
import { readShownDrain, showDrain } from '../../../functions/drain/node-conditions.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { WriteOutcome } from '../../../shared/ports/kubernetes-api.ts';
import { NOW } from './observations.ts';

const own = {
  type: 'DrainInProgress',
  status: 'True',
  reason: 'CurfewDraining',
  message: 'drain e1',
  lastTransitionTime: '',
};
const others = { type: 'Drained', status: 'True', reason: 'Maintenance', message: '', lastTransitionTime: '' };
const node = (...conditions: (typeof own)[]): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'u1', resourceVersion: '7', creationTimestamp: '2024-11-01T12:00:00Z' },
  status: { conditions },
});
const show = async (object: KubernetesObject, answer: () => Promise<WriteOutcome>) => {
  const bodies: unknown[] = [];
  const patch = (_: unknown, { body }: { body: unknown }) => {
    bodies.push(body);
    return answer();
  };
  const shown = await showDrain({ kubernetes: { patch } }, object, 'drained', { message: 'm', now: NOW });
  return { bodies, version: shown?.metadata.resourceVersion };
};
const fails = (reason: string) => () => Promise.reject(new RetryableError('no', { reason }));

it('reads those that are ours by their reason', () => {
  const read = (...conditions: (typeof own)[]) => readShownDrain(readConditions(conditions));
  expect([read(own), read(others), read({ ...others, reason: 'CurfewDrained' })]).toEqual([
    'inProgress',
    'nothing',
    'drained',
  ]);
});

it('puts one on and takes the other off, of the Node that was looked at', async () => {
  const answer: WriteOutcome = {
    kind: 'ok',
    object: { ...node(), metadata: { ...node().metadata, resourceVersion: '8' } },
  };
  expect(await show(node(own), () => Promise.resolve(answer))).toMatchObject({
    version: '8',
    bodies: [
      {
        metadata: { uid: 'u1', resourceVersion: '7' },
        status: {
          conditions: [
            { type: 'DrainInProgress', $patch: 'delete' },
            { type: 'Drained', status: 'True', reason: 'CurfewDrained' },
          ],
        },
      },
    ],
  });
});

it('is looked at again after a lost race, and says what else went wrong', async () => {
  await expect(show(node(), fails('TooManyRequests'))).rejects.toThrow(RetryableError);
  expect(await show(node(), () => Promise.resolve({ kind: 'conflict', message: '' }))).toMatchObject({
    version: undefined,
  });
});
