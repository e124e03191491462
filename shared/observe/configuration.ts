/**
 * The configuration in force for one function. A ConfigMap that cannot be read leaves the last good configuration in force: it is
 * kept in a record of the function's own. Without a ConfigMap the defaults hold, in which every gate is off.
 */
import { DEFAULT_CONFIG, parseConfig, type CurfewConfig } from '../contract/config-schema.ts';
import { CONFIG_MAP, type FunctionName } from '../contract/names.ts';
import { EVENT_REASONS } from '../contract/reasons.ts';
import { RESOURCES } from '../contract/resources.ts';
import * as z from '../contract/zod.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { StoredRecord } from '../ports/record-store.ts';
import { inParallel } from '../cluster/in-parallel.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'events' | 'audit'>;

const stateSchema = z.object({
  schemaVersion: z.literal(1),
  /** The last text that was valid. */
  goodText: z.exactOptional(z.string()),
  /** The text that was refused and reported. */
  refusedText: z.exactOptional(z.string()),
});

/** Loads the configuration in force, and reports a refused one once (Warning Event on the ConfigMap, audit line). */
export async function loadConfig(owner: FunctionName, deps: Deps): Promise<CurfewConfig> {
  const { namespace, name, key } = CONFIG_MAP;
  const recordKey = { owner, id: 'configuration' };
  const [configMap, record] = await inParallel([
    deps.kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }),
    deps.records.get(recordKey),
  ]);
  const text = configMap === undefined ? undefined : textOf(configMap, key);
  if (configMap === undefined || text === undefined) {
    // Taken away on purpose: what was good before must not come back with the next text that is not valid.
    if (record !== undefined) await deps.records.delete(recordKey, record.version);
    return DEFAULT_CONFIG;
  }

  const parsed = parseConfig(text);
  const state = record === undefined ? { schemaVersion: 1 as const } : stateSchema.parse(record.state);
  const next = parsed.ok ? { schemaVersion: 1 as const, goodText: text } : { ...state, refusedText: text };
  const changed = parsed.ok ? state.goodText !== text || state.refusedText !== undefined : state.refusedText !== text;
  if (changed && !parsed.ok) await report(owner, deps, configMap, parsed.message, state.goodText !== undefined);
  if (changed) await save(deps, recordKey, configMap, next, record);
  if (parsed.ok) return parsed.value;

  const lastGood = state.goodText === undefined ? undefined : parseConfig(state.goodText);
  return lastGood?.ok === true ? lastGood.value : DEFAULT_CONFIG;
}

/** Made once: a schema is compiled at its first use. */
const configMapSchema = z.object({ data: z.record(z.string(), z.string()) });

function textOf(configMap: KubernetesObject, key: string): string | undefined {
  const parsed = configMapSchema.safeParse(configMap);
  return parsed.success ? parsed.data.data[key] : undefined;
}

async function report(
  owner: FunctionName,
  deps: Deps,
  about: KubernetesObject,
  message: string,
  hasLastGood: boolean,
): Promise<void> {
  const inForce = hasLastGood
    ? 'the last good configuration stays in force'
    : 'every feature gate is off until it is valid';
  const text = `${CONFIG_MAP.key} is not valid: ${message}; ${inForce}`;
  deps.audit.write({
    function: owner,
    decision: 'refused',
    reason: EVENT_REASONS.invalidConfiguration,
    message: text,
    kind: 'ConfigMap',
    namespace: CONFIG_MAP.namespace,
    name: CONFIG_MAP.name,
  });
  await deps.events.record({ type: 'Warning', reason: EVENT_REASONS.invalidConfiguration, message: text, about });
}

/** A lost race is harmless: the other run saw the same text, and the next look compares again. */
async function save(
  deps: Deps,
  key: { owner: FunctionName; id: string },
  configMap: KubernetesObject,
  state: z.infer<typeof stateSchema>,
  record: StoredRecord | undefined,
): Promise<void> {
  const subject = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    namespace: CONFIG_MAP.namespace,
    name: configMap.metadata.name,
  };
  await deps.records.put({ ...key, subject, state }, record?.version ?? 0);
}
