/** Who may do what, by the template: roles, their policies, and who has them in the cluster. Throws a ZodError for what does not run locally. */
import { z } from 'zod';
import type { AccessEntryModel, PodIdentityModel, RoleModel } from '../model.ts';
import type { ReadContext } from '../template-resources.ts';
import { policyDocumentSchema, trustPolicySchema, type Statement } from './statements.ts';

const roleSchema = z.object({
  AssumeRolePolicyDocument: trustPolicySchema,
  Policies: z.array(z.object({ PolicyDocument: policyDocumentSchema })).default([]),
  // What these grant stands nowhere in the template.
  ManagedPolicyArns: z.undefined('managed policies are not supported').optional(),
});

/** With the statements that stand in the role itself. */
export function toRole({ properties, identity }: ReadContext): RoleModel {
  const { AssumeRolePolicyDocument, Policies } = roleSchema.parse(properties);
  const statements = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  return {
    name: identity.ref,
    arn: identity.attributes['Arn'] ?? '',
    trust: AssumeRolePolicyDocument.Statement,
    statements,
  };
}

const policySchema = z.object({ PolicyDocument: policyDocumentSchema, Roles: z.array(z.string()) });

/** Statements by the names of the roles that they are of. */
export function toPolicy({ properties }: ReadContext): {
  readonly roles: readonly string[];
  readonly statements: readonly Statement[];
} {
  const { PolicyDocument, Roles } = policySchema.parse(properties);
  return { roles: Roles, statements: PolicyDocument.Statement };
}

const accessEntrySchema = z.object({ PrincipalArn: z.string(), KubernetesGroups: z.array(z.string()).default([]) });

export function toAccessEntry({ properties }: ReadContext): AccessEntryModel {
  const { PrincipalArn, KubernetesGroups } = accessEntrySchema.parse(properties);
  return { roleArn: PrincipalArn, kubernetesGroups: KubernetesGroups };
}

const podIdentitySchema = z.object({
  ClusterName: z.string(),
  Namespace: z.string(),
  ServiceAccount: z.string(),
  RoleArn: z.string(),
});

export function toPodIdentity({ properties }: ReadContext): PodIdentityModel {
  const { ClusterName, Namespace, ServiceAccount, RoleArn } = podIdentitySchema.parse(properties);
  return { clusterName: ClusterName, namespace: Namespace, serviceAccount: ServiceAccount, roleArn: RoleArn };
}
