import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import { printScenario } from '../../../simulator/scenario/print.ts';
import type { Scenario } from '../../../simulator/scenario/scenario.ts';
import { textOf } from '../../../simulator/invariants/reading.ts';
import { CALL_FAULTS } from '../../../simulator/faults/mix.ts';
import { drawFaults } from '../../../simulator/swarm/faults.ts';
import { NEWS_FROM } from '../../../simulator/swarm/generate/focus.ts';
import { MISHAPS_FROM } from '../../../simulator/swarm/generate/mishaps.ts';
import { HARDSHIPS_FROM } from '../../../simulator/swarm/generate/hardships.ts';
import { KARPENTER_REBOOTS_FROM, KARPENTERS_FROM } from '../../../simulator/swarm/generate/karpenters.ts';
import { generateScenario } from '../../../simulator/swarm/generate/scenario.ts';
import { hours } from '../../../shared/domain/time.ts';
import { clusterCatalog } from '../../../simulator/world.ts';

const SEEDS = Array.from({ length: 60 }, (_, index) => index + 1);
/** What they draw once made a file that is not valid: steps on a kind that is not served, a field that is null. */
const ONCE_NOT_VALID = [134, 217, 333];

/** Seeds that draw news: `NEWS_FROM`, and each fourth from there on. */
const NEWS_SEEDS = Array.from({ length: 40 }, (_, index) => NEWS_FROM + 4 * index);

describe('generated news', () => {
  const runs = NEWS_SEEDS.map(generateScenario);
  const eventsOf = ({ steps }: Scenario) =>
    steps.flatMap(({ time, action }) => (action.kind === 'busEvent' ? [{ time, detail: action.detail }] : []));

  it('is, in some of the seeds, old by more than a day', () => {
    const isOld = ({ time, detail }: ReturnType<typeof eventsOf>[number]): boolean => {
      const said = Date.parse(textOf(detail['generatedTimestamp']) ?? '');
      return time - said > hours(24);
    };
    expect(runs.filter(run => eventsOf(run).some(isOld)).length).toBeGreaterThan(4);
  });

  it('is, in some of the seeds, of a clock that is ahead', () => {
    const isAhead = ({ time, detail }: ReturnType<typeof eventsOf>[number]): boolean =>
      Date.parse(textOf(detail['generatedTimestamp']) ?? '') - time > hours(1);
    expect(runs.filter(run => eventsOf(run).some(isAhead)).length).toBeGreaterThan(2);
  });

  it('comes, in some of the seeds, a hundred times and more to one node', () => {
    const most = runs.map(run => {
      const names = Map.groupBy(eventsOf(run), ({ detail }) => detail['nodeName']);
      return Math.max(0, ...[...names.values()].map(({ length }) => length));
    });
    expect(most.filter(count => count > 100).length).toBeGreaterThan(2);
  });

  it('is, in some of the seeds, exported again under another id, within the hour and after more than a day', () => {
    const gaps = runs.flatMap(run => {
      const exported = Map.groupBy(eventsOf(run), ({ detail }) => JSON.stringify(detail['data']));
      return [...exported].flatMap(([data, events]) => {
        const ids = new Set(events.map(({ detail }) => detail['id']));
        const times = events.map(({ time }) => time);
        return data === undefined || ids.size < 2 ? [] : [Math.max(...times) - Math.min(...times)];
      });
    });
    expect(gaps.some(gap => gap < hours(1))).toBe(true);
    expect(gaps.some(gap => gap > hours(24))).toBe(true);
  });

  it('lasts for longer than it takes until a message is redriven, which other runs do not', () => {
    const lengthOf = ({ start, end }: Scenario): number => end - start;
    expect(Math.min(...runs.map(lengthOf))).toBeGreaterThan(hours(60));
    expect(Math.max(...SEEDS.map(generateScenario).map(lengthOf))).toBeLessThan(hours(29));
  });
});

