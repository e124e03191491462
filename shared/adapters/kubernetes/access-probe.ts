/**
 * Asks the API server whether we may do what we will need, so that a broken installation is noticed before an object needs it. One
 * SelfSubjectAccessReview for each verb; it reads nothing and changes nothing.
 */
import * as z from '../../contract/zod.ts';
import { RetryableError } from '../../errors.ts';
import { parseApiFailure } from './api-failure.ts';
import { toThrown } from './errors.ts';
import type { Transport } from './transport.ts';

/** Verbs on one resource, as a rule of a ClusterRole; of a Role where there is a namespace. */
export interface NeededAccess {
  readonly verbs: readonly string[];
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  /** Only these objects. */
  readonly names?: readonly string[];
}

interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Resolves when all is allowed. Throws `RetryableError`: `Forbidden` with all that is missing, or why the server could not be asked. */
export type AccessProbe = () => Promise<void>;

const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });

export function createAccessProbe(transport: Transport, needed: readonly NeededAccess[]): AccessProbe {
  return async () => {
    const missing = await missingAccess(transport, needed);
    if (missing.length > 0) {
      throw new RetryableError(`the API server does not allow: ${missing.join(', ')}`, { reason: 'Forbidden' });
    }
  };
}

/** Somebody else, for whom an administrator may ask. */
export interface ReviewedUser {
  readonly user: string;
  readonly groups: readonly string[];
}

/**
 * Lists in words, each once, the access that is needed and not allowed to us (or to `who`). Throws `RetryableError` if
 * the server could not be asked.
 */
export async function missingAccess(
  transport: Transport,
  needed: readonly NeededAccess[],
  who?: ReviewedUser,
): Promise<readonly string[]> {
  const questions = [...new Map(needed.flatMap(toQuestions).map(question => [describe(question), question]))];
  // One first: a server that does not answer is not asked for the rest.
  const answers: boolean[] = [];
  for (const batch of [questions.slice(0, 1), questions.slice(1)]) {
    answers.push(...(await Promise.all(batch.map(([, question]) => isAllowed(transport, question, who)))));
  }
  return questions.filter((_, index) => answers[index] === false).map(([words]) => words);
}

/** Each single permission in the words of `missingAccess`. */
export function describeAccess(needed: readonly NeededAccess[]): readonly string[] {
  return needed.flatMap(toQuestions).map(describe);
}

function toQuestions({ verbs, names, ...attributes }: NeededAccess): ResourceAttributes[] {
  return verbs.flatMap(verb =>
    names === undefined ? [{ verb, ...attributes }] : names.map(name => ({ verb, ...attributes, name })),
  );
}

async function isAllowed(
  transport: Transport,
  attributes: ResourceAttributes,
  who: ReviewedUser | undefined,
): Promise<boolean> {
  const doing = `asking whether ${who === undefined ? 'we' : who.user} may ${describe(attributes)}`;
  const kind = who === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const { status, retryAfter, body } = await transport.request({
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    doing,
    body: {
      contentType: 'application/json',
      json: {
        apiVersion: 'authorization.k8s.io/v1',
        kind,
        spec: { resourceAttributes: attributes, ...who },
      },
    },
  });
  if (status !== 201) throw toThrown(parseApiFailure(status, body, retryAfter), { doing, write: false });
  return reviewSchema.parse(JSON.parse(body)).status.allowed;
}

/** `patch nodeclaims.karpenter.sh`, `get configmaps curfew-config in curfew`. */
function describe({ verb, group, resource, subresource, namespace, name }: ResourceAttributes): string {
  const what = `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  return [verb, what, name, ...(namespace === undefined ? [] : ['in', namespace])].filter(Boolean).join(' ');
}
