/** Follows a drain that was asked for on its Node, until the Node has the answer. */
import { readAnswer } from '../../functions/drain/explain.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { isFinished, readPod } from '../../shared/domain/pod.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

export type FollowResult =
  | { readonly kind: 'answered'; readonly status: string; readonly message: string; readonly left: readonly string[] }
  /** The annotation was taken off. */
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'interrupted' };

export interface FollowOptions {
  readonly name: string;
  readonly uid: string;
  readonly id: string;
  readonly say: (line: string) => void;
  /** Until the next look. */
  readonly pause: () => Promise<unknown>;
  /** Nobody follows any more. */
  readonly isOver: () => boolean;
}

/** Looks without anything on the Node saying that Curfew has seen the request. */
const LOOKS_UNSEEN = 30;

/**
 * Says each new Event of the Node, and how many pods are left whenever that changes. Goes on while the API server is away: the drain does
 * not need who follows it.
 */
export async function follow(
  kubernetes: KubernetesApi,
  { say, pause, isOver, ...following }: FollowOptions,
): Promise<FollowResult> {
  const look = createLook(kubernetes, { say, ...following });
  let isAway = false;
  while (!isOver()) {
    try {
      const end = await look();
      if (end !== undefined) return end;
      if (isAway) say('the API server answers again');
      isAway = false;
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error;
      const isForbidden = error.reason === 'Forbidden';
      if (!isAway) say(`${isForbidden ? 'cannot be followed' : 'cannot be followed for now'}: ${error.message}`);
      if (isForbidden) break;
      isAway = true;
    }
    await pause();
  }
  return { kind: 'interrupted' };
}

/** One look; answers how it ended, if it did. */
function createLook(
  kubernetes: KubernetesApi,
  { name, uid, id, say }: Omit<FollowOptions, 'pause' | 'isOver'>,
): () => Promise<FollowResult | undefined> {
  let said: Set<string> | undefined;
  let left: number | undefined;
  let unseen = 0;
  return async () => {
    // Those of before are not news.
    said ??= new Set((await eventsOf(kubernetes, name)).map(lineOf));
    const node = objectOf(await kubernetes.get({ type: RESOURCES.Node, name }), { ifNotServed: 'throw' });
    if (node === undefined || node.metadata.uid !== uid) return { kind: 'gone' };
    for (const line of (await eventsOf(kubernetes, name)).map(lineOf)) {
      if (said.has(line)) continue;
      said.add(line);
      say(line);
      unseen = LOOKS_UNSEEN + 1;
    }
    const annotations = node.metadata.annotations ?? {};
    const answer = readAnswer(annotations[ANNOTATIONS.drainAnswer]);
    if (answer?.id === id) return { kind: 'answered', ...answer };
    if (annotations[ANNOTATIONS.drainRequested]?.trim() !== id) return { kind: 'withdrawn' };
    if (annotations[ANNOTATIONS.drainUnderWay] !== undefined) {
      const count = await podsLeft(kubernetes, name);
      if (count !== left) say(`${count} ${count === 1 ? 'pod' : 'pods'} on the node`);
      left = count;
      unseen = LOOKS_UNSEEN + 1;
    }
    if (++unseen === LOOKS_UNSEEN) {
      say(
        'nobody has answered yet: the request stays on the Node until Curfew sees it (is it running, and does it watch this cluster?)',
      );
    }
    return undefined;
  };
}

async function eventsOf(kubernetes: KubernetesApi, name: string): Promise<readonly KubernetesObject[]> {
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${name}`;
  const events = objectsOf(await kubernetes.list(RESOURCES.Event, { fieldSelector }), { ifNotServed: 'throw' });
  return events.toSorted((a, b) => writtenAs(a) - writtenAs(b));
}

/** Lists come by name; versions of one cluster grow. */
const writtenAs = ({ metadata }: KubernetesObject): number => Number(metadata.resourceVersion) || 0;

function lineOf(event: KubernetesObject): string {
  const { reason, message } = event;
  return `${String(reason)}: ${String(message)}`;
}

async function podsLeft(kubernetes: KubernetesApi, name: string): Promise<number> {
  const pods = objectsOf(await kubernetes.list(RESOURCES.Pod, { fieldSelector: `spec.nodeName=${name}` }), {
    ifNotServed: 'throw',
  });
  return pods.filter(pod => !isFinished(readPod(pod))).length;
}
