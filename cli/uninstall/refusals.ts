/**
 * Remembers what could not be read or changed, and why; the rest goes on. A refusal of the API server lasts, such as
 * one by an admission webhook or for a missing right. Any other failure, such as 5xx, may pass, and is tried again in
 * each pass.
 */
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { messageOf, RetryableError, TerminalError } from '../../shared/errors.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

/** Reasons of retryable errors that no later pass would get past. */
const LASTING: readonly (string | undefined)[] = ['Forbidden', 'Unauthorized', 'NotServed'];

/** By the name of the object, as `NodeClaim a`, with the answer. */
export class Refusals {
  readonly #refused = new Map<string, string>();
  #failed = new Map<string, string>();

  has = (what: string): boolean => this.#refused.has(what) || this.#failed.has(what);

  isRefused = (what: string): boolean => this.#refused.has(what);

  refused = (): readonly string[] => textsOf(this.#refused);

  /** Failures of the last pass. */
  failed = (): readonly string[] => textsOf(this.#failed);

  /** Keeps the failures that are known before the passes; each pass begins with them. */
  beforePasses(): { readonly beginPass: () => void; readonly open: () => readonly string[] } {
    const before = new Map(this.#failed);
    return {
      beginPass: () => (this.#failed = new Map(before)),
      open: () => [...this.#failed.keys()].filter(what => !before.has(what)),
    };
  }

  /** @returns what `act` answers; undefined: it could not be done, now or before */
  async try<T>(what: string, act: () => Promise<T>): Promise<T | undefined> {
    if (this.isRefused(what)) return undefined;
    try {
      return await act();
    } catch (error) {
      const isPassing = error instanceof RetryableError && !LASTING.includes(error.reason);
      if (!(error instanceof RetryableError || error instanceof TerminalError)) throw error;
      (isPassing ? this.#failed : this.#refused).set(what, messageOf(error));
      return undefined;
    }
  }
}

const textsOf = (whys: ReadonlyMap<string, string>): readonly string[] =>
  [...whys].map(([what, why]) => `${what}: ${why}`);

/** The objects of a kind; none where it is not served, or they cannot be listed. */
export async function listed(
  kubernetes: Pick<KubernetesApi, 'list'>,
  kind: keyof typeof RESOURCES,
  refusals: Refusals,
): Promise<readonly KubernetesObject[]> {
  const list = async () => objectsOf(await kubernetes.list(RESOURCES[kind]), { ifNotServed: 'empty' });
  return (await refusals.try(`every ${kind}`, list)) ?? [];
}
