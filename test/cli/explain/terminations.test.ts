/** What `curfew explain` says of terminations whose settings only the records have, of hooks at work, and of limits on protections. */
import { describe, expect, it } from 'vitest';
import { explain } from '../../../cli/explain.ts';
import { onScenario } from '../../../cli/explain/on-scenario.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import { hookText, type HookAtWork } from '../../../cli/explain/termination-record.ts';
import type { ExplainedObject } from '../../../cli/explain/subject.ts';

const POLICY_GOES = 'test/cli/explain/termination-without-its-policy.yaml';
const NODE = { kind: 'node', name: 'n1' } as const;

interface Asked {
  readonly subject?: ExplainedObject;
  readonly at: string;
  readonly scenario?: string;
  /** Whether the table of records is read, as with `--stack`. */
  readonly reads?: boolean;
  readonly asJson?: boolean;
}

const explained = ({ subject = NODE, at, scenario = POLICY_GOES, reads = true, asJson = false }: Asked) =>
  onScenario(scenario, at, async cluster => {
    const text = await explain(reads ? cluster : { ...cluster, records: undefined }, subject, asJson);
    return text ?? '';
  });
const lines = async (asked: Asked): Promise<readonly string[]> =>
  (await explained(asked)).split('\n').map(line => line.trim());

describe('a termination whose policy has gone', () => {
  it('goes on by the settings of before, until the deadline of before', async () => {
    const found = await lines({ at: '8m' });
    expect(found).toContain(
      'termination: finalizer curfew.dev/termination, scope NodeClaimAndNode, as when it began: neither the NodePool nor a policy asks for it any more; under way: no pods',
    );
    expect(found).toContain('waits: hook backup is at work');
    expect(found).toContain(
      'deadline: what is left at 2024-11-01T16:01:00Z (in 53m0s) is removed by force, protected or not',
    );
    expect(JSON.parse(await explained({ at: '8m', asJson: true }))).toMatchObject({
      deadline: { kind: 'at', time: '2024-11-01T16:01:00Z' },
      lifecycle: { termination: { isLeft: true, hooks: [{ name: 'backup', until: '2024-11-01T15:31:00Z' }] } },
    });
  });

  it('is not said to be none of Curfew, nor without a deadline, where the records are not read', async () => {
    const found = await lines({ at: '8m', reads: false });
    expect(found).toContainEqual(
      expect.stringMatching(/^termination: goes on as it began, although .*\(--stack NAME reads it\); under way: /),
    );
    expect(found).toContain("deadline: not known here: it stands in Curfew's table (--stack NAME reads it)");
    expect(JSON.parse(await explained({ at: '8m', reads: false, asJson: true }))).toMatchObject({
      deadline: { kind: 'stored' },
    });
  });

  it('is one of its policy before', async () => {
    const found = await lines({ at: '4m', reads: false });
    expect(found).toContain(
      'termination: finalizer curfew.dev/termination, scope NodeClaimAndNode, mode Enforce, by NodeLifecyclePolicy edge; under way: no pods',
    );
    expect(found).toContain(
      'deadline: what is left at 2024-11-01T16:01:00Z (in 57m0s) is removed by force, protected or not',
    );
  });
});

describe('a hook at work', () => {
  it('by an event is named with the key of its answer, since when, and what happens when', async () => {
    expect(await lines({ at: '4m' })).toContain(
      'hook backup: whoever takes the event Backup answers, as curfew event send TerminationHookAnswered --key uid-nc1/backup --result succeed; called 2024-11-01T15:01:00Z (3m0s ago), Abort at 2024-11-01T15:31:00Z (in 27m0s)',
    );
  });

  it('by a custom resource is named with the object and the condition that is waited for', async () => {
    const scenario = 'examples/scenarios/finalizer-hook-resources.yaml';
    expect(await lines({ scenario, at: '2m' })).toContain(
      'hook deregister: kubectl get deregistrations.network.example.com deregister-uid-nc1 -n network, done with condition Done; called 2024-11-01T15:01:00Z (1m0s ago), Proceed at 2024-11-01T15:11:00Z (in 9m0s)',
    );
    expect((await explained({ scenario, at: '2m', reads: false })).includes('kubectl get')).toBe(false);
  });

  it('by a function says what it last said when it failed', async () => {
    const scenario = 'examples/scenarios/finalizer-hooks.yaml#a-hook-that-fails-is-tried-again';
    expect(await lines({ scenario, at: '1m2s' })).toContainEqual(
      expect.stringMatching(/^hook deregister: function \S+; .*; it last said: no answer from the load balancer$/),
    );
  });

  it('by a custom resource that is not there yet is named with its template', () => {
    const target = { kind: 'customResource', template: 'backup.yaml', conditionType: 'Done' } as const;
    const at = toEpochMs(0);
    const hook: HookAtWork = {
      name: 'backup',
      since: at,
      until: at,
      onTimeout: 'Abort',
      key: 'u/backup',
      target,
      resource: undefined,
      message: undefined,
    };
    expect(hookText(hook, at)).toMatch(/^hook backup: the object of template backup\.yaml is not made yet; called /);
  });

  it('is not one that has answered', async () => {
    const scenario = 'examples/scenarios/finalizer-hook-resources.yaml';
    expect((await explained({ scenario, at: '3m1s' })).includes('hook deregister')).toBe(false);
  });
});

describe('the limit of a protection', () => {
  const ofPolicy = { kind: 'policy', name: 'edge' } as const;
  const ofPool = { kind: 'nodepool', name: 'default' } as const;
  const ofPod = { kind: 'pod', namespace: 'training', name: 'p' } as const;
  const LIMITS = { maxDuration: '12h0m0s', namespaces: { training: '72h0m0s' } };
  const ALL = 'compatibility Design, for at most 12h0m0s, 72h0m0s in namespace training';

  it.each<readonly [ExplainedObject, string]>([
    [ofPolicy, `protection: ${ALL}`],
    [ofPool, `protection: NodeLifecyclePolicy edge (${ALL})`],
    [{ kind: 'node', name: 'n2' }, `protection: NodeLifecyclePolicy edge (${ALL})`],
    [ofPod, 'protection: NodeLifecyclePolicy edge (compatibility Design, for at most 72h0m0s)'],
  ])('is said of %j', async (subject, line) => {
    expect(await lines({ subject, at: '2m' })).toContain(line);
    expect(await explained({ subject: { ...subject }, at: '8m' })).not.toContain('for at most');
  });

  it.each<readonly [ExplainedObject, object]>([
    [ofPolicy, { protection: { compatibility: 'Design', limits: LIMITS } }],
    [ofPool, { rules: { protectionLimits: LIMITS } }],
    [{ kind: 'node', name: 'n2' }, { limits: LIMITS }],
    [ofPod, { maxDuration: '72h0m0s' }],
  ])('stands in the JSON of %j', async (subject, json) => {
    expect(JSON.parse(await explained({ subject, at: '2m', asJson: true }))).toMatchObject(json);
  });
});