describe('a generated scenario', () => {
  it('is the same for the same seed', () => {
    expect(generateScenario(7)).toEqual(generateScenario(7));
    expect(generateScenario(7)).not.toEqual(generateScenario(8));
  });

  it('can be written to a file that reads back as the same scenario', () => {
    const catalog = clusterCatalog();
    for (const seed of [...SEEDS, ...ONCE_NOT_VALID]) {
      const scenario = generateScenario(seed);
      const parsed = parseScenarios(printScenario(scenario), 'generated', catalog);
      expect(parsed.ok ? parsed.scenarios.flatMap(({ doubts }) => doubts) : parsed.faults).toEqual([]);
      expect(parsed.ok && parsed.scenarios.map(withoutPlaces)).toEqual([withoutPlaces(scenario)]);
    }
  });

  it('has its steps in order, and none in its last minute', () => {
    for (const { steps, end } of SEEDS.map(generateScenario)) {
      const times = steps.map(({ time }) => time);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.every(time => time <= end - 60_000)).toBe(true);
    }
  });

  it('covers, over some seeds, every kind of step and of object that Curfew looks at', () => {
    const scenarios = SEEDS.map(generateScenario);
    const steps = new Set(scenarios.flatMap(scenario => scenario.steps.map(({ action }) => action.kind)));
    expect([...steps].toSorted()).toEqual([
      'apply',
      'busEvent',
      'cleanup',
      'cloud',
      'delete',
      'hook',
      'outage',
      'patch',
      'refuse',
      'restart',
    ]);
    const kinds = new Set(scenarios.flatMap(({ objects }) => objects.map(({ manifest }) => manifest.kind)));
    expect([...kinds].toSorted()).toEqual([
      'CustomResourceDefinition',
      'FinalizerRule',
      'ManagedDatabase',
      'Namespace',
      'Node',
      'NodeClaim',
      'NodeLifecyclePolicy',
      'NodePool',
      'Pod',
      'PodDisruptionBudget',
      'VolumeAttachment',
    ]);
  });

  it('has, over some seeds, nodes of managed node groups under a policy that covers them, and others that it does not', () => {
    const opted = SEEDS.map(generateScenario).flatMap(({ objects }) => {
      const bodies = objects.map(({ manifest }) => JSON.stringify(manifest.body));
      const isGrouped = bodies.some(body => body.includes('eks.amazonaws.com/nodegroup'));
      return isGrouped ? [bodies.some(body => body.includes('"TerminateInAutoScalingGroup"'))] : [];
    });
    expect(opted).toContain(true);
    expect(opted).toContain(false);
  });

  it('has, in some of the seeds, admission policies that deny, as a rule for a while', () => {
    const steps = SEEDS.map(seed => generateScenario(seed).steps.map(({ action }) => action));
    const denying = steps.filter(actions => JSON.stringify(actions).includes('"ValidatingAdmissionPolicyBinding"'));
    expect(denying.length).toBeGreaterThan(0);
    expect(denying.length).toBeLessThan(SEEDS.length / 4);
    expect(JSON.stringify(denying)).toContain(
      '"kind":"delete","target":{"resource":"validatingadmissionpolicybindings"',
    );
  });

  it('has, in some of the seeds, what goes wrong and stays', () => {
    const scenarios = SEEDS.map(generateScenario);
    const lasting = scenarios.filter(({ steps }) =>
      /"kind":"refuse"|fromTheFuture|9999999h|-observer-/.test(JSON.stringify(steps)),
    );
    expect(lasting.length).toBeGreaterThan(SEEDS.length / 10);
    expect(lasting.length).toBeLessThan(SEEDS.length / 2);
    const refusals = Array.from({ length: 300 }, (_, index) => generateScenario(index + 1)).flatMap(({ steps }) =>
      steps.flatMap(({ action }) => (action.kind === 'refuse' ? [action] : [])),
    );
    const kinds = refusals.map(({ refusal: { name, verb, as } }) =>
      'notServed' in as
        ? 'kind'
        : name !== undefined
          ? 'object'
          : `verb ${verb === 'get' || verb === 'list' || verb === 'watch' ? 'read' : 'write'}`,
    );
    expect([...new Set(kinds)].toSorted()).toEqual(['kind', 'object', 'verb read', 'verb write']);
    const statuses = refusals.flatMap(({ refusal: { as } }) => ('status' in as ? [as.status] : []));
    expect([...new Set(statuses)].toSorted((a, b) => a - b)).toEqual([403, 409, 422, 429, 500, 503, 504]);
    const lengths = refusals.map(({ for: length }) => (length ?? 0) / 60_000);
    expect(Math.min(...lengths)).toBeLessThan(2);
    expect(Math.max(...lengths)).toBeGreaterThan(120);
  });

  it('has, in some of the seeds, a FinalizerRule that is deleted', () => {
    const steps = JSON.stringify(SEEDS.map(seed => generateScenario(seed).steps.map(({ action }) => action)));
    expect(steps).toContain('"kind":"delete","target":{"resource":"finalizerrules"');
  });

  it('has, in some of the seeds, what turns over: a second policy, a NodePool that goes, a pod that may take a day, a tidied node', () => {
    const steps = JSON.stringify(SEEDS.map(seed => generateScenario(seed).steps.map(({ action }) => action)));
    expect(steps).toMatch(/"name":"(another|zulu)-\d+"/);
    expect(steps).toContain('"kind":"delete","target":{"resource":"nodepools"');
    expect(steps).toMatch(/"terminationGracePeriodSeconds":(3600|86400)/);
    expect(steps).toContain('"merge":{"spec":{"taints":null}}');
  });

  it('has, from a range of its own on, what Karpenter 1.15 reboots for and budgets with schedules', () => {
    const [before, since] = [KARPENTERS_FROM, KARPENTER_REBOOTS_FROM].map(from =>
      JSON.stringify(Array.from({ length: 20 }, (_, index) => generateScenario(from + index))),
    );
    for (const drawn of ['NvidiaXID48Error', 'NvidiaXID79Error', '"RebootRequested"', '"*/30 * * * *"']) {
      expect(since).toContain(drawn);
      expect(before).not.toContain(drawn);
    }
  });

  it('has from 1 to 150 nodes and up to 4 NodePools at its start', () => {
    for (const { objects } of SEEDS.map(generateScenario)) {
      const count = (kind: string): number => objects.filter(({ manifest }) => manifest.kind === kind).length;
      expect(count('Node')).toBeGreaterThanOrEqual(1);
      expect(count('Node')).toBeLessThanOrEqual(150);
      expect(count('NodePool')).toBeLessThanOrEqual(4);
    }
  });
});

