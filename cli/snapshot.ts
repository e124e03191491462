/** `curfew snapshot`: a cluster as a scenario file, so that `curfew simulate` says what a policy would have done to it. */
import { statSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { CONFIG_MAP } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { toTimestamp } from '../shared/domain/time.ts';
import { parseGoDuration } from '../shared/domain/go-duration.ts';
import { reportFailure } from './failure.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import type { Cluster } from './cluster.ts';
import { UsageError } from './usage-error.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { MAX_SCENARIO_BYTES } from './scenario-file.ts';
import { toSnapshotObject } from './snapshot/projection.ts';
import { textsOf } from './texts-of.ts';
import { checkWritable } from './writable.ts';
import { objectOf, objectsOf } from '../shared/ports/read-answer.ts';

export interface SnapshotOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Default: standard output. */
  readonly output?: string;
  /** Duration of the simulation of the snapshot; a Go duration. */
  readonly duration?: string;
}

const DEFAULT_DURATION = '24h';
/** The bounds on the duration of a scenario. */
const NANOSECONDS = { second: 1_000_000_000n, year: 8760n * 3600n * 1_000_000_000n };
const HEAD = `# A snapshot of a cluster. Edit a NodePool or NodeLifecyclePolicy, add steps, and run: npx curfew simulate FILE
# Secrets, environment values, images, commands and the annotations of others are never part of it.
`;
const TYPES = [
  RESOURCES.NodePool,
  RESOURCES.NodeLifecyclePolicy,
  RESOURCES.NodeClaim,
  RESOURCES.Node,
  RESOURCES.PodDisruptionBudget,
  RESOURCES.Pod,
];

/** Exit code 0: written. 2: the cluster or the file cannot be used, with one line that says why. */
export async function snapshotCommand(
  options: SnapshotOptions,
  output: CommandOutput = PROCESS_OUTPUT,
): Promise<number> {
  try {
    const { duration = DEFAULT_DURATION } = options;
    const parsed = parseGoDuration(duration);
    if (!parsed.ok || parsed.nanoseconds < NANOSECONDS.second || parsed.nanoseconds > NANOSECONDS.year) {
      throw new UsageError(
        `--duration takes a Go duration such as 90m or 24h, from 1s to 8760h, not ${JSON.stringify(duration)}`,
      );
    }
    if (options.output !== undefined) checkWritable(options.output, '--output');
    const scenario = await onKubeconfig(options, cluster => takeSnapshot(cluster, duration));
    const text = `${HEAD}${stringify(scenario, { lineWidth: 0, aliasDuplicateObjects: false })}`;
    if (options.output === undefined) output.out(text);
    else {
      writeFileSync(options.output, text, { mode: 0o600 });
      output.error(warnOfReaders(options.output));
    }
    if (Buffer.byteLength(text) > MAX_SCENARIO_BYTES) {
      output.error(
        `the snapshot has more than ${MAX_SCENARIO_BYTES / 1_000_000} MB, and simulate reads no more: take pods out of it\n`,
      );
    }
    return 0;
  } catch (error) {
    return reportFailure(error, output);
  }
}

/** A file that was there keeps its mode: the user's own choice, or an oversight. Empty: only its owner reads it, or it is no file. */
function warnOfReaders(file: string): string {
  const status = statSync(file);
  const mode = status.mode & 0o777;
  const isShared = process.platform !== 'win32' && status.isFile() && (mode & 0o044) !== 0;
  return isShared ? `${file} was there and keeps its mode ${mode.toString(8)}: others can read the snapshot\n` : '';
}

/** The cluster as it is now, as a scenario that starts now. */
export async function takeSnapshot({ kubernetes, now }: Cluster, duration: string): Promise<JsonObject> {
  const objects: JsonObject[] = [];
  for (const type of TYPES) {
    // A resource that is not served has no objects.
    const list = objectsOf(await kubernetes.list(type), { ifNotServed: 'empty' });
    objects.push(...list.filter(isWorthIt).map(toSnapshotObject));
  }
  const { namespace, name, key } = CONFIG_MAP;
  const configMap = objectOf(await kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }), {
    ifNotServed: 'throw',
  });
  // The configuration, and the templates that it and the policies name.
  const { [key]: config, ...templates } = textsOf(configMap?.['data']);
  return {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'Scenario',
    metadata: { name: 'snapshot' },
    spec: {
      start: toTimestamp(now),
      duration,
      ...(config !== undefined && { config }),
      ...(Object.keys(templates).length > 0 && { templates }),
      objects,
      steps: [],
    },
  };
}

/** Pods without a node hold nothing yet, and a scenario has no scheduler. */
function isWorthIt({ kind, spec }: KubernetesObject): boolean {
  return kind !== 'Pod' || typeof spec?.['nodeName'] === 'string';
}
