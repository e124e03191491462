/** ValidatingAdmissionPolicies: what they refuse, and what they warn of. */
import type { JsonObject } from '../json.ts';
import { arrayAt, isObject, objectAt, textAt } from '../json.ts';
import { nameOf } from '../objects.ts';
import type { ServerContext } from '../server-context.ts';
import { resourceOf } from '../server-context.ts';
import { refusedByPolicy } from '../status-errors.ts';
import { policiesFor, invocations, type BoundPolicy } from './policies.ts';
import type { AdmissionRequest } from './request.ts';
import type { Scope } from './scope.ts';

/** One complaint of a policy. */
interface Denial {
  readonly message: string;
  readonly reason: string;
}

/** @throws ApiStatusError 401, 403, 413 or 422, as the reason of the validation says, when a policy denies the request */
export function admitValidating(server: ServerContext, request: AdmissionRequest): void {
  let refusal: Denial | undefined;
  for (const bound of policiesFor(server, 'validating', request)) {
    const names = `ValidatingAdmissionPolicy '${nameOf(bound.policy)}' with binding '${nameOf(bound.binding)}'`;
    const actions = arrayAt(objectAt(bound.binding, 'spec'), 'validationActions');
    for (const { message, reason } of denials(server, bound, request)) {
      if (actions.includes('Warn')) request.options.onWarning?.(`Validation failed for ${names}: ${message}`);
      if (actions.includes('Deny')) refusal ??= { reason, message: `${names} denied request: ${message}` };
    }
  }
  if (refusal === undefined) return;
  const { served, name } = request.target;
  throw refusedByPolicy(resourceOf(served), name, refusal.reason, refusal.message);
}

const DEFAULT_REASON = 'Invalid';

function denials(server: ServerContext, bound: BoundPolicy, request: AdmissionRequest): readonly Denial[] {
  const spec = objectAt(bound.policy, 'spec');
  const failure = (message: string): readonly Denial[] =>
    spec.failurePolicy === 'Ignore' ? [] : [{ message, reason: DEFAULT_REASON }];
  return invocations(server, bound, request).flatMap(invocation => {
    if (invocation.kind === 'error') return failure(invocation.message);
    const scope = invocation.scopeOf(request.object);
    return arrayAt(spec, 'validations')
      .filter(isObject)
      .flatMap(validation => {
        const expression = (textAt(validation, 'expression') ?? '').trim();
        const result = scope.evaluate(expression);
        if (result.kind !== 'value') return failure(`expression '${expression}' resulted in error: ${result.message}`);
        if (result.value === true) return [];
        const reason = textAt(validation, 'reason') ?? DEFAULT_REASON;
        return [{ message: messageOf(validation, expression, scope), reason }];
      });
  });
}

/** A message that cannot be made, or is none, gives way to the fixed one. */
function messageOf(validation: JsonObject, expression: string, scope: Scope): string {
  const { messageExpression } = validation;
  const made = typeof messageExpression === 'string' ? scope.evaluate(messageExpression) : undefined;
  const text = made?.kind === 'value' && typeof made.value === 'string' ? made.value.trim() : '';
  if (text !== '' && !text.includes('\n')) return text;
  return textAt(validation, 'message')?.trim() ?? `failed expression: ${expression}`;
}