/** What decides a run: where things stand in a file does not. */
function withoutPlaces({ objects, steps, ...rest }: Scenario): object {
  return {
    ...rest,
    file: undefined,
    objects: objects.map(({ manifest }) => manifest),
    steps: steps.map(({ time, action }) => ({ time, action: definedOnly(action) })),
  };
}

const definedOnly = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

describe('a scenario about incidents', () => {
  const incidents = Array.from({ length: 120 }, (_, index) => generateScenario(30_001 + 4 * index));
  const steps = JSON.stringify(incidents.map(scenario => scenario.steps.map(({ time, action }) => ({ time, action }))));

  it.each([
    ['others at work', /ToBeDeletedByClusterAutoscaler|karpenter\.sh\/(disrupted|rebooting)/],
    ['an instance that is stopped', /node\.cloudprovider\.kubernetes\.io\/shutdown/],
    ['maintenance', /"type":"MaintenanceInProgress"/],
    ['a reboot of Karpenter', /"type":"Rebooting"/],
    ['a finalizer of somebody else', /example\.com\/keep/],
    ['a veto with an end', /"curfew\.dev\/do-not-repair":"2024-/],
    ['the veto of Karpenter', /"karpenter\.sh\/do-not-repair"/],
    ['a gate that closes and opens', /nodeRepair = false.*nodeRepair = true/],
    ['a mistake in a block', /"flapping":"often"/],
    ['mode Observe for a while', /"mode":"Observe".*"mode":"Enforce"/],
    ['deletions that are refused', /"verb":"delete","resource":"nodeclaims"/],
    ['reboots that fail', /"fail":"(throttle|error)"/],
  ])('has, in some of the seeds, %s', (_, pattern) => {
    expect(pattern.test(steps)).toBe(true);
  });

  it('has reports by clocks that are days behind, and ahead', () => {
    const offsets = incidents.flatMap(scenario =>
      scenario.steps.flatMap(({ time, action }) =>
        [...JSON.stringify(action).matchAll(/"lastTransitionTime":"([^"]+)"/g)].map(
          ([, text]) => Date.parse(text ?? '') - time,
        ),
      ),
    );
    expect(Math.min(...offsets)).toBeLessThan(-11 * 60_000);
    expect(Math.max(...offsets)).toBeGreaterThan(60_000);
  });

  it('begins with pools of machines that are older than the story', () => {
    const nodes = incidents.flatMap(({ objects }) => objects.filter(({ manifest }) => manifest.kind === 'Node'));
    expect(nodes.length).toBeGreaterThan(incidents.length);
    expect(
      nodes.every(({ manifest }) => JSON.stringify(manifest.body).includes('"creationTimestamp":"2024-11-01T12:')),
    ).toBe(true);
  });

  it('can be written to a file that reads back as the same scenario', () => {
    const catalog = clusterCatalog();
    for (const scenario of incidents.slice(0, 20)) {
      const parsed = parseScenarios(printScenario(scenario), 'generated', catalog);
      expect(parsed.ok && parsed.scenarios.map(withoutPlaces)).toEqual([withoutPlaces(scenario)]);
    }
  });
});

