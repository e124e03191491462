/**
 * The user's configuration, key `config.toml` of ConfigMap `curfew/curfew-config`: feature gates beside the TOML of NVSentinel's
 * node drainer, key by key. Strict: a key that is not known, or a value that cannot be read, makes the whole text invalid (I8).
 */
import { parse as parseToml, TomlError } from 'smol-toml';
import type { DrainSettings, HealthEventSettings } from '../domain/drain-settings.ts';
import { withoutPaths } from '../domain/json.ts';
import { suggestion } from '../domain/nearest-name.ts';
import { PROVIDER_POLICIES, type ProviderPolicies } from '../domain/provider-policies.ts';
import { hours } from '../domain/time.ts';
import { duration, exactName } from './drain-fields.ts';
import { drainKeys, toDrainSettings } from './drain-schema.ts';
import { formatKeyPath } from './key-path.ts';
import { MAX_KEY_PARTS, tomlPositions, type TomlPosition } from './toml-positions.ts';
import * as z from './zod.ts';

const MAX_EVENT_AGE = hours(1);
/** Names of one cluster. */
const MAX_CLUSTER_NAMES = 100;

const keys = z.madeOnce(() =>
  z.strictObject({
    featureGates: z.prefault(z.strictObject({ nodeRepair: z._default(z.boolean(), false) }), {}),
    providerPolicies: z.optional(z.enum(PROVIDER_POLICIES)),
    maxEventAge: z.optional(duration),
    clusterNames: z._default(z.array(exactName).check(z.maxLength(MAX_CLUSTER_NAMES)), []),
    ...drainKeys().shape,
  }),
);
export const configSchema = z.madeOnce(() => keys().check(...drainKeys().checks));

export interface CurfewConfig {
  readonly featureGates: { readonly nodeRepair: boolean };
  /** The set of the provider's repair conditions that counts; undefined: that of Karpenter before 1.15. */
  readonly providerPolicies?: ProviderPolicies | undefined;
  /** Undefined while no configuration was ever valid, or none says how nodes are drained: drains are paused. */
  readonly drain: DrainSettings | undefined;
  readonly healthEvents: HealthEventSettings;
}

/** In force while there is no ConfigMap, or none that was ever valid. */
export const DEFAULT_CONFIG: CurfewConfig = {
  featureGates: { nodeRepair: false },
  drain: undefined,
  healthEvents: { maxEventAge: MAX_EVENT_AGE, clusterNames: [] },
};

/** A fault, and where it stands. */
export interface ConfigFault {
  /** Key of the ConfigMap that the line is of; absent: `config.toml`. */
  readonly file?: string;
  /** From 1. */
  readonly line: number;
  /** The column of the key, from 1. */
  readonly column?: number;
  /** The column of the value, if it stands on the line of the key. */
  readonly valueColumn?: number;
  /** `customDrain.timeout`, `userNamespaces[0].mode`; empty for the text as a whole. */
  readonly key: string;
  readonly message: string;
}

export type ParsedConfig =
  | {
      readonly ok: true;
      readonly value: CurfewConfig;
      /** The parsed settings, without comments: `readConfig` reads them again. */
      readonly content: Readonly<Record<string, unknown>>;
      readonly positionOf: (path: readonly PropertyKey[]) => TomlPosition;
    }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** Parses the TOML text. Never throws. */
export function parseConfig(text: string): ParsedConfig {
  let content: Readonly<Record<string, unknown>>;
  try {
    content = parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = ''] = error.message.split('\n');
    return { ok: false, faults: [{ line: error.line, column: error.column, key: '', message }] };
  }
  const result = configSchema().safeParse(content);
  if (result.success) {
    return {
      ok: true,
      value: toConfig(result.data, content),
      content,
      positionOf: path => tomlPositions(text).positionOf(path),
    };
  }
  const { positionOf, tooDeep } = tomlPositions(text);
  if (tooDeep !== undefined) {
    const message = `a key of ${tooDeep.parts} parts, at most ${MAX_KEY_PARTS} are read`;
    return { ok: false, faults: [{ line: tooDeep.line, key: '', message }] };
  }
  const faults = issuesOf(content).flatMap(issue => toFaults(issue, content, positionOf));
  return { ok: false, faults: faults.toSorted((a, b) => a.line - b.line) };
}

