/**
 * Hooks that are custom resources, and the controllers that work on them. They are drawn from streams of their own, so that clusters without them stay
 * as they are.
 */
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds, toTimestamp, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest, StepAction } from '../../scenario/scenario.ts';
import { namespaceManifest, openDefinition } from './custom-kinds.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { toManifest, type Draft, type Model } from './model.ts';

const GROUP = 'network.example.com';
const NAMESPACE = 'network';
const HOOK_WORKS = `hookworks.${GROUP}`;
const TEMPLATE = 'hook.yaml';
export const HOOKS = ['deregister', 'snapshot', 'announce'] as const;
/** Somebody looks at each hook of each node so often. */
const LOOKS = 8;

/** The template of every hook. */
export const HOOK_TEMPLATES: Readonly<Record<string, string>> = {
  [TEMPLATE]: `apiVersion: ${GROUP}/v1\nkind: HookWork\nmetadata:\n  namespace: ${NAMESPACE}\nspec:\n  instance: "{{ .ProviderID }}"\n`,
};

/** In place of a function or an event, with time enough for somebody to come; undefined: not this hook. */
export function drawHookResource(random: Random, { hasHookResources }: Model): JsonObject | undefined {
  if (!hasHookResources || !random.chance(0.6)) return undefined;
  return { customResource: { template: TEMPLATE, conditionType: 'Done' }, deadline: random.pick(['1m', '10m', '20m']) };
}

/** What a cluster has that has such hooks; its objects have UIDs that are known, for they are in the names of the resources. */
export function withHookResources(manifests: readonly Manifest[]): readonly Manifest[] {
  const definition = openDefinition({ group: GROUP, version: 'v1', kind: 'HookWork', plural: 'hookworks' });
  const known = manifests.map(manifest => {
    const { kind, name, body } = manifest;
    if (kind !== 'Node' && kind !== 'NodeClaim') return manifest;
    return toManifest({ ...body, metadata: { ...objectAt(body, 'metadata'), uid: uidOf(kind, name) } }, name);
  });
  return [namespaceManifest(NAMESPACE), definition, ...known];
}

/** Known before the object is there: for names and owners. */
export const uidOf = (kind: string, name: string): string => `uid-of-${kind.toLowerCase()}-${name}`;

/** A controller works on the resources, finishes some of them, and is as often too late. */
export function drawHookWork(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (!model.hasHookResources) return [];
  return model.nodes.flatMap(({ name, claim }) => {
    const uid = claim === undefined ? uidOf('Node', name) : uidOf('NodeClaim', claim);
    return HOOKS.flatMap(hook =>
      times(LOOKS).map((): Draft => {
        const time = addDuration(start, drawDuration(random, seconds(0), span));
        const target = { resource: HOOK_WORKS, namespace: NAMESPACE, name: `${hook}-${uid}` };
        const done = { type: 'Done', status: 'True', reason: 'Said', lastTransitionTime: toTimestamp(time) };
        const action = pickWeighted<StepAction>(random, [
          [3, { kind: 'patch', target, merge: { status: { conditions: [done] } } }],
          [2, { kind: 'patch', target, merge: { status: { step: toTimestamp(time) } } }],
        ]);
        return { time, act: () => action };
      }),
    );
  });
}
