/**
 * NodeLifecyclePolicies that cannot be read. For each block that it reads, each function keeps the last version of a policy whose
 * selector, mode and block could be read. That version stays in force while the live one cannot be read. A version counts as a
 * whole: a mode that was edited together with a broken block never meets the block of before. One record per policy and block.
 */
import type { FunctionName } from '../contract/names.ts';
import { jsonObject } from '../contract/json-object.ts';
import type { ParseResult } from '../contract/policy-schema.ts';
import type { Subject } from '../contract/subject.ts';
import * as z from '../contract/zod.ts';
import { subjectOf, type KubernetesObject } from '../domain/kubernetes-object.ts';
import { addDuration, hours } from '../domain/time.ts';
import { lastGood } from './last-good.ts';
import { checkedCodec, readRecord, type RecordCodec } from '../lifecycle/record-codec.ts';
import { DONE } from '../lifecycle/settle.ts';
import { openRecord, updateRecord, doneIfWritten, type UsedWakeUp } from '../lifecycle/timed-record.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { type BlockReader, faultIn } from '../policies/deciding-policy.ts';
import { readPolicies, type PolicySet } from '../policies/policy-set.ts';
import { KindNotServed } from '../ports/read-answer.ts';
import { inParallel } from './in-parallel.ts';
import { listPolicies } from './node-pool.ts';

const schema = z.object({ generation: z.number(), spec: jsonObject });
type KeptPolicy = Readonly<z.output<typeof schema>>;

/** One for each function that reads policies. */
export const keptPolicyCodec = (owner: FunctionName): RecordCodec<KeptPolicy> => checkedCodec(owner, schema, 1);

/** Blocks that count as a whole: they are kept together, under an id of their own. */
export interface BlockGroup {
  readonly blocks: readonly BlockReader[];
  readonly idPrefix: string;
}

/** The part of a policy that is kept: a block by itself, or several together. */
export type PolicyReader = BlockReader | BlockGroup;

/** The blocks of a reader as a group. */
export const groupOf = (kept: PolicyReader): BlockGroup =>
  'blocks' in kept ? kept : { blocks: [kept], idPrefix: `kept-policy/${kept.block}/` };
/** A deletion whose event was lost is noticed after this long. */
const CHECK = hours(24);
/** The most bytes of JSON of a kept policy: an item has at most 400 KB. A larger policy is in force while it can be read, and is not kept. */
const MAX_KEPT_BYTES = 250_000;

/**
 * The policies as they are in force for each of these: one that cannot be read has the spec of its last good version, if there is
 * one. In the order of the readers, of which there are one or two.
 */
export async function loadPolicySets(
  deps: Pick<FunctionDeps, 'kubernetes' | 'records'>,
  owner: FunctionName,
  [first, second = first]: readonly [PolicyReader, PolicyReader?],
): Promise<readonly [PolicySet, PolicySet]> {
  const objects = await listPolicies(deps);
  const setOf = async (kept: PolicyReader): Promise<PolicySet> =>
    readPolicies(withLastGood(objects, await lastVersions(deps, owner, kept, objects)));
  const set = await setOf(first);
  return [set, second === first ? set : await setOf(second)];
}

/** Loads the last version that could be read of each policy that cannot be read now, by UID. */
export async function lastVersions(
  { records }: { readonly records: Pick<FunctionDeps['records'], 'get'> },
  owner: FunctionName,
  kept: PolicyReader,
  objects: readonly KubernetesObject[],
): Promise<ReadonlyMap<string, KeptPolicy>> {
  const { blocks, idPrefix } = groupOf(kept);
  const faulty = objects.filter(object => faultIn(object, blocks) !== undefined);
  const found = await inParallel(
    faulty.map(async ({ metadata: { uid } }) => {
      const loaded = readRecord(keptPolicyCodec(owner), await records.get({ owner, id: `${idPrefix}${uid}` }));
      return [uid, lastGood(loaded, value => readKept(value, blocks))] as const;
    }),
  );
  return new Map(found.flatMap(([uid, version]) => (version === undefined ? [] : [[uid, version]])));
}

/** Each with the spec of its last version, where there is one. */
export const withLastGood = (
  objects: readonly KubernetesObject[],
  versions: ReadonlyMap<string, KeptPolicy>,
): readonly KubernetesObject[] =>
  objects.map(object => {
    const version = versions.get(object.metadata.uid);
    return version === undefined ? object : { ...object, spec: version.spec };
  });

function readKept(kept: KeptPolicy, blocks: readonly BlockReader[]): ParseResult<KeptPolicy> {
  const message = faultIn(kept, blocks);
  return message === undefined ? { ok: true, value: kept } : { ok: false, message };
}

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** A function that keeps policies, and the parts that it keeps. */
export interface PolicyKeeper {
  readonly owner: FunctionName;
  readonly readers: readonly PolicyReader[];
}

interface KeepContext extends Pick<PolicyKeeper, 'owner'> {
  readonly deps: Deps;
  readonly wakeUp: UsedWakeUp | undefined;
}

/** After a change of the policy, and once a day: keeps it for each reader, as far as it can be read; forgets one that is gone. */
export async function keepPolicy(
  deps: Deps,
  { owner, readers }: PolicyKeeper,
  { name, uid }: Pick<Subject, 'name' | 'uid'>,
  wakeUp?: UsedWakeUp,
): Promise<void> {
  const objects = await listPolicies(deps).catch((error: unknown) => {
    // Not served, it may be there: what is kept of it stays.
    if (error instanceof KindNotServed) return undefined;
    throw error;
  });
  if (objects === undefined) return;
  if (uid !== undefined && !objects.some(({ metadata }) => metadata.uid === uid)) {
    for (const kept of readers) await forget(deps, owner, `${groupOf(kept).idPrefix}${uid}`, wakeUp);
  }
  const object = objects.find(({ metadata }) => metadata.name === name);
  if (object === undefined) return;
  for (const reader of readers) await keepVersion({ deps, owner, wakeUp }, reader, object);
}

async function keepVersion(
  { deps, owner, wakeUp }: KeepContext,
  kept: PolicyReader,
  object: KubernetesObject,
): Promise<void> {
  const { metadata, spec = {} } = object;
  const { blocks, idPrefix } = groupOf(kept);
  const isGood = faultIn(object, blocks) === undefined && Buffer.byteLength(JSON.stringify(spec)) <= MAX_KEPT_BYTES;
  const live: KeptPolicy = { generation: metadata.generation ?? 0, spec };
  const timedRecord = openRecord(deps, keptPolicyCodec(owner), `${idPrefix}${metadata.uid}`, wakeUp);
  await updateRecord(`NodeLifecyclePolicy ${metadata.name}`, timedRecord, async loaded => {
    if (loaded.kind === 'none' && !isGood) return DONE;
    const isOlder = loaded.kind === 'known' && loaded.value.generation > live.generation;
    const value = loaded.kind === 'known' && (!isGood || isOlder) ? loaded.value : live;
    const subject = subjectOf(object);
    const wakeTime = addDuration(deps.clock.now(), CHECK);
    return doneIfWritten(await timedRecord.save({ subject, value, wakeTime, hasOwnMessage: false }));
  });
}

async function forget(deps: Deps, owner: FunctionName, id: string, wakeUp: UsedWakeUp | undefined): Promise<void> {
  const timedRecord = openRecord(deps, keptPolicyCodec(owner), id, wakeUp);
  await updateRecord(id, timedRecord, () => timedRecord.closeNow());
}
