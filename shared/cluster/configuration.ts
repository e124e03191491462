/**
 * The configuration in force for one function. A ConfigMap that cannot be read leaves the last good configuration in force: what
 * was parsed of it is kept in a record of the function's own. Without a ConfigMap the defaults apply, in which every gate is off and
 * drains are paused.
 */
import { createHash } from 'node:crypto';
import { DEFAULT_CONFIG, formatConfigFaults, type ConfigFault } from '../contract/config-schema.ts';
import { CONFIG_MAP, type FunctionName } from '../contract/names.ts';
import { EVENT_REASONS } from '../contract/reasons.ts';
import { RESOURCES } from '../contract/resources.ts';
import * as z from '../contract/zod.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { RUN_ENDS_WITHIN } from '../domain/run-end.ts';
import { addDuration, isDue, toEpochMs } from '../domain/time.ts';
import { lastGood } from './last-good.ts';
import { checkedCodec, type LoadedRecord, readRecord, type RecordCodec } from '../lifecycle/record-codec.ts';
import { inParallel } from './in-parallel.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { NewRecord, PutOutcome, RecordKey, StoredRecord } from '../ports/record-store.ts';
import {
  canonical,
  keptSchema,
  readConfiguration,
  restoreConfiguration,
  isSameConfiguration,
  type Configuration,
} from './read-configuration.ts';
import { objectOf } from '../ports/read-answer.ts';

export type ConfigurationDeps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'events' | 'audit' | 'clock'>;

/** The one function that says that a ConfigMap is refused; every other one would repeat it. */
const CONFIGURATION_REPORTER: FunctionName = 'repair';

const stateSchema = z.object({
  /** The last configuration that was valid. */
  good: z.exactOptional(keptSchema),
  /** The configuration that was refused: its hash, when a run set out to report it, and whether it did. */
  refused: z.exactOptional(z.object({ hash: z.string(), claimTime: z.number(), reported: z.boolean() })),
});
type ConfigurationState = z.infer<typeof stateSchema>;

/** One for each function. What version 1 stored says nothing that the ConfigMap does not say again. */
const codecOf = (owner: FunctionName): RecordCodec<ConfigurationState> =>
  checkedCodec(owner, stateSchema, 2, state => stateSchema.safeParse(state).data ?? {});

/** While there is no ConfigMap, or none that was ever valid. */
const DEFAULT_CONFIGURATION: Configuration = { ...DEFAULT_CONFIG, template: undefined };

/** The version of the ConfigMap that a valid configuration was made of. */
const versions = new WeakMap<Configuration, string>();
const versionOf = ({ metadata }: KubernetesObject): string => `${metadata.uid} ${metadata.resourceVersion}`;

/**
 * Loads the configuration in force, and reports a refused one once (Warning Event on the ConfigMap, audit line).
 *
 * @param seen what this run has loaded before: while the ConfigMap is the same, so is the configuration, and its record is not read again
 */
export async function loadConfig(
  owner: FunctionName,
  deps: ConfigurationDeps,
  seen?: Configuration,
): Promise<Configuration> {
  const configMap = readConfigMap(deps);
  const version = seen && versions.get(seen);
  if (seen !== undefined && version !== undefined) {
    const live = await configMap;
    if (live !== undefined && versionOf(live) === version) return seen;
  }
  return configurationOf(owner, deps, configMap);
}

/** The configuration that a function keeps for as long as the ConfigMap cannot be read; undefined: none was ever valid. */
export async function lastGoodConfiguration(
  { records }: { readonly records: Pick<FunctionDeps['records'], 'get'> },
  owner: FunctionName,
): Promise<Configuration | undefined> {
  return lastGoodIn(readRecord(codecOf(owner), await records.get(recordKeyOf(owner))));
}

const lastGoodIn = (loaded: LoadedRecord<ConfigurationState>): Configuration | undefined =>
  lastGood(loaded, ({ good }) => restoreConfiguration(good));

const recordKeyOf = (owner: FunctionName): RecordKey => ({ owner, id: 'configuration' });

async function readConfigMap({ kubernetes }: Pick<FunctionDeps, 'kubernetes'>): Promise<KubernetesObject | undefined> {
  const { namespace, name } = CONFIG_MAP;
  return objectOf(await kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }), { ifNotServed: 'throw' });
}

