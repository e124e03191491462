/**
 * Who calls, by the access key in the signature, and whether he may. Signatures are not verified: the key alone tells, since every key
 * here was given out by this process. The account's own key may do everything.
 */
import { FAKE_CREDENTIALS } from '../fake-credentials.ts';
import type { AwsModel, RoleModel } from '../model.ts';
import { isAllowed, type AccessRequest } from './evaluate.ts';

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

/** Checks what the statements of the role allow, and nothing else: resource policies are `queue-policies.ts`. */
export function createAccess({
  account,
  roles,
}: Pick<AwsModel, 'account'> & { readonly roles: readonly Omit<RoleModel, 'trust'>[] }): Access {
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
      const denied = requests.find(request => !isAllowed(role.statements, request));
      if (denied === undefined) return undefined;
      const user = `arn:aws:sts::${account}:assumed-role/${role.name}/local`;
      const { action, resource } = denied;
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