describe('a scenario with mishaps', () => {
  const drawn = Array.from({ length: 60 }, (_, index) => generateScenario(MISHAPS_FROM + index));
  const actions = drawn.flatMap(({ steps }) => steps.map(({ action }) => action));

  it('has, over some seeds, each of them, and calls that take time', () => {
    const kinds = new Set(actions.map(({ kind }) => kind));
    for (const kind of ['delay', 'redrive', 'rollback', 'restore'] as const) expect(kinds).toContain(kind);
    const backups = actions.flatMap(action => (action.kind === 'restore' ? [action.age !== undefined] : []));
    expect(new Set(backups)).toEqual(new Set([true, false]));
    expect(new Set(drawn.map(({ callDuration }) => callDuration))).toEqual(new Set([undefined, 7, 40, 150]));
  });

  it('has none of them below', () => {
    const below = Array.from({ length: 60 }, (_, index) => generateScenario(MISHAPS_FROM - 1 - index));
    const kinds = new Set(below.flatMap(({ steps }) => steps.map(({ action }) => action.kind)));
    for (const kind of ['delay', 'redrive', 'rollback', 'restore'] as const) expect(kinds).not.toContain(kind);
    expect(below.filter(({ callDuration }) => callDuration !== undefined)).toEqual([]);
  });

  it('has no message that is late after the last step may come', () => {
    const late = drawn.flatMap(({ steps, end }) =>
      steps.filter(({ time, action }) => action.kind === 'delay' && time + action.for + action.by > end - 60_000),
    );
    expect(late).toEqual([]);
  });

  it('can be written to a file that reads back as the same scenario', () => {
    const catalog = clusterCatalog();
    for (const scenario of drawn.slice(0, 30)) {
      const parsed = parseScenarios(printScenario(scenario), 'generated', catalog);
      expect(parsed.ok ? parsed.scenarios.map(withoutPlaces) : parsed.faults).toEqual([withoutPlaces(scenario)]);
    }
  });
});

describe('a scenario with hardships', () => {
  const hard = Array.from({ length: 120 }, (_, index) => generateScenario(HARDSHIPS_FROM + index));
  const texts = hard.map(({ steps, objects }) =>
    JSON.stringify([objects.map(({ manifest }) => manifest), steps.map(({ time, action }) => ({ time, action }))]),
  );

  it.each([
    ['names as long as on EKS', /"name":"ip-192-168-101-202\.eu-central-1\.compute\.internal-n\d+"/],
    ['a hundred changes of one node and more', /"example\.com\/beat":"59"/],
    ['a hundred events about one node and more', /"id":"storm-\d+-99"/],
    ['a mode that is flipped', /"mode":"Observe".*"mode":"Enforce".*"mode":"Observe"/],
    ['a gate that is closed and opened', /nodeRepair = false.*nodeRepair = true/],
    ['a configuration that nobody can read, and back', /"config\.toml":"\[\[\[.*"config\.toml":"[^[]/],
    ['replacements that do not come', /"kind":"launch","nodePool":"pool-\d","result":"(insufficientCapacity|never)"/],
    ["Karpenter's own forceful deletion", /"karpenter\.sh\/nodeclaim-termination-timestamp":"2024-[^}]*\}\}\}/],
    ["Karpenter's disruption", /"key":"karpenter\.sh\/disrupted"/],
    ['a candidate of the cluster-autoscaler', /DeletionCandidateOfClusterAutoscaler.*ToBeDeletedByClusterAutoscaler/],
    ['settings that go in any order', /"kind":"delete","target":\{"resource":"nodepools"/],
    ['a kind that is not served', /"notServed":true/],
  ])('has, in some of the seeds, %s', (_, pattern) => {
    expect(texts.filter(text => pattern.test(text)).length).toBeGreaterThan(0);
  });

  it('can be drawn for clusters in which nothing is due after a time', () => {
    expect(generateScenario(HARDSHIPS_FROM + 148).steps.length).toBeGreaterThan(0);
  });

  it('has no Karpenter in some of the seeds', () => {
    expect(hard.filter(({ actors }) => !actors.has('karpenter') && actors.size === 3).length).toBeGreaterThan(3);
  });

  it('lets at most one kind of call fail far more often than in its mix', () => {
    const failing = Array.from({ length: 400 }, (_, index) =>
      drawFaults(HARDSHIPS_FROM + index).more.filter(kind => CALL_FAULTS.some(fault => fault === kind)),
    );
    expect(Math.max(...failing.map(({ length }) => length))).toBe(1);
  });

  it('can be written to a file that reads back as the same scenario', () => {
    const catalog = clusterCatalog();
    for (const scenario of hard.slice(0, 30)) {
      const parsed = parseScenarios(printScenario(scenario), 'generated', catalog);
      expect(parsed.ok ? parsed.scenarios.flatMap(({ doubts }) => doubts) : parsed.faults).toEqual([]);
      expect(parsed.ok && parsed.scenarios.map(withoutPlaces)).toEqual([withoutPlaces(scenario)]);
    }
  });
});