async function configurationOf(
  owner: FunctionName,
  deps: ConfigurationDeps,
  live: Promise<KubernetesObject | undefined>,
): Promise<Configuration> {
  const { key } = CONFIG_MAP;
  const recordKey = recordKeyOf(owner);
  const [configMap, record] = await inParallel([live, deps.records.get(recordKey)]);
  const data = configMap === undefined ? undefined : dataOf(configMap);
  if (configMap === undefined || data === undefined || !Object.hasOwn(data, key)) {
    // Taken away on purpose: what was good before must not come back with the next text that is not valid.
    if (record !== undefined) await deps.records.delete(recordKey, record.version);
    return DEFAULT_CONFIGURATION;
  }

  const read = readConfiguration(data);
  const codec = codecs.get(owner) ?? codecOf(owner);
  codecs.set(owner, codec);
  const loaded = readRecord(codec, record);
  // A newer version of Curfew wrote it: what it keeps is not ours to replace.
  if (loaded.kind === 'newer') return read.ok ? read.value : DEFAULT_CONFIGURATION;
  const state = loaded.kind === 'known' ? loaded.value : undefined;
  // Not by the kernel, whose records have timers: nothing is to be done at any time.
  const save = (next: ConfigurationState, version: number) =>
    deps.records.put(recordOf(codec, configMap, next), version);
  if (read.ok) {
    // A lost race is harmless: the next look compares again.
    const changed = state?.refused !== undefined || !isSameConfiguration(state?.good, read.kept);
    if (changed) await save({ good: read.kept }, record?.version ?? 0);
    versions.set(read.value, versionOf(configMap));
    return read.value;
  }

  const inForce = lastGoodIn(loaded);
  if (owner === CONFIGURATION_REPORTER) {
    const message = `${nameOf(read.faults)} is not valid: ${formatConfigFaults(read.faults)}`;
    await reportOnce(deps, {
      owner,
      configMap,
      data,
      message,
      hasLastGood: inForce !== undefined,
      state,
      record,
      save,
    });
  }
  return inForce ?? DEFAULT_CONFIGURATION;
}

/** Names what the line numbers refer to: faults of the template stand in another key. */
const nameOf = (faults: readonly ConfigFault[]): string =>
  faults.some(({ file }) => file === undefined) ? CONFIG_MAP.key : CONFIG_MAP.name;

interface RefusedConfiguration {
  readonly owner: FunctionName;
  readonly configMap: KubernetesObject;
  readonly data: Readonly<Record<string, string>>;
  readonly message: string;
  readonly hasLastGood: boolean;
  readonly state: ConfigurationState | undefined;
  readonly record: StoredRecord | undefined;
  readonly save: (next: ConfigurationState, version: number) => Promise<PutOutcome>;
}

/** The run that writes first reports the refused text. Another run reports it only if that one has died. */
async function reportOnce(deps: ConfigurationDeps, refusal: RefusedConfiguration): Promise<void> {
  const { state, record, save } = refusal;
  const hash = createHash('sha256').update(canonical(refusal.data)).digest('hex');
  const now = deps.clock.now();
  const earlierRefusal = state?.refused?.hash === hash ? state.refused : undefined;
  if (earlierRefusal?.reported === true) return;
  if (earlierRefusal !== undefined && !isDue(now, addDuration(toEpochMs(earlierRefusal.claimTime), RUN_ENDS_WITHIN)))
    return;
  const next = { ...(state?.good && { good: state.good }) };
  const claim = await save({ ...next, refused: { hash, claimTime: now, reported: false } }, record?.version ?? 0);
  if (claim.kind === 'lostRace') return;
  await report(deps, refusal);
  await save({ ...next, refused: { hash, claimTime: now, reported: true } }, claim.record.version);
}

async function report(
  deps: ConfigurationDeps,
  { owner, configMap, message, hasLastGood }: RefusedConfiguration,
): Promise<void> {
  const inForce = hasLastGood
    ? 'the last good configuration stays in force'
    : 'every feature gate is off and drains are held until it is valid';
  const text = `${message}; ${inForce}`;
  deps.audit.write({
    function: owner,
    decision: 'refused',
    reason: EVENT_REASONS.invalidConfiguration,
    message: text,
    kind: 'ConfigMap',
    namespace: CONFIG_MAP.namespace,
    name: CONFIG_MAP.name,
  });
  await deps.events.record({
    type: 'Warning',
    reason: EVENT_REASONS.invalidConfiguration,
    message: text,
    about: configMap,
  });
}

/** Made once: a schema is compiled at its first use. */
const configMapSchema = z.object({ data: z.record(z.string(), z.string()) });

function dataOf(configMap: KubernetesObject): Readonly<Record<string, string>> | undefined {
  const parsed = configMapSchema.safeParse(configMap);
  return parsed.success ? parsed.data.data : undefined;
}

/** One codec for each function: a record that has not changed is not parsed again. */
const codecs = new Map<FunctionName, RecordCodec<ConfigurationState>>();

function recordOf(
  codec: ReturnType<typeof codecOf>,
  { metadata }: KubernetesObject,
  value: ConfigurationState,
): NewRecord {
  const subject = { kind: 'ConfigMap', apiVersion: 'v1', namespace: CONFIG_MAP.namespace, name: metadata.name };
  const state = { schemaVersion: codec.schemaVersion, ...codec.toState(value) };
  return { owner: codec.owner, id: 'configuration', subject, state };
}
