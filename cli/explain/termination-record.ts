/**
 * Reads the termination of a node from Curfew's table: its deadline, the settings by which it goes on, and the hooks at
 * work.
 */
import {
  hasBegun,
  hookTimeoutTime,
  lastMessageOf,
  resourceOf,
  TERMINATION_CODEC,
  reasonNotAwaited,
  waitOf,
  type HookProgress,
  type KeptSettings,
} from '../../functions/finalizer/explain.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { Deadline, TerminationHook } from '../../shared/domain/termination.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { readRecord } from '../../shared/lifecycle/record-codec.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';
import { instant } from './instant.ts';

export interface HookAtWork {
  readonly name: string;
  /** Since when, and when `onTimeout` decides. */
  readonly since: EpochMs;
  readonly until: EpochMs;
  readonly onTimeout: TerminationHook['onTimeout'];
  /** The key with which the hook's worker answers. */
  readonly key: string;
  readonly target: TerminationHook['target'];
  /** The custom resource that stands for the call, as `kubectl` names it. */
  readonly resource:
    { readonly kind: string; readonly namespace: string | undefined; readonly name: string } | undefined;
  /** The message with which the worker failed last. */
  readonly message: string | undefined;
}

export interface KnownTermination {
  readonly deadline: Deadline | undefined;
  /** Last in force; undefined: they never could be read. */
  readonly settings: KeptSettings | undefined;
  readonly hooks: readonly HookAtWork[];
}

/**
 * Reads the termination of the NodeClaim, else of the node itself, one that mode Observe has stopped too; undefined:
 * none has begun, or a newer version wrote it.
 */
export async function readTermination(
  records: Pick<RecordStore, 'get'>,
  { node, nodeClaims }: { readonly node: NodeView; readonly nodeClaims: readonly NodeClaimView[] },
): Promise<KnownTermination | undefined> {
  const ids = [...nodeClaims.map(({ uid }) => `nodeclaim/${uid}`), `node/${node.uid}`];
  for (const id of ids) {
    const held = readRecord(TERMINATION_CODEC, await records.get({ owner: TERMINATION_CODEC.owner, id }));
    if (held.kind !== 'known' || !(hasBegun(held.value) || waitOf(held.value, 'observed') !== undefined)) continue;
    const { deadline, settings, hooks, hookKeyUid } = held.value;
    const uid = hookKeyUid ?? id.slice(id.indexOf('/') + 1);
    const atWork = (settings?.hooks ?? []).flatMap(hook => {
      const progress = Object.hasOwn(hooks, hook.name) ? hooks[hook.name] : undefined;
      return progress !== undefined && isAtWork(progress) ? [hookAtWork(hook, progress, uid)] : [];
    });
    return { deadline, settings, hooks: atWork };
  }
  return undefined;
}

const isAtWork = (progress: HookProgress): boolean =>
  reasonNotAwaited(progress) === undefined &&
  (progress.phase === 'intended' || progress.phase === 'pending' || progress.phase === 'failed');

function hookAtWork(hook: TerminationHook, progress: HookProgress, uid: string): HookAtWork {
  const { name, onTimeout, target } = hook;
  const { firstInvokedTime: since } = progress;
  const resource = resourceOf(progress);
  return {
    name,
    since,
    until: hookTimeoutTime(hook, progress),
    onTimeout,
    key: `${uid}/${name}`,
    target,
    resource: resource && {
      kind: resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`,
      namespace: resource.namespace,
      name: resource.name,
    },
    message: lastMessageOf(progress),
  };
}

/** Describes a hook: where a person looks, and how it is answered. */
export function hookText({ name, since, until, onTimeout, message, ...hook }: HookAtWork, now: EpochMs): string {
  const failed = message === undefined ? '' : `; it last said: ${message}`;
  return `hook ${name}: ${worker(hook)}; called ${instant(since, now)}, ${onTimeout} at ${instant(until, now)}${failed}`;
}

function worker({ target, resource, key }: Pick<HookAtWork, 'target' | 'resource' | 'key'>): string {
  const answer = `curfew event send TerminationHookAnswered --key ${key} --result succeed`;
  switch (target.kind) {
    case 'customResource':
      return resource === undefined
        ? `the object of template ${target.template} is not made yet`
        : `kubectl get ${resource.kind} ${resource.name}${resource.namespace === undefined ? '' : ` -n ${resource.namespace}`}, done with condition ${target.conditionType}`;
    case 'event':
      return `whoever takes the event ${target.detailType} answers, as ${answer}`;
    case 'lambda':
      return `function ${target.functionName}; one that went on elsewhere answers, as ${answer}`;
  }
}
