/** What the API server accepts of terminations and FinalizerRules is what their functions read. */
import { describe, expect, it } from 'vitest';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { ApiStatusError } from '../../packages/kube-apiserver/src/types.ts';
import { parseFinalizerRule } from '../../shared/contract/finalizer-rule-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';

/** The spec as the API server stores it, or the words in which it refuses it. */
function create(kind: 'NodeLifecyclePolicy' | 'FinalizerRule', spec: JsonObject): JsonObject | string | undefined {
  const core = createApiServer({ clock: { now: () => Date.parse('2024-11-01T15:00:00Z') } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  try {
    return core.create(RESOURCES[kind], { apiVersion: 'curfew.dev/v1alpha1', kind, metadata: { name: 'a' }, spec })
      .spec;
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 422) return error.message;
    throw error;
  }
}

/** undefined when the API server refuses it. */
function stored(...args: Parameters<typeof create>): JsonObject | undefined {
  const answer = create(...args);
  return typeof answer === 'string' ? undefined : answer;
}

function refusal(...args: Parameters<typeof create>): string {
  const answer = create(...args);
  return typeof answer === 'string' ? answer : 'accepted';
}

const hook = (fields: JsonObject): JsonObject => ({
  hooks: [{ name: 'deregister', at: 'before-drain', lambda: { functionName: 'f' }, ...fields }],
});

describe('the termination block of a policy', () => {
  it.each<[string, JsonObject, boolean]>([
    ['is empty', {}, true],
    [
      'has everything',
      {
        finalizerName: 'example.com/custom',
        scope: 'NodeOnly',
        terminationGracePeriod: '24h',
        builtin: 'Replace',
        ...hook({ deadline: '10m', heartbeat: '1m', onTimeout: 'Abort' }),
      },
      true,
    ],
    ['has a finalizer without a domain', { finalizerName: 'custom' }, false],
    ["has Karpenter's finalizer", { finalizerName: 'karpenter.sh/termination' }, false],
    ['has an unknown scope', { scope: 'Everything' }, false],
    ['has an unknown builtin', { builtin: 'Remove' }, false],
    ['has no grace period', { terminationGracePeriod: '0s' }, true],
    ['has a negative grace period', { terminationGracePeriod: '-1s' }, false],
    ['has a grace period in days', { terminationGracePeriod: '4d' }, false],
    ['has a hook by event', hook({ lambda: undefined, event: { detailType: 'Deregister' } }), true],
    [
      'has a hook by resource',
      hook({ lambda: undefined, customResource: { template: 't.yaml', conditionType: 'Done' } }),
      true,
    ],
    ['has a hook without a target', hook({ lambda: undefined }), false],
    ['has a hook with two targets', hook({ event: { detailType: 'Deregister' } }), false],
    ['has a hook at an unknown point', hook({ at: 'after-drain' }), false],
    ['has a hook with an unknown onTimeout', hook({ onTimeout: 'Retry' }), false],
    ['has a hook whose deadline is zero', hook({ deadline: '0s' }), false],
    ['has a hook whose heartbeat is zero', hook({ heartbeat: '0m' }), false],
    ['has a hook whose name is no label', hook({ name: 'De_register' }), false],
    [
      'has two hooks of one name',
      { hooks: ['before-drain', 'after-terminate'].map(at => ({ name: 'a', at, lambda: { functionName: 'f' } })) },
      false,
    ],
  ])('that %s', (_, fields, valid) => {
    const termination: JsonObject = JSON.parse(JSON.stringify(fields));
    expect(parseTerminationBlock(termination, 'spec.termination').ok).toBe(valid);
    const spec = stored('NodeLifecyclePolicy', { termination });
    expect(spec !== undefined).toBe(valid);
    // Nothing is pruned, and what the server fills in is what the function takes for granted.
    if (spec === undefined) return;
    expect(spec['termination']).toMatchObject(termination);
    expect(parseTerminationBlock(spec['termination'], 'spec.termination')).toEqual(
      parseTerminationBlock(termination, 'spec.termination'),
    );
  });
});

const rule = (fields: JsonObject): JsonObject => ({
  group: 'database.example.com',
  version: 'v1',
  kind: 'ManagedDatabase',
  finalizerName: 'database.example.com/cleanup',
  cleanup: { lambda: { functionName: 'f' } },
  ...fields,
});

describe('a FinalizerRule', () => {
  it.each<[string, JsonObject, boolean]>([
    ['has a Lambda function', rule({}), true],
    [
      'has an event and a deadline',
      rule({ cleanup: { event: { detailType: 'Drop' } }, deadline: '1h', onDeadline: 'Release' }),
      true,
    ],
    ['has nothing to clean up', rule({ cleanup: { builtin: { name: 'None' } } }), true],
    ['is about the core group', rule({ group: undefined, kind: 'ConfigMap' }), true],
    ['has no clean-up', rule({ cleanup: {} }), false],
    ['has two clean-ups', rule({ cleanup: { lambda: { functionName: 'f' }, event: { detailType: 'Drop' } } }), false],
    ['has an unknown builtin', rule({ cleanup: { builtin: { name: 'Everything' } } }), false],
    ['has a finalizer without a domain', rule({ finalizerName: 'cleanup' }), false],
    ['has an unknown onDeadline', rule({ onDeadline: 'Force' }), false],
    ['has no kind', rule({ kind: undefined }), false],
    ['is about Nodes', rule({ group: '', kind: 'Node' }), false],
    ['has a deadline of nothing', rule({ deadline: '0s' }), false],
    ['has a deadline in days', rule({ deadline: '4d' }), false],
    ['has a deadline that no duration holds', rule({ deadline: '99999999h' }), false],
  ])('that %s', (_, fields, valid) => {
    const spec: JsonObject = JSON.parse(JSON.stringify(fields));
    expect(parseFinalizerRule(spec).ok).toBe(valid);
    expect(stored('FinalizerRule', spec) !== undefined).toBe(valid);
  });
});

describe('what cannot be read is refused in a sentence, not by its pattern', () => {
  const POSITIVE = 'must be a positive Go duration, with numbers of at most seven digits';
  const NAME = 'must be a domain and a name, as in example.com/cleanup';
  it.each<['NodeLifecyclePolicy' | 'FinalizerRule', JsonObject, string]>([
    ['FinalizerRule', rule({ deadline: '4d' }), POSITIVE],
    ['FinalizerRule', rule({ deadline: '0s' }), POSITIVE],
    ['FinalizerRule', rule({ deadline: '' }), POSITIVE],
    ['FinalizerRule', rule({ deadline: '99999999h' }), POSITIVE],
    ['FinalizerRule', rule({ finalizerName: 'cleanup' }), NAME],
    ['NodeLifecyclePolicy', { termination: { finalizerName: 'Cleanup' } }, NAME],
    [
      'NodeLifecyclePolicy',
      { termination: hook({ name: 'De_register' }) },
      'must be a DNS label, as in deregister-host',
    ],
  ])('%s %j', (kind, spec, sentence) => {
    const message = refusal(kind, spec);
    expect(message).toContain(sentence);
    expect(message).not.toMatch(/should match|evaluating rule|conversion|, spec\./);
  });
});
