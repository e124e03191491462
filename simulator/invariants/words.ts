/** What the words of an Event or of an audit line claim to have been done, or to be so: sentence by sentence, without the code that says them. */
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { listOf, textOf } from './reading.ts';

/** An Event, or an audit line. */
export interface Words {
  readonly reason: string;
  readonly message: string;
  /** Of an audit line. */
  readonly decision?: string | undefined;
  readonly about: {
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly details?: JsonObject | undefined;
}

/**
 * `evict UID`, `delete UID`, `cordon UID` and so on, as `acts-done.ts` notes them down. Of a Node: `node VERB UID`, for which the place of its
 * instance is looked up.
 */
export type Claim = string;

interface Sentence {
  /** The Event's reason, or the audit line's decision and reason. */
  readonly of: string;
  /** Which messages; all where absent. */
  readonly says?: RegExp;
  readonly claims: (words: Words, groups: readonly string[]) => readonly Claim[];
}

/** What is longer is cut, in the middle of a name perhaps; Kubernetes takes 1,024 bytes. */
const LONGEST_WHOLE = 900;
const whole = (message: string, names: readonly string[]): readonly string[] =>
  message.length > LONGEST_WHOLE ? names.slice(0, -1) : names;

const ofKind =
  (asked: string, verb: string): Sentence['claims'] =>
  ({ about: { kind, uid } }) =>
    kind === asked ? [`${verb} ${uid}`] : [];
const onPod = (verb: string): Sentence['claims'] => ofKind('Pod', verb);
/** Repair says it on the NodeClaim, too. */
const onNode = (verb: string): Sentence['claims'] => ofKind('Node', verb);
const ofObject =
  (verb: string): Sentence['claims'] =>
  ({ about: { uid } }) => [`${verb} ${uid}`];
const finalizers =
  (act: string): Sentence['claims'] =>
  ({ about: { uid } }, [names = '']) =>
    names.split(', ').map(name => `${act} ${name} ${uid}`);

/** Sentences that begin otherwise say of no act: an attempt whose run died counts as carried out, whether it was or not. */
const SENTENCES: readonly Sentence[] = [
  { of: 'Evicted', claims: onPod('evict') },
  {
    of: 'Evicted',
    says: /^evicted \d+ pods?: (.+)$/,
    claims: ({ message }, [names = '']) => whole(message, names.split(', ')).map(name => `evict ${name}`),
  },
  { of: 'Disrupted', claims: onPod('delete') },

  { of: 'NodeRepairStarted', says: /^NodeClaim (\S+) is terminated/, claims: (_, [claim]) => [`delete ${claim}`] },
  {
    of: 'NodeRepairStarted',
    says: /^NodeClaim \S+ is terminated.*?; NodeClaim (\S+) takes its place/,
    claims: (_, [replacement]) => [`open ${replacement}`],
  },
  {
    of: 'NodeRepairStarted',
    says: /^the instance is terminated in its Auto Scaling group/,
    claims: onNode('node terminate'),
  },
  { of: 'NodeRepairStarted', says: /^Reboot has begun/, claims: onNode('node reboot') },
  { of: 'NodeRepairStarted', says: /^Drain has begun/, claims: onNode('ask for a drain of') },
  { of: 'NodeRepairStarted', says: /^CustomResource has begun/, claims: onNode('ask for help with') },
  {
    of: 'NodeRepairStarted',
    says: /^a replacement, NodeClaim (\S+), is launched/,
    claims: (_, [name]) => [`create ${name}`],
  },
  { of: 'release ReplacementDeleted', says: /^NodeClaim (\S+) is deleted/, claims: (_, [name]) => [`delete ${name}`] },

  { of: 'DrainWaits', says: /^the node is cordoned/, claims: ofObject('cordon') },
  {
    of: 'release DrainCancelled',
    says: /nothing keeps the node any more$/,
    claims: ofObject('take back the cordon of'),
  },
  {
    of: 'createResource CustomDrainRequested',
    says: /asks for the drain$/,
    claims: ({ details }) => [`create ${textOf(details?.['uid'])}`],
  },
  {
    of: 'fallBack CustomDrainFellBack',
    claims: ({ details }) => [`delete what asks for drain ${textOf(details?.['id'])}`],
  },

  { of: 'hold PodsProtected', claims: ofObject('hold') },
  { of: 'hold AnnotationRemoved', claims: ofObject('hold') },
  { of: 'release GracePeriodElapsed', claims: ofObject('let go') },
  { of: 'release NothingProtected', claims: ofObject('let go') },
  { of: 'release ProtectedByKarpenter', claims: ofObject('let go') },
  { of: 'NodeDisruptable', claims: ofObject('let go') },
  { of: 'disown AnnotationTakenOver', claims: ofObject('disown') },

  { of: 'prepare FinalizerAdded', says: /^the finalizer (\S+) is on$/, claims: finalizers('have on') },
  {
    of: 'prepare FinalizerRemoved',
    claims: ({ about, details }) => [
      `have the finalizers ${listOf(details?.['finalizers']).join(', ')} on ${about.uid}`,
    ],
  },
  { of: 'hold FinalizerAdded', says: /put (\S+) on$/, claims: finalizers('put on') },
  { of: 'hold FinalizerRestored', says: /put (\S+) on$/, claims: finalizers('put on') },
  { of: 'release FinalizationSucceeded', says: /^clean-up is done, (\S+) is off$/, claims: finalizers('take off') },
  {
    of: 'release TerminationFinished',
    says: /^everything is done: (.+?) is off(?:;|$)/,
    claims: finalizers('take off'),
  },
  { of: 'delete DeletedTogether', claims: ofObject('delete') },
  {
    of: 'terminateInstance InstanceTerminating',
    says: /^instance (\S+) is being ended/,
    claims: (_, [instance]) => [`terminate ${instance}`],
  },
];

/** None for words that say of no act. */
export function claimsOf(words: Words): readonly Claim[] {
  const { decision, reason, message } = words;
  const of = decision === undefined ? reason : `${decision} ${reason}`;
  return SENTENCES.filter(sentence => sentence.of === of).flatMap(({ says, claims }) => {
    const found = says === undefined ? [] : says.exec(message);
    return found === null ? [] : claims(words, found.slice(1));
  });
}
