import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainCommand, type ExplainOptions } from '../../cli/explain.ts';

const EXAMPLES = 'examples/scenarios/do-not-disrupt-worked-examples.yaml';

const UNHEALTHY = 'examples/scenarios/repair-empty-block-means-on.yaml';

const TIMELINE = `${EXAMPLES}#do-not-disrupt-timeline`;

async function run(kind: string, name: string | undefined, options: ExplainOptions) {
  let out = '';
  let error = '';
  const code = await explainCommand(kind, name, options, {
    out: text => (out += text),
    error: text => (error += text),
  });
  return { code, out, error };
}

describe('curfew explain', () => {
  it('explains a node of a scenario at a moment of its run', async () => {
    const { code, out } = await run('node', 'shared', { scenario: EXAMPLES, at: '1h' });
    expect(code).toBe(0);
    expect(out).toContain('Node shared: protected until 2024-01-01T12:00:00Z (in 1h0m0s)');
    expect(out).toContain('batch/shared-quick: karpenter.sh/do-not-disrupt: "30m" protected until');
  });

  it('explains a pod, before and after its protection', async () => {
    const at = (moment: string): ReturnType<typeof run> =>
      run('pod', 'ci/e2e', { scenario: `${EXAMPLES}#do-not-disrupt-timeline`, at: moment });
    expect((await at('2024-01-01T13:59:59Z')).out).toContain('Pod ci/e2e on node n1: protected\n');
    expect((await at('2024-01-01T14:00:00Z')).out).toContain('Pod ci/e2e on node n1: not protected\n');
  });

  it('says when and by what a node is repaired, before anything about disruption', async () => {
    const { out } = await run('node', 'n1', { scenario: UNHEALTHY, at: '10m' });
    expect(out.split('\n').slice(0, 3)).toEqual([
      'Node n1 (NodePool default) will be repaired at 2024-11-01T15:32:48Z (in 22m48s), unless it recovers',
      '  disruption: no pod is protected and no PodDisruptionBudget refuses an eviction',
      '  repair: due at 2024-11-01T15:32:48Z (in 22m48s), by NodePool default: Ready=False since 2024-11-01T15:02:48Z, tolerated 30m0s',
    ]);
    expect(out).toContain('policies: none selects this node');
  });

  it('says what is done about a node that is unhealthy, how it stands among those that are due, and what EC2 has yet to say', async () => {
    const linesOf = async (name: string, scenario: string, at: string): Promise<readonly string[]> =>
      (await run('node', name, { scenario: `examples/scenarios/${scenario}`, at })).out.split('\n').slice(1, 5);
    const confirmed = await linesOf('gpu-0', 'repair-confirmed-by-ec2.yaml#repair-not-confirmed', '20m');
    expect(confirmed[1]).toMatch(/; held: EC2 says ok of InstanceStatus, and confirm waits for impaired$/);
    expect(confirmed[2]).toBe(
      '    then it terminates; pods have no time to leave; of Ready=Unknown only while EC2 says impaired of InstanceStatus',
    );
    const drained = await linesOf('gpu-0', 'repair-reboot-drains.yaml#repair-reboot-at-the-end-of-its-drain', '17m');
    expect(drained).toEqual([
      '  disruption: protected without end',
      expect.stringMatching(
        /Drain has begun, and has time until 2024-11-01T15:25:00Z; after it, .*: Reboot, Terminate:/,
      ),
      '  termination: not by Curfew: neither the NodePool nor a policy asks for it',
      expect.stringMatching(/asked for by repair, .*: 2 to evict; 2 blocked$/),
    ]);
    const ranked = await linesOf('n2', 'repair-stops-above-the-threshold.yaml', '2m');
    expect(ranked[1]).toMatch(/; number \d of \d nodes that are due, its score is \d.*; held: /);
  });

  it('says which changes are refused, to whom, since when, and when each is tried again', async () => {
    const scenario = 'examples/scenarios/refused-pods-and-instances.yaml#drain-whose-eviction-is-refused';
    const { out } = await run('node', 'n1', { scenario, at: '12m' });
    expect(out.split('\n').filter(line => line.startsWith('  refused: '))).toEqual([
      expect.stringMatching(
        /^  refused: evict pod prod\/a, to drain, 4 times since 2024-11-01T15:01:00Z \(.*\); tried again at 2024-11-01T15:16:00Z \(in 4m0s\): evicting pods prod\/a: 422 Invalid/,
      ) as string,
    ]);
    const json = await run('node', 'n1', { scenario, at: '12m', output: 'json' });
    expect(JSON.parse(json.out)).toMatchObject({
      refused: [{ by: 'drain', change: 'evict pod prod/a', count: 4, since: '2024-11-01T15:01:00Z' }],
    });
    expect((await run('node', 'n1', { scenario, at: '30s' })).out).not.toContain('refused:');
    const unread = 'examples/scenarios/waits-for-what-cannot-be-read.yaml#refused-reads-of-repair-are-said';
    const unreadAt = async (at: string) => (await run('node', 'due-0', { scenario: unread, at })).out;
    expect(await unreadAt('30m')).toMatch(
      /\n {2}refused: read, to repair, 16 times since 2024-11-01T15:15:00Z .*: listing nodelifecyclepolicies: 403 /,
    );
    expect(await unreadAt('1h42m')).not.toContain('refused:');
  });

  it('lists policies and NodePools where no name is given', async () => {
    const scenario = 'examples/scenarios/bad-day.yaml';
    const { code, out } = await run('policy', undefined, { scenario, at: '0s' });
    expect(code).toBe(0);
    const names = out
      .trimEnd()
      .split('\n')
      .map(line => line.split(/ {2,}/));
    expect(names.length).toBeGreaterThan(1);
    expect(
      names.every(
        ([, mode, nodes, , selects = '']) =>
          mode === 'Enforce' && nodes?.endsWith('nodes') && selects.startsWith('selects '),
      ),
    ).toBe(true);
    expect((await run('nodepools', undefined, { scenario, at: '0s' })).out).toMatch(
      /^\S+ +\d+ nodes +0 unhealthy +policies: /,
    );
    const json: unknown = JSON.parse((await run('policies', undefined, { scenario, at: '0s', output: 'json' })).out);
    expect(json).toHaveLength(names.length);
    expect((await run('policy', undefined, { scenario: UNHEALTHY })).out).toBe('there is no NodeLifecyclePolicy\n');
  });

  it.each([
    ['nod', 'node'],
    ['polic', 'policy'],
    ['pdo', 'pod'],
  ])('means by %s a %s', async (kind, meant) => {
    const { code, error } = await run(kind, 'x', { scenario: UNHEALTHY });
    expect({ code, error }).toEqual({ code: 2, error: expect.stringContaining(`did you mean "${meant}"?`) });
  });

  it('prints instants in RFC 3339 as JSON', async () => {
    const { out } = await run('node', 'n1', { scenario: UNHEALTHY, at: '10m', output: 'json' });
    expect(JSON.parse(out)).toMatchObject({
      now: '2024-11-01T15:10:00Z',
      lifecycle: { repair: { kind: 'tolerate', dueTime: '2024-11-01T15:32:48Z', mode: 'Enforce' } },
    });
  });

  it('says what goes on in place of a configuration or policy that is not valid', async () => {
    const repairOf = async (scenario: string, at: string): Promise<string | undefined> =>
      (await run('node', 'n1', { scenario, at })).out.split('\n').find(line => line.startsWith('  repair: '));
    expect(await repairOf('examples/scenarios/repair-keeps-the-last-good-configuration.yaml', '20m')).toMatch(
      /^ {2}repair: due at .* config\.toml of ConfigMap curfew\/curfew-config is not valid \(line 1: .*\): the last good configuration is in force/,
    );
    const policies = 'examples/scenarios/repair-keeps-the-last-accepted-policy.yaml#repair-last-accepted-policy';
    expect(await repairOf(policies, '8m')).toMatch(/ \(NodeLifecyclePolicy all as of generation 1\)/);
  });

  it('says what is held, and by what', async () => {
    const held = 'examples/scenarios/repair-holds-in-a-zone-outage.yaml';
    const { out } = await run('nodepool', 'default', { scenario: held, at: '40m' });
    expect(out).toContain('held: ');
    expect(out).toContain('of zone us-west-2a are unhealthy');
    expect((await run('node', 'a1', { scenario: held, at: '40m' })).out).toContain(
      'Node a1 (NodePool default) has been due for repair since 2024-11-01T15:30:00Z (10m0s ago), and the repair is held\n',
    );
  });

  it('says what is held by limits on concurrent repairs, until it is not any more', async () => {
    const limits = 'examples/scenarios/repair-limits-cluster.yaml';
    const { out } = await run('node', 'n2', { scenario: limits, at: '3s' });
    expect(out).toContain('n2 (NodePool gpu) has been due for repair since 2024-11-01T14:30:00Z (30m3s ago), and the repair is held\n'); // prettier-ignore
    expect(out).toContain('; held: 1 repair is under way in the cluster, maxConcurrentRepairsPerCluster of NodeLifecyclePolicy all allows 1\n'); // prettier-ignore
    const begun = await run('node', 'n2', { scenario: limits, at: '32s' });
    expect(begun.out).not.toContain('held: ');
    expect(begun.out).toContain('  repair: under way, since ');
  });

  describe('of a repair under way', () => {
    const FOLDER = 'examples/scenarios';
    const lineOf = async (scenario: string, name: string, at: string, start: string): Promise<string | undefined> =>
      (await run('node', name, { scenario: `${FOLDER}/${scenario}`, at })).out
        .split('\n')
        .find(line => line.startsWith(start));

    it('says which action, since when, until when, and what follows', async () => {
      const scenario = 'repair-reboots-first.yaml#repair-reboot-does-not-help';
      const text =
        'under way, since 2024-11-01T15:30:00Z (2m0s ago), by NodePool default: Reboot has begun, and has time until 2024-11-01T15:40:00Z; after it, while the node is unhealthy: Terminate: Ready=False since 2024-11-01T15:00:00Z';
      expect(await lineOf(scenario, 'n1', '32m', '  repair: ')).toContain(text);
      expect(await lineOf(scenario, 'n1', '32m', 'Node n1')).toBe(
        'Node n1 (NodePool default) has been under repair since 2024-11-01T15:30:00Z (2m0s ago)',
      );
      const pool = await run('nodepool', 'default', { scenario: `${FOLDER}/${scenario}`, at: '32m' });
      expect(pool.out).toContain(`  node n1: repair ${text}`);
      expect((await run('node', 'n1', { scenario: `${FOLDER}/${scenario}`, at: '41m' })).out).not.toContain(
        'Reboot has begun',
      );
    });

    it('says who asked for its drain', async () => {
      const scenario = 'repair-drains-before-it-terminates.yaml#repair-drain-takes-too-long';
      expect(await lineOf(scenario, 'n1', '35m', '  drain: ')).toContain(
        'is under way, asked for by repair, 2024-11-01T15:30:00Z (5m0s ago)',
      );
      expect(await lineOf(scenario, 'n1', '35m', '  repair: ')).toContain('Drain has begun');
    });

    it('says when the deadline of its drain comes, and what it does with pods', async () => {
      const textOf = async (name: string, node: string): Promise<string> =>
        (await run('node', node, { scenario: `${FOLDER}/drain-limits.yaml#drain-limits-deadline-${name}`, at: '30m' }))
          .out;
      const forced = await textOf('forces', 'n1');
      expect(forced).toContain(
        '    deadline: at 2026-03-01T11:01:00Z, or later by as long as it was held, the drain has deleted unprotected pods, and ends Failed if others are left (drain.deadline 1h0m0s)\n',
      );
      expect(forced).toContain('    a/budgeted: evicted once that is allowed, or deleted at 2026-03-01T10:56:00Z\n');
      expect(forced).toContain('    a/kept: evicted once its protection is taken off\n');
      expect(await textOf('fails', 'n1')).toContain(
        '    deadline: at 2026-03-01T11:01:00Z, or later by as long as it was held, the drain ends Failed unless it is over (drain.deadline 1h0m0s)\n',
      );
      expect(await textOf('fails', 'n2')).toContain(
        '    deadline: the drain ends Failed if its turn does not come in time (drain.deadline 1h0m0s)\n',
      );
    });

    it('says that it is stuck, and by what', async () => {
      const stuck = await lineOf('repair-in-flight.yaml#repair-concurrent-stuck', 'web-0', '3h', '  repair: ');
      expect(stuck).toMatch(/^ {2}repair: stuck, since .*held by finalizer /);
    });

    it('says what flapping adds, and by which entry a node is due', async () => {
      const first = 'repair-sees-through-flapping.yaml#repair-flapping';
      expect(await lineOf(first, 'n1', '32m', '  repair: ')).toContain(
        'due at 2024-11-01T15:33:00Z (in 1m0s), by spec.repair.flapping of NodePool watched: Ready=False since 2024-11-01T15:30:00Z, unhealthy for 18m0s in all within 1h0m0s',
      );
    });

    it('knows what Curfew has found out about a clock that is behind', async () => {
      const scenario = 'repair-illness-starts.yaml#repair-illness-of-a-clock-that-is-behind';
      expect(await lineOf(scenario, 'n1', '50m', 'Node n1')).toContain(
        'will be repaired at 2024-11-01T16:10:00Z (in 20m0s)',
      );
    });

    it('never says that nothing holds a node that somebody else works on', async () => {
      using folder = mkdtempDisposableSync(join(tmpdir(), 'curfew-explain-'));
      const scenario = join(folder.path, 'scenario.yaml');
      writeFileSync(
        scenario,
        `apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: others }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 10m
  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: n1 }, status: { conditions: [{ type: MaintenanceInProgress, status: "True", lastTransitionTime: "2024-11-01T15:00:00Z" }] } }
`,
      );
      const { out } = await run('node', 'n1', { scenario, at: '5m' });
      expect(out.split('\n').slice(0, 2)).toEqual([
        'Node n1 is being worked on by somebody else: condition MaintenanceInProgress',
        '  disruption: no pod is protected and no PodDisruptionBudget refuses an eviction',
      ]);
    });
  });

  it('explains a NodePool and a policy: rules, and nodes that are unhealthy', async () => {
    const { out } = await run('nodepool', 'default', { scenario: UNHEALTHY, at: '10m' });
    expect(out).toContain('NodePool default: 1 node, 1 unhealthy\n  repair: by NodePool default, mode Enforce');
    const policies = 'examples/scenarios/repair-follows-its-policies.yaml';
    const policy = await run('policy', 'edge', { scenario: 'examples/scenarios/repair-policy-status.yaml', at: '1m' });
    expect(policy.out.split('\n').slice(0, 4)).toEqual([
      'NodeLifecyclePolicy edge: 3 nodes, 2 unhealthy, mode Enforce',
      '  selects NodePool edge',
      '  in force: repair',
      expect.stringMatching(
        /^ {2}node n1: repair under way, since \S+ .*, by NodeLifecyclePolicy edge: NodeClaim n1 is terminated forcefully: /,
      ),
    ]);
    const absent = await run('policy', 'nowhere', { scenario: policies, at: '1s' });
    expect(absent).toMatchObject({
      code: 1,
      error: expect.stringContaining('policy nowhere does not exist: there ') as string,
    });
  });

  it('says what the status of a policy says, and which nodes without a NodePool it covers', async () => {
    const groups = await run('policy', 'groups', { scenario: 'test/cli/node-group.yaml', at: '1m' });
    expect(groups.out.trimEnd().split('\n')).toEqual([
      'NodeLifecyclePolicy groups: 2 nodes, 1 unhealthy, mode Observe',
      '  selects no NodePool, and 2 nodes without a NodePool',
      '  in force, in mode Observe: repair',
      expect.stringMatching(/^ {2}node g1: repair due at .*, by NodeLifecyclePolicy groups, mode Observe/) as string,
    ]);
    const json = await run('policy', 'groups', { scenario: 'test/cli/node-group.yaml', at: '1m', output: 'json' });
    expect(JSON.parse(json.out)).toMatchObject({ nodePools: [], nodesWithoutNodePool: 2 });
  });

  it('says of a NodePool that its repair is off, and what holds for one without nodes', async () => {
    const { out } = await run('nodepool', 'default', { scenario: 'examples/scenarios/repair-waits-for-the-gate.yaml', at: '1m' }); // prettier-ignore
    expect(out).toContain('; off: featureGates.nodeRepair is off in ConfigMap curfew/curfew-config\n');
    const empty = await run('nodepool', 'empty', { scenario: 'test/cli/node-group.yaml#pool-without-nodes', at: '1m' });
    expect(empty.out).toContain('NodePool empty: 0 nodes, 0 unhealthy\n  repair: by NodeLifecyclePolicy labelled, mode Enforce\n'); // prettier-ignore
  });

  it.each([
    ['nodes', 'critical'],
    ['no', 'critical'],
    ['node/critical', undefined],
  ])('takes %s %s as kubectl does', async (kind, name) => {
    const { code, out } = await run(kind, name, { scenario: EXAMPLES, at: '1h' });
    expect([code, out.split(':')[0]]).toEqual([0, 'Node critical']);
  });

  it.each([
    ['po', 'e2e'],
    ['pod/e2e', undefined],
    ['pods', 'ci/e2e'],
  ])('takes %s %s in a namespace', async (kind, name) => {
    const { out } = await run(kind, name, { scenario: TIMELINE, at: '1h', namespace: 'ci' });
    expect(out).toContain('Pod ci/e2e on node n1: protected\n');
  });

  it('says every instant in whole seconds, as Events do', async () => {
    const scenario = 'examples/scenarios/finalizer-drain.yaml#the-end-of-a-protection-is-said-before-its-pod-goes';
    for (const output of [{}, { output: 'json' }]) {
      const { out } = await run('node', 'n1', { scenario, at: '3m', ...output });
      expect(out).toContain('2024-11-01T15:30:00Z');
      expect(out).not.toMatch(/:\d\d\.\d+Z/);
    }
  });

  it('says of a node that is being terminated since when, what keeps its pods, and by when it is forced', async () => {
    const overdue = 'examples/scenarios/finalizer-overdue.yaml';
    const { out: kept } = await run('node', 'n1', { scenario: overdue, at: '3m' });
    expect(kept).toContain(
      'Node n1 (NodePool default) has been terminating since 2024-10-31T15:10:00Z (23h53m0s ago)\n',
    );
    expect(kept).toContain('  disruption: protected without end\n');
    expect(kept).toContain('prod/held: karpenter.sh/do-not-disrupt: "true" protects without end');
    expect(kept).toContain('deadline: none, although it is being deleted');
    expect(kept).toContain('; under way: 1 to evict; 1 blocked\n');
    expect(kept).toContain('prod/held: evicted when its protection ends\n');
    expect(kept).toContain('blocked: protected\n');
    const scenario = `${overdue}#long-past-a-deadline`;
    const { out } = await run('node', 'n1', { scenario, at: '90s' });
    expect(out).toContain('  disruption: no pod is protected');
    expect(out).toContain('deadline: what is left at 2024-11-01T15:02:00Z (in 30s) is removed by force');
    const { out: json } = await run('node', 'n1', { scenario, at: '90s', output: 'json' });
    expect(JSON.parse(json)).toMatchObject({
      deadline: { kind: 'at', time: '2024-11-01T15:02:00Z' },
      lifecycle: { termination: { since: '2024-11-01T15:01:00Z' } },
    });
  });

  it.each([
    ['finalizer-hooks.yaml#abort-holds-until-a-person-acts', '5m', 'waits: hook deregister did not succeed in time'],
    [
      'finalizer-instance.yaml#finalizer-whose-instance-cannot-be-looked-at',
      '5m',
      'waits: instance aws:///us-west-2a/i-n1 cannot be looked at',
    ],
    [
      'finalizer-observes.yaml#a-termination-that-is-only-observed',
      '5m',
      'held: mode is Observe, by NodeLifecyclePolicy edge: nothing is done',
    ],
    [
      'drain-is-held-in-observe-mode.yaml#drain-under-way-goes-on-in-observe-mode',
      '10m',
      'ml/a: deleted at 2024-11-01T15:20:00Z unless it ends before',
    ],
    [
      'drain-is-held-in-observe-mode.yaml#drain-that-waits-is-held-in-observe-mode',
      '5m',
      'ml/b: deleted at 2024-11-01T15:22:00Z, or up to ten minutes after the drain gets its turn if that is later, unless it ends before',
      'n2',
    ],
    [
      'drain-is-held-in-observe-mode.yaml#drain-that-waits-is-held-in-observe-mode',
      '30m',
      'ml/b: deleted when its time is over, which stands still while the drain is held',
      'n2',
    ],
  ])('says what a node of %s waits for', async (scenario, at, line, node = 'n1') => {
    const { out } = await run('node', node, { scenario: `examples/scenarios/${scenario}`, at });
    expect(out).toContain(`    ${line}`);
    expect(out).not.toContain('by force with');
  });

  it.each<readonly [asked: string, line: string, answer?: string]>([
    ['', 'curfew.dev/drain-requested on the node is empty and asks for nothing: give it an id'],
    [' mine ', 'drain mine is asked for on the node'],
    [' mine ', 'Node n1 is to be drained, and its drain has not begun'],
    [' mine ', 'the drain waits for userNamespaces, podDrainPolicies or customDrain'],
    [
      ' mine ',
      'drain mine, which was asked for on the node, is over (Succeeded: 1 pod was drained)',
      '{"id":"mine","status":"Succeeded","message":"1 pod was drained"}',
    ],
  ])('says what a person asked for by %j: %s', async (asked, line, answer = '') => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'curfew-explain-'));
    const node = {
      name: 'n1',
      annotations: { 'curfew.dev/drain-requested': asked, 'curfew.dev/drain-answer': answer },
    };
    const spec = {
      start: '2026-01-01T00:00:00Z',
      duration: '1m',
      objects: [{ apiVersion: 'v1', kind: 'Node', metadata: node }],
    };
    const scenario = join(folder.path, 'asked.yaml');
    writeFileSync(
      scenario,
      JSON.stringify({ apiVersion: 'curfew.dev/v1alpha1', kind: 'Scenario', metadata: { name: 'asked' }, spec }),
    );
    expect((await run('node', 'n1', { scenario, at: '1s' })).out).toContain(line);
  });

  it.each([
    ['5m', '(in 6m0s): what is left then is removed by force'],
    ['15m', '(4m0s ago): what is left is removed by force at once'],
  ])(
    'says of a termination in mode Observe that nobody forces it, and from when on mode Enforce would, at %s',
    async (at, end) => {
      const scenario = 'examples/scenarios/finalizer-observes.yaml#a-termination-that-is-only-observed';
      const line = `deadline: none in mode Observe; in mode Enforce it is 2024-11-01T15:11:00Z ${end}, protected or not\n`;
      expect((await run('node', 'n1', { scenario, at })).out).toContain(line);
      expect((await run('pod', 'prod/web-0', { scenario, at })).out).toContain(line);
      const { out } = await run('node', 'n1', { scenario, at, output: 'json' });
      expect(JSON.parse(out)).toMatchObject({ deadline: { kind: 'observed', time: '2024-11-01T15:11:00Z' } });
    },
  );

  it('looks at a moment of a run in which a refusal lasts beyond that moment', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'curfew-explain-'));
    const scenario = join(folder.path, 'refused.yaml');
    const spec = {
      start: '2024-11-01T15:00:00Z',
      duration: '1h',
      config: '[featureGates]\nnodeRepair = true\n',
      nodes: [{ pool: 'web', count: 3 }],
      objects: [
        {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          metadata: { name: 'web' },
          spec: { repair: { maxUnhealthy: '100%', defaultTolerationDuration: '10m' } },
        },
      ],
      steps: [
        { at: '5m', condition: { node: 'web-0', type: 'Ready', status: 'False' } },
        { at: '6m', refuse: { verb: 'patch', resource: 'nodeclaims', status: 403 } },
      ],
    };
    const file = { apiVersion: 'curfew.dev/v1alpha1', kind: 'Scenario', metadata: { name: 'refused' }, spec };
    writeFileSync(scenario, JSON.stringify(file));
    expect((await run('node', 'web-0', { scenario, at: '30m' })).out).toContain(', and the repair is held\n');
  });

  it('prints JSON', async () => {
    const { out } = await run('node', 'critical', { scenario: EXAMPLES, at: '1h', output: 'json' });
    expect(JSON.parse(out)).toMatchObject({ name: 'critical', verdict: { kind: 'protectedWithoutEnd' } });
  });

  it.each([
    ['node', 'nowhere', { scenario: EXAMPLES, at: '1s' }, 1, 'node nowhere does not exist: there are '],
    ['node', 'crtical', { scenario: EXAMPLES, at: '1s' }, 1, 'node crtical does not exist, did you mean "critical"?\n'],
    [
      'pod',
      'e2f',
      { scenario: TIMELINE, at: '1s', namespace: 'ci' },
      1,
      'ci/e2f does not exist, did you mean "ci/e2e"?',
    ],
    ['pod', 'e2e', { scenario: TIMELINE, at: '1s' }, 1, 'pod default/e2e does not exist, did you mean "ci/e2e"?\n'],
    ['polcy', 'x', {}, 2, 'not polcy, did you mean "policy"?\n'],
    ['node', undefined, {}, 2, 'node NAME, nodepool [NAME] or policy [NAME]: a name is missing\n'],
    ['pod', 'a/b/c', {}, 2, 'a pod is NAMESPACE/NAME, not a/b/c\n'],
    [
      'deployment',
      'web',
      {},
      2,
      'explain pod NAMESPACE/NAME, node NAME, nodepool [NAME] or policy [NAME], not deployment\n',
    ],
    ['node', 'n1', { at: '1h' }, 2, '--at needs --scenario'],
    ['node', 'n1', { scenario: EXAMPLES, at: '100h' }, 2, '--at 100h lies outside the scenario'],
    ['node', 'n1', { scenario: EXAMPLES, at: '4d' }, 2, 'unknown unit "d"'],
    ['node', 'n1', { scenario: `${EXAMPLES}#none` }, 2, 'holds no scenario none'],
    ['node', 'n1', { scenario: 'no-such-file.yaml' }, 2, 'no-such-file.yaml does not exist'],
    ['node', 'n1', { kubeconfig: '/does/not/exist' }, 2, 'kubeconfig /does/not/exist does not exist'],
  ])('%s %s %j ends with %i', async (kind, name, options, code, message) => {
    const ended = await run(kind, name, options);
    expect(ended).toMatchObject({ code, out: '' });
    expect(ended.error).toContain(message);
  });
});
