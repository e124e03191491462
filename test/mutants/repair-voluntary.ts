/** Mistakes about entries, drain bounds, disruption budgets and replacements. */
import type { BusEntry } from '../../shared/contract/envelope.ts';
import { HEALTH_EVENT } from '../../shared/contract/names.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import { dueVerdictOf } from '../../functions/repair/node/rule/finding.ts';
import { type NodeView, RESERVED_TAINT } from '../../shared/domain/node.ts';
import { addDuration, minutes } from '../../shared/domain/time.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { annotated, type Mutant, withObjects, withPorts, withRepairRules } from './mutant.ts';
import { guardsSeeing, poolSeeing, remembering, seeing, withSettings } from './repair-seeing.ts';

const ENTRIES = 'repair-entries-decide.yaml';
const BOUNDS = 'repair-drain-bounds.yaml';
const PROFILE = 'repair-provider-policies.yaml';
const BUDGETS = 'repair-disruption-budgets.yaml';
const REBOOTS = 'repair-reboot-drains.yaml';
const CONFIRMED = 'repair-confirmed-by-ec2.yaml';
const REPLACES = 'repair-replaces-first.yaml';

const settingsSeen = (change: (settings: RepairSettings) => Partial<RepairSettings>): Mutation =>
  seeing({ repair: repair => withSettings(repair, change) });

/** Each entry changed. */
const entriesSeen = (change: Partial<RepairSettings['overrides'][number]>): Mutation =>
  settingsSeen(({ overrides, conditions }) => ({
    overrides: overrides.map(entry => ({ ...entry, ...change })),
    conditions: conditions.map(entry => ({ ...entry, ...change })),
  }));

const ready = (node: NodeView): NodeView => ({
  ...node,
  taints: (node.taints ?? []).filter(({ key }) => key === RESERVED_TAINT),
});

/** The NodeClaim of what is due, without one of its fields. */
const dueWithout = (field: 'terminationGracePeriod'): Mutation =>
  poolSeeing(seen => ({
    ...seen,
    findings: seen.findings.map(look => {
      const due = dueVerdictOf(look);
      const claim = due?.claim;
      if (due === undefined || claim === undefined) return look;
      return { ...look, verdict: { ...due, claim: { ...claim, [field]: undefined } } };
    }),
  }));

/** What EC2 says, changed before it is judged. */
const answersSeen = (change: (answer: string) => string): Mutation =>
  poolSeeing(({ answers = new Map<string, string>(), ...seen }) => ({
    ...seen,
    answers: new Map([...answers].map(([uid, answer]) => [uid, change(answer)])),
  }));

/** What repair puts on the bus, changed; undefined: it is not sent. */
const saying = (change: (entry: BusEntry) => BusEntry | undefined): Mutation =>
  withPorts('repair', ({ bus }) => ({
    bus: {
      async publish(entries) {
        await bus.publish(entries.flatMap(entry => change(entry) ?? []));
        return entries.map(() => ({ kind: 'published' }));
      },
    },
  }));

