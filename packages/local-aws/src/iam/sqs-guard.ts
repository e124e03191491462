/** Access to SQS, asked before fauxqs sees a call. */
import type { buildApp } from 'fauxqs';
import type { Access } from './access.ts';
import { toSqsError } from './refusals.ts';
import { toSqsRequest } from './sqs-requests.ts';

export interface SqsGuard {
  readonly region: string;
  readonly account: string;
  /** Undefined while the roles are not known yet: until then only the account's own calls come. */
  readonly access: () => Pick<Access, 'check'> | undefined;
}

/** Until `access` answers something, everything is allowed. */
export function guardSqs(app: ReturnType<typeof buildApp>, { region, account, access }: SqsGuard): void {
  app.addHook('preHandler', async (request, reply) => {
    const { authorization, 'x-amz-target': target } = request.headers;
    // Its own pages, that show what is in the queues.
    if (typeof target !== 'string') return;
    const refusal = access()?.check(authorization, [toSqsRequest(target, request.body, { region, account })]);
    if (refusal === undefined) return;
    const { status, code, message } = toSqsError(refusal);
    await reply
      .status(status)
      .header('content-type', 'application/x-amz-json-1.0')
      .header('x-amzn-query-error', `${code};Sender`)
      .send({ __type: `com.amazonaws.sqs#${code}`, message });
  });
}
