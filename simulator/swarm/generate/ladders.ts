/**
 * Ladders of actions in repair blocks, and what they need: boot IDs, a remediator's kind and template, pods to drain. They are drawn from
 * streams of their own, so that clusters without them stay as they are.
 */
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest } from '../../scenario/scenario.ts';
import { drawBusyPod } from './busy-pods.ts';
import { namespaceManifest, openDefinition } from './custom-kinds.ts';
import { pickWeighted, times } from './draw.ts';
import { toManifest, type Model } from './model.ts';

const GROUP = 'ops.example.com';
export const NODE_FIXES = `nodefixes.${GROUP}`;
export const FIX_NAMESPACE = 'prod';
const TIMEOUTS: readonly DurationMs[] = [seconds(30), minutes(1), minutes(2), minutes(5), minutes(10)];

/** The template of every remediation. */
export const FIX_TEMPLATES: Readonly<Record<string, string>> = {
  'fix.yaml': `apiVersion: ${GROUP}/v1\nkind: NodeFix\nmetadata:\n  namespace: ${FIX_NAMESPACE}\nspec:\n  node: {{ .NodeName }}\n`,
};
/** Nobody has written it. */
const MISSING_TEMPLATE = 'none.yaml';

const DEFINITION = openDefinition({ group: GROUP, version: 'v1', kind: 'NodeFix', plural: 'nodefixes' });

const NAMESPACE = namespaceManifest(FIX_NAMESPACE);

/** How drains of ladders go. */
export function drawDraining(random: Random): string {
  if (random.chance(0.15)) return '';
  const mode = random.pick(['Immediate', 'Immediate', 'AllowCompletion', 'DeleteAfterTimeout']);
  const lines = ['systemNamespaces = "^kube-system$"', 'deleteAfterTimeoutMinutes = 1'];
  return [...lines, '[[userNamespaces]]', 'name = "*"', `mode = "${mode}"`, ''].join('\n');
}

/** One to three actions, the last of which ends the node as a rule. None where the cluster has no ladders. */
export function drawLadder(random: Random, model: Model): JsonObject {
  if (!model.hasLadders || random.chance(0.15)) return {};
  const first = times(random.integer(0, 2)).map(() => drawMildAction(random, model));
  const last = pickWeighted(random, [
    [4, () => withTimeout(random, model, 'Terminate')],
    [4, () => withTimeout(random, model, 'DrainThenTerminate')],
    [2, () => drawMildAction(random, model)],
  ]);
  return { actions: [...first, last()] };
}

const drawMildAction = (random: Random, model: Model): JsonObject =>
  random.chance(0.6)
    ? withTimeout(random, model, 'Reboot')
    : {
        ...withTimeout(random, model, 'CustomResource'),
        template: random.chance(0.9) ? 'fix.yaml' : MISSING_TEMPLATE,
      };

function withTimeout(random: Random, model: Model, type: string): JsonObject {
  if (random.chance(0.1)) return { type };
  const timeout = random.pick(TIMEOUTS);
  model.durations.push(timeout);
  return { type, timeout: formatDuration(timeout) };
}

/** A Node that tells of its boots. */
export function booted(random: Random, manifest: Manifest): Manifest {
  if (manifest.kind !== 'Node' || random.chance(0.1)) return manifest;
  const status = { ...objectAt(manifest.body, 'status'), nodeInfo: { bootID: `boot-of-${manifest.name}` } };
  return { ...manifest, body: { ...manifest.body, status } };
}

/** A cluster that has ladders, after its nodes were drawn. */
export function drawLadderObjects(random: Random, model: Model, start: EpochMs): readonly Manifest[] {
  const pods = times(random.integer(0, model.nodes.length)).map(() => drawBusyPod(random, model, start));
  return [NAMESPACE, DEFINITION, ...pods];
}

/** Somebody else's remediation of a node, which has the name that ours would have. */
export const foreignFix = (node: string): Manifest =>
  toManifest(
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'NodeFix',
      metadata: { namespace: FIX_NAMESPACE, name: node },
      spec: { by: 'somebody' },
    },
    node,
    FIX_NAMESPACE,
  );
