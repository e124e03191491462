/**
 * The four answers of a read of the Kubernetes API, of which only *not there* says that there is none:
 *
 * - *there*;
 * - *not there*: 404 for the name, from an API server that serves the kind;
 * - *not served*: 404 for the kind. Its definition is missing, or the version is not served: objects may be there all the same;
 * - *not known*: anything else (401, 403, 408, 410, 429, 5xx, a time-out, a redirect, an answer that cannot be read, a list of which
 *   one page failed). It is thrown as `RetryableError`, which ends the run; `orNotKnown` makes it a value where it concerns one thing.
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

/** The meaning that a reader gives to a kind that is not served. */
export interface NotServedMeaning {
  /**
   * `none`: nobody can have made such an object, or nothing that could be hurt depends on it. `notKnown`: there may be one out of sight,
   * and the reader cannot go on without it.
   */
  readonly notServed: 'none' | 'notKnown';
}

/**
 * The object; undefined where there is none.
 *
 * @throws {OutOfSight} where that the kind is not served means that nothing is known
 */
export function objectOf(answer: ObjectAnswer, reading: NotServedMeaning): KubernetesObject | undefined {
  if (answer.kind === 'notServed') throwUnlessNone(answer, reading);
  return answer.kind === 'there' ? answer.object : undefined;
}

/**
 * The objects.
 *
 * @throws {OutOfSight} where that the kind is not served means that nothing is known
 */
export function objectsOf(answer: ObjectsAnswer, reading: NotServedMeaning): readonly KubernetesObject[] {
  if (answer.kind === 'there') return answer.objects;
  throwUnlessNone(answer, reading);
  return [];
}

function throwUnlessNone({ type }: NotServed, reading: NotServedMeaning): void {
  if (reading.notServed === 'notKnown') throw new OutOfSight(type);
}

/** A kind is not served, and its reader cannot go on without it (reason `NotServed`). */
export class OutOfSight extends RetryableError {
  readonly type: ResourceType;

  constructor(type: ResourceType) {
    super(notServed(type), { reason: 'NotServed' });
    this.name = 'OutOfSight';
    this.type = type;
  }
}

/** The fourth answer as a value. */
export interface NotKnown {
  readonly kind: 'notKnown';
  readonly error: RetryableError | TerminalError;
}

/**
 * Makes a value of an answer that is not known, for a failure that stops one thing only, while others go on. An error
 * with any other cause is a fault of ours, and is thrown on.
 */
export async function orNotKnown<Answer>(call: Promise<Answer>): Promise<Answer | NotKnown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RetryableError || error instanceof TerminalError) return { kind: 'notKnown', error };
    throw error;
  }
}

export interface RefusedCall {
  readonly kind: 'refused';
  readonly message: string;
  readonly cause: TerminalError;
}

/** A change or look that is not remembered: what came of it, or that the request is refused. Throws whatever else it failed for. */
export async function orRefused<Outcome>(call: Promise<Outcome>): Promise<Outcome | RefusedCall> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return { kind: 'refused', message: error.message, cause: error };
  }
}
