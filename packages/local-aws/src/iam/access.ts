/**
 * Who calls, by the access key in the signature, and whether he may. Signatures are not verified: the key alone tells, since every key
 * here was given out by this process. The account's own key may do everything.
 */
import { FAKE_CREDENTIALS } from '../fake-credentials.ts';
import type { AwsModel, RoleModel } from '../model.ts';
import { isAllowed, type AccessRequest } from './evaluate.ts';
import { isSender } from './queue-policies.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Why a call is refused. */
export type Refusal =
  /** Not signed. */
  | { readonly kind: 'unsigned' }
  /** Signed with a key that nobody has. */
  | { readonly kind: 'unknownKey' }
  | { readonly kind: 'denied'; readonly message: string };

export interface Access {
  /** Of one role. Throws when there is no such role. */
  credentialsOf(roleArn: string): Credentials;
  /** ARN of the role whose key it is. */
  roleOf(accessKeyId: string): string | undefined;
  /**
   * Undefined when all of it is allowed to who signed.
   * @param authorization the header of that name
   */
  check(authorization: string | undefined, requests: readonly AccessRequest[]): Refusal | undefined;
}

const SECRET = 'local';

/** Checks what the statements of the role allow, and what the policy of a queue denies. */
export function createAccess({
  account,
  roles,
  queues = [],
  queuePolicies = [],
}: Pick<AwsModel, 'account'> &
  Partial<Pick<AwsModel, 'queues' | 'queuePolicies'>> & {
    readonly roles: readonly Omit<RoleModel, 'trust'>[];
  }): Access {
  return {
    credentialsOf(roleArn) {
      const role = roles.find(({ arn }) => arn === roleArn);
      if (role === undefined) throw new Error(`there is no role ${roleArn}`);
      return { accessKeyId: role.name, secretAccessKey: SECRET };
    },
    roleOf: accessKeyId => roles.find(({ name }) => name === accessKeyId)?.arn,
    check(authorization, requests) {
      const accessKeyId = accessKeyIn(authorization);
      if (accessKeyId === undefined) return { kind: 'unsigned' };
      if (accessKeyId === FAKE_CREDENTIALS.accessKeyId) return undefined;
      const role = roles.find(({ name }) => name === accessKeyId);
      if (role === undefined) return { kind: 'unknownKey' };
      const user = `arn:aws:sts::${account}:assumed-role/${role.name}/local`;
      const notAllowed = requests.find(request => !isAllowed(role.statements, request));
      const closed = requests.find(
        ({ action, resource }) =>
          action === 'sqs:SendMessage' && !isSender(role.arn, resource, { queues, queuePolicies }),
      );
      const denied = notAllowed ?? closed;
      if (denied === undefined) return undefined;
      const { action, resource } = denied;
      if (notAllowed === undefined) {
        const message = `User: ${user} is not authorized to perform: ${action} on resource: ${resource} with an explicit deny in a resource-based policy`;
        return { kind: 'denied', message };
      }
      return {
        kind: 'denied',
        message:
          `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ` +
          `because no identity-based policy allows the ${action} action`,
      };
    },
  };
}

/** `AWS4-HMAC-SHA256 Credential=KEY/20261122/us-east-1/sqs/aws4_request, …` */
function accessKeyIn(authorization = ''): string | undefined {
  return /\bCredential=([^/,\s]+)\//.exec(authorization)?.[1];
}