/** An unknown key hides nothing else: without it, the rest is read as well. */
function issuesOf(content: unknown): readonly z.core.$ZodIssue[] {
  const issues = configSchema().safeParse(content).error?.issues ?? [];
  const unknown = issues.filter(issue => issue.code === 'unrecognized_keys');
  if (unknown.length === 0) return issues;
  const keysOf = unknown.flatMap(issue => issue.keys.map(key => [...issue.path, key]));
  return [...unknown, ...issuesOf(withoutPaths(content, keysOf))];
}

/** Reads what `parseConfig` parsed, from where it was kept; undefined when it is not valid (any more). */
export function readConfig(content: unknown): CurfewConfig | undefined {
  const result = configSchema().safeParse(content);
  return result.success ? toConfig(result.data, content) : undefined;
}

/** A configuration that is about other things does not mean that nothing is to be drained. */
function toConfig(parsed: z.output<ReturnType<typeof configSchema>>, content: unknown): CurfewConfig {
  const saysHow = isTable(content) && Object.keys(drainKeys().shape).some(key => Object.hasOwn(content, key));
  const { featureGates, providerPolicies, maxEventAge = MAX_EVENT_AGE, clusterNames } = parsed;
  return {
    featureGates,
    ...(providerPolicies !== undefined && { providerPolicies }),
    drain: saysHow ? toDrainSettings(parsed) : undefined,
    healthEvents: { maxEventAge, clusterNames },
  };
}

/** Faults that one message lists. */
const LISTED_FAULTS = 10;

/** All faults in one text: `line 3: userNamespaces[0].mode: must be …; line 7: …`. */
export function formatConfigFaults(faults: readonly ConfigFault[]): string {
  const listed = faults.slice(0, LISTED_FAULTS).map(({ file, line, column, key, message }) => {
    // Text that is no TOML has no key to look for.
    const position = column === undefined || key !== '' ? `line ${line}` : `line ${line}, column ${column}`;
    return [file === undefined ? position : `${file} ${position}`, ...(key === '' ? [] : [key]), message].join(': ');
  });
  const more = faults.length - listed.length;
  return [...listed, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function toFaults(
  issue: z.core.$ZodIssue,
  content: unknown,
  positionOf: (path: readonly PropertyKey[]) => TomlPosition,
): ConfigFault[] {
  const fault = (path: readonly PropertyKey[], message: string): ConfigFault => ({
    ...positionOf(path),
    key: formatKeyPath(path),
    message,
  });
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  if (isMissing) return [fault(issue.path, `is missing, ${issue.expected} expected`)];
  if (issue.code !== 'unrecognized_keys') return [fault(issue.path, issue.message)];
  return issue.keys.map(key => {
    const path = [...issue.path, key];
    const what = isTable(valueAt(content, path)) ? 'unknown table' : 'unknown key';
    return fault(path, `${what}${suggestion(key, knownKeys(issue.path))}`);
  });
}

const isTable = (value: unknown): value is object => typeof value === 'object' && value !== null;

function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = content;
  for (const key of path) value = isTable(value) ? Reflect.get(value, key) : undefined;
  return value;
}

/** The keys that are known in the table at `path`. */
function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  const tables: Readonly<Record<string, readonly string[]>> = {
    '': Object.keys(keys().shape),
    featureGates: ['nodeRepair'],
    ...drainKeys().tables,
  };
  return tables[path.filter(part => typeof part !== 'number').join('.')] ?? [];
}