export const REPAIR_VOLUNTARY_MUTANTS: readonly Mutant[] = [
  {
    name: 'reboot-without-its-drain',
    mistake: 'reboots a node at once where its pods have time',
    breaks: ['I2', 'I3', 'I1'],
    scenario: `${REBOOTS}#repair-reboot-drains-first`,
    mutation: settingsSeen(() => ({ drainBound: minutes(0) })),
  },
  {
    name: 'reboot-in-the-middle-of-its-drain',
    mistake: 'gives pods a minute where their bound gives them ten',
    breaks: ['I2', 'I3'],
    seed: 115,
    scenario: `${REBOOTS}#repair-reboot-at-the-end-of-its-drain`,
    mutation: remembering(held => ({
      ...held,
      ...(held.attempt?.action === 'Drain' && {
        attempt: { ...held.attempt, until: addDuration(held.attempt.time, minutes(1)) },
      }),
    })),
  },
  {
    name: 'reboot-long-after-its-drain',
    mistake: 'gives pods a quarter of an hour where their bound gives them some minutes',
    breaks: ['I5'],
    scenario: `${REBOOTS}#repair-reboot-drain-inherits`,
    mutation: remembering(held => ({
      ...held,
      ...(held.attempt?.action === 'Drain' && {
        attempt: { ...held.attempt, until: addDuration(held.attempt.time, minutes(15)) },
      }),
    })),
  },
  {
    name: 'reboot-inherits-no-time',
    mistake: 'reboots at once where pods inherit the time of the NodeClaim or of the action',
    breaks: ['I2'],
    scenario: `${REBOOTS}#repair-reboot-drain-inherits`,
    mutation: settingsSeen(({ drainBound }) => ({ drainBound: drainBound === 'Inherit' ? minutes(0) : drainBound })),
  },
  {
    name: 'reboot-drains-without-a-bound',
    mistake: 'drains a node before its reboot where pods have no time',
    breaks: ['I3'],
    seed: 115,
    scenario: `${REBOOTS}#repair-reboot-without-a-drain`,
    mutation: settingsSeen(() => ({ drainBound: minutes(10) })),
  },
  {
    name: 'reboot-drains-by-the-configuration',
    mistake: 'drains before a reboot as the configuration says',
    breaks: ['I5'],
    scenario: `${REBOOTS}#repair-reboot-drains-first`,
    mutation: saying(entry => ({ ...entry, detail: { ...entry.detail, allPods: false } })),
  },
  {
    name: 'reboot-does-not-end-its-drain',
    mistake: 'goes on to evict pods when the reboot has begun',
    breaks: ['I2'],
    scenario: `${REBOOTS}#repair-reboot-at-the-end-of-its-drain`,
    mutation: saying(entry => (entry.detailType === HEALTH_EVENT ? undefined : entry)),
  },
  {
    name: 'reboot-leaves-the-node-closed',
    mistake: 'leaves the node cordoned that recovered while it was drained for a reboot',
    breaks: ['I7'],
    scenario: `${REBOOTS}#repair-recovery-during-the-drain-of-a-reboot`,
    mutation: withObjects('repair', 'Node', node => annotated(node, { 'curfew.dev/cordoned-by-repair': undefined })),
  },
  {
    name: 'confirm-ignored',
    mistake: 'acts although EC2 calls the instance well',
    breaks: ['I6'],
    scenario: `${CONFIRMED}#repair-not-confirmed`,
    mutation: answersSeen(() => 'impaired'),
  },
  {
    name: 'confirm-by-silence',
    mistake: 'takes for confirmed what EC2 does not know',
    breaks: ['I6'],
    scenario: `${CONFIRMED}#repair-not-known-is-not-confirmed`,
    mutation: answersSeen(answer => (answer === 'ok' ? answer : 'impaired')),
  },
  {
    name: 'confirm-by-another-check',
    mistake: 'asks for the check of the instance where that of the application is wanted',
    breaks: ['I6'],
    scenario: `${CONFIRMED}#repair-confirmed-by-the-application`,
    mutation: withPorts('repair', ({ instances }) => ({
      instances: {
        describe: id => instances.describe(id),
        checkOf: id => instances.checkOf(id, 'InstanceStatus'),
        list: () => instances.list(),
        terminate: id => instances.terminate(id),
        reboot: id => instances.reboot(id),
        terminateInAutoScalingGroup: id => instances.terminateInAutoScalingGroup(id),
      },
    })),
  },
  {
    name: 'confirmed-for-ever-not',
    mistake: 'holds what EC2 calls impaired by now',
    breaks: ['I5'],
    scenario: `${CONFIRMED}#repair-confirmed-at-once`,
    mutation: answersSeen(() => 'ok'),
  },
  {
    name: 'entry-for-any-reason',
    mistake: 'takes an entry with a reason for one for every reason',
    breaks: ['I3', 'I5'],
    scenario: `${ENTRIES}#repair-reason-comes-before-no-reason`,
    mutation: entriesSeen({ matchesReason: () => true }),
  },
  {
    name: 'bound-of-the-block-ignored',
    mistake: 'gives pods no time where the block gives them some',
    breaks: ['I1'],
    scenario: `${BOUNDS}#repair-bound-of-the-block`,
    mutation: settingsSeen(() => ({ drainBound: undefined })),
  },
  {
    name: 'bound-of-the-entry-ignored',
    mistake: 'gives pods the time of the block where the entry says less',
    breaks: ['I1'],
    scenario: `${BOUNDS}#repair-bound-of-the-entry`,
    mutation: entriesSeen({ drainBound: undefined }),
  },
  {
    name: 'bound-beyond-the-node-claim',
    mistake: "gives pods more time than the NodeClaim's own terminationGracePeriod",
    breaks: ['I1'],
    scenario: `${BOUNDS}#repair-bound-of-the-node-claim-is-smaller`,
    mutation: dueWithout('terminationGracePeriod'),
  },
  {
    name: 'bound-inherited-as-none',
    mistake: 'takes Inherit for no bound where the NodeClaim has one',
    breaks: ['I1'],
    scenario: `${BOUNDS}#repair-bound-inherited`,
    mutation: dueWithout('terminationGracePeriod'),
  },
  {
    name: 'profile-ignored',
    mistake: 'takes the older table of the provider where the profile of 1.15 is chosen',
    breaks: ['I3', 'I1'],
    scenario: `${PROFILE}#repair-profile-fallback`,
    mutation: settingsSeen(({ provided }) => ({
      provided: provided.map(each => ({ ...each, drainBound: undefined, toleration: minutes(10) })),
    })),
  },
  {
    name: 'profile-without-bounds',
    mistake: 'takes the tolerations of the profile, and not its drain bounds',
    breaks: ['I1'],
    scenario: `${PROFILE}#repair-profile-ready`,
    mutation: settingsSeen(({ provided }) => ({
      provided: provided.map(each => ({ ...each, drainBound: undefined })),
    })),
  },
  {
    name: 'budgets-ignored',
    mistake: 'does not ask the disruption budgets of the NodePool',
    breaks: ['I3'],
    scenario: `${BUDGETS}#repair-budget-names-unhealthy`,
    mutation: guardsSeeing(guardInputs => ({ ...guardInputs, budget: undefined })),
  },
  {
    name: 'budgets-without-others',
    mistake: 'counts its own repairs, and not what others disrupt',
    breaks: ['I3'],
    scenario: `${BUDGETS}#repair-budget-counts-others`,
    mutation: guardsSeeing(({ budget, ...guardInputs }) => ({
      ...guardInputs,
      budget: budget && { ...budget, disrupted: new Set<string>() },
    })),
  },
  {
    name: 'budgets-of-a-pass-ago',
    mistake: 'forgets what the same pass has granted',
    breaks: ['I3'],
    scenario: `${BUDGETS}#repair-budget-all`,
    mutation: guardsSeeing(({ budget, ...guardInputs }) => ({
      ...guardInputs,
      budget: budget && { ...budget, blockerOf: uid => budget.blockerOf(uid, budget.disrupted) },
    })),
  },
  {
    name: 'replacement-opened-early',
    mistake: 'opens a replacement while a taint says that it is not ready',
    breaks: ['I3'],
    scenario: `${REPLACES}#repair-replacement-with-a-readiness-taint`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode: (context, node, held) =>
        rules.judgeNode(
          { ...context, nodesByName: new Map([...context.nodesByName].map(([name, each]) => [name, ready(each)])) },
          node,
          held,
        ),
    })),
  },
  {
    name: 'replacement-launched-at-once-again',
    mistake: 'launches again at once after a launch that failed',
    breaks: ['I11'],
    scenario: `${REPLACES}#repair-replacement-unavailable`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode: (context, node, held) => {
        const { incident } = held ?? {};
        const forgetful = held && { ...held, ...(incident && { incident: { ...incident, passed: [] } }) };
        return rules.judgeNode({ ...context, launchPause: undefined }, node, forgetful);
      },
    })),
  },
  {
    name: 'replacement-doubled',
    mistake: 'launches a second replacement while the first is on its way',
    breaks: ['I10'],
    seed: 61,
    scenario: `${REPLACES}#repair-replace-then-terminate`,
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode(context, node, held) {
        if (held?.attempt?.action !== 'Replace' || held.attempt.phase !== 'accepted')
          return rules.judgeNode(context, node, held);
        const unmarked = [...context.claims].map(([uid, claim]) => [uid, { ...claim, annotations: {} }] as const);
        const forgetful = { ...held, attempt: undefined, leftovers: undefined };
        return rules.judgeNode({ ...context, claims: new Map(unmarked) }, node, forgetful);
      },
    })),
  },
];
