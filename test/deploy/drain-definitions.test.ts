/** What the API server accepts of a `drain` block is what the function reads. */
import { describe, expect, it } from 'vitest';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { ApiStatusError } from '../../packages/kube-apiserver/src/types.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';

/** The words in which the API server refuses it, or `accepted`. */
function answerTo(drain: JsonObject): string {
  const core = createApiServer({ clock: { now: () => Date.parse('2024-11-01T15:00:00Z') } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  const kind = 'NodeLifecyclePolicy';
  try {
    const policy = { apiVersion: 'curfew.dev/v1alpha1', kind, metadata: { name: 'a' }, spec: { drain } };
    expect(core.create(RESOURCES[kind], policy).spec?.['drain']).toEqual(drain);
    return 'accepted';
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 422) return error.message;
    throw error;
  }
}

/** `path`: what is refused, and where. */
const BLOCKS: readonly { readonly block: JsonObject; readonly path?: string }[] = [
  { block: {} },
  { block: { maxConcurrent: 1 } },
  { block: { maxConcurrent: '1%' } },
  { block: { maxConcurrent: '100%', deadline: '4h' } },
  { block: { maxConcurrent: '20%', deadline: '4h', onDeadline: 'Force' } },
  { block: { deadline: '1h30m', onDeadline: 'Fail' } },
  { block: { maxConcurrent: 0 }, path: 'spec.drain.maxConcurrent' },
  { block: { maxConcurrent: -1 }, path: 'spec.drain.maxConcurrent' },
  { block: { maxConcurrent: '0%' }, path: 'spec.drain.maxConcurrent' },
  { block: { maxConcurrent: '101%' }, path: 'spec.drain.maxConcurrent' },
  { block: { maxConcurrent: '20' }, path: 'spec.drain.maxConcurrent' },
  { block: { deadline: '0s' }, path: 'spec.drain.deadline' },
  { block: { deadline: '-1h' }, path: 'spec.drain.deadline' },
  { block: { deadline: '4d' }, path: 'spec.drain.deadline' },
  { block: { deadline: 14400 }, path: 'spec.drain.deadline' },
  { block: { deadline: '4h', onDeadline: 'Proceed' }, path: 'spec.drain.onDeadline' },
  { block: { onDeadline: 'Force' }, path: 'spec.drain' },
];

describe('the drain block of a policy', () => {
  it.each(BLOCKS)('$block is refused at $path', ({ block, path }) => {
    const read = parseDrainLimits(block, 'spec.drain');
    const answer = answerTo(block);
    if (path === undefined) expect({ ok: read.ok, answer }).toEqual({ ok: true, answer: 'accepted' });
    else {
      expect(read).toMatchObject({ ok: false, message: expect.stringContaining(`${path}: `) as string });
      expect(answer).toContain(`${path}: `);
    }
  });
});
