/**
 * The ladder of repair, called off at each of its effects and taken up again: by a recovery, a veto, a block that goes, a gate that closes,
 * a policy that only observes. No action is taken twice in an incident, and none beyond its allowance.
 */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { Change, Message, Situation } from '../situation.ts';
import { nodeRef, patched, policy, policyRef, ready, START, unattended, wait } from './changes.ts';
import { booted, cluster, conditions, LONG_STORY, POOL_EVENT, seen, SICK, TOLERATION, WELL } from './repair-world.ts';

const TIMEOUT = 10;
const LADDER = {
  defaultTolerationDuration: `${TOLERATION}m`,
  actions: [{ type: 'Reboot', timeout: `${TIMEOUT}m` }, { type: 'Terminate' }],
};
const OBJECTS: readonly KubernetesManifest[] = [
  ...cluster(undefined, SICK, WELL).map(booted),
  policy({ mode: 'Enforce', repair: LADDER }),
];

const gate = (isOpen: boolean, tells: Change['tells']): Change =>
  patched(
    `the gate is ${isOpen ? 'open' : 'closed'}`,
    { type: RESOURCES.ConfigMap, namespace: 'curfew', name: 'curfew-config' },
    { data: { 'config.toml': `[featureGates]\nnodeRepair = ${isOpen}\n` } },
    tells,
  );
const veto = (value: string | null, tells: Change['tells']): Change =>
  patched(
    value === null ? 'the veto is taken back' : 'a person vetoes',
    nodeRef('n1'),
    { metadata: { annotations: { 'curfew.dev/do-not-repair': value } } },
    tells,
  );
const mode = (value: string, tells: Change['tells']): Change =>
  patched(`mode is ${value}`, policyRef('all'), { spec: { mode: value } }, tells);
const block = (repair: typeof LADDER | null, tells: Change['tells']): Change =>
  patched(repair === null ? 'the block goes' : 'the block is back', policyRef('all'), { spec: { repair } }, tells);

/** Each with what calls off and what takes up again. */
const REASONS: readonly (readonly [
  name: string,
  off: (tells: Change['tells']) => Change,
  on: (tells: Change['tells']) => Change,
])[] = [
  ['a person vetoes', tells => veto('true', tells), tells => veto(null, tells)],
  ['the gate closes', tells => gate(false, tells), tells => gate(true, tells)],
  ['the policy turns to Observe', tells => mode('Observe', tells), tells => mode('Enforce', tells)],
  ['the block goes', tells => block(null, tells), tells => block(LADDER, tells)],
  [
    'the node recovers for a moment',
    tells => conditions('n1', WELL, tells),
    tells => conditions('n1', ready('False', addDuration(START, minutes(TOLERATION))), tells),
  ],
];

/** Whoever hears of a change of the policy or of the gate asks for a pass of the pool. */
const PASS: Message = { ...POOL_EVENT, name: 'event of NodePool default, later' };

export const REPAIR_LADDER_SITUATIONS: readonly Situation[] = REASONS.flatMap(
  ([name, off, on]): readonly Situation[] => [
    {
      ...LONG_STORY,
      name: `${name} when the first action is due, and thinks better of it`,
      objects: OBJECTS,
      earlier: [...seen('n1'), unattended(TOLERATION)],
      changes: [off('B'), on(PASS)],
    },
    {
      ...LONG_STORY,
      name: `${name} when the next action is due, and thinks better of it`,
      objects: OBJECTS,
      earlier: [...seen('n1'), wait(TOLERATION + 1), unattended(TIMEOUT)],
      changes: [off('B'), on(PASS)],
    },
  ],
);
