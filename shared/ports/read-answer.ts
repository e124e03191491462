/**
 * The four answers of a read of the Kubernetes API, of which only *not there* says that there is none:
 *
 * - *there*;
 * - *not there*: 404 for the name, from an API server that serves the kind;
 * - *not served*: 404 for the kind. Its definition is missing, or the version is not served: objects may be there all the same;
 * - *unavailable*: anything else (401, 403, 408, 410, 429, 5xx, a time-out, a redirect, an answer that cannot be read, a list of which
 *   one page failed). It is thrown as `RetryableError`, which ends the run; `orUnavailable` makes it a value where it concerns one thing.
 */
import { notServed } from '../domain/not-served.ts';
import type { KubernetesObject, ResourceType } from '../domain/kubernetes-object.ts';
import { RetryableError, TerminalError } from '../errors.ts';

interface NotServed {
  readonly kind: 'notServed';
  readonly type: ResourceType;
}

/** The answer of `get`. */
export type ObjectAnswer =
  { readonly kind: 'there'; readonly object: KubernetesObject } | { readonly kind: 'notThere' } | NotServed;

/** The answer of `list`: of a kind that is served all matching objects, none included. */
export type ObjectsAnswer = { readonly kind: 'there'; readonly objects: readonly KubernetesObject[] } | NotServed;

/** Choice of a reader for a kind that is not served. */
export interface IfNotServed {
  /**
   * `empty`: there is none, for nobody can have made such an object, or nothing that could be hurt depends on it. `throw`: there may be
   * one, and the reader cannot go on without it.
   */
  readonly ifNotServed: 'empty' | 'throw';
}

/**
 * The object; undefined where there is none.
 *
 * @throws {KindNotServed} if the kind is not served and the caller cannot go on without it
 */
export function objectOf(answer: ObjectAnswer, reading: IfNotServed): KubernetesObject | undefined {
  throwIfAsked(answer, reading);
  return answer.kind === 'there' ? answer.object : undefined;
}

/**
 * The objects.
 *
 * @throws {KindNotServed} if the kind is not served and the caller cannot go on without it
 */
export function objectsOf(answer: ObjectsAnswer, reading: IfNotServed): readonly KubernetesObject[] {
  throwIfAsked(answer, reading);
  return answer.kind === 'there' ? answer.objects : [];
}

function throwIfAsked(answer: ObjectAnswer | ObjectsAnswer, { ifNotServed }: IfNotServed): void {
  if (answer.kind === 'notServed' && ifNotServed === 'throw') throw new KindNotServed(answer.type);
}

/** A kind is not served, and its reader cannot go on without it (reason `NotServed`). */
export class KindNotServed extends RetryableError {
  readonly type: ResourceType;

  constructor(type: ResourceType) {
    super(notServed(type), { reason: 'NotServed' });
    this.name = 'KindNotServed';
    this.type = type;
  }
}

/** The fourth answer as a value. */
export interface Unavailable {
  readonly kind: 'unavailable';
  readonly error: RetryableError | TerminalError;
}

/**
 * Makes a value of an answer that is not available, for a failure that stops one thing only, while others go on. An error
 * with any other cause is a fault of ours, and is thrown on.
 */
export async function orUnavailable<Answer>(call: Promise<Answer>): Promise<Answer | Unavailable> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RetryableError || error instanceof TerminalError) return { kind: 'unavailable', error };
    throw error;
  }
}

/** Makes such a value of what is read out of several answers, and has no kind of its own. */
export const valueOrUnavailable = <Value>(
  call: Promise<Value>,
): Promise<{ readonly kind: 'known'; readonly value: Value } | Unavailable> =>
  orUnavailable(call.then(value => ({ kind: 'known', value }) as const));

export interface RejectedCall {
  readonly kind: 'rejected';
  readonly message: string;
  readonly cause: TerminalError;
}

/** A change or look that is not remembered: what came of it, or that the request is rejected. Throws whatever else it failed for. */
export async function orRejected<Outcome>(call: Promise<Outcome>): Promise<Outcome | RejectedCall> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return { kind: 'rejected', message: error.message, cause: error };
  }
}
