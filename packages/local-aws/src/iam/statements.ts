/**
 * The statements of a role's policies, in exactly the forms that CDK writes for this repository: `Allow`, whole actions, resources with
 * `*` and `?`, and the condition operators below. A form that is not understood is refused when the template is read.
 */
import { z } from 'zod';

/** IAM writes a list of one as its entry. Parsed, it is a list always. */
export const oneOrMore = <T>(of: z.ZodType<T>) => z.union([of.transform(one => [one]), z.array(of)]);

export const CONDITION_OPERATORS = [
  'StringEquals',
  'StringLike',
  'ForAllValues:StringEquals',
  'ForAllValues:StringLike',
  'Null',
] as const;
export type ConditionOperator = (typeof CONDITION_OPERATORS)[number];

/** `ArrayOf…` in the Service Authorization Reference. IAM asks for a set operator with such a key, and says nothing of a request that meets none. */
const KEYS_OF_MANY_VALUES = ['events:source', 'dynamodb:LeadingKeys'];

const action = z.string().regex(/^[a-z0-9-]+:[A-Za-z]+$/, 'only whole actions are supported');
const statementSchema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.literal('Allow', 'only Allow is supported'),
  Action: oneOrMore(action),
  Resource: oneOrMore(z.string()),
  Condition: z
    .partialRecord(
      z.enum(CONDITION_OPERATORS, 'this condition operator is not supported'),
      z.record(z.string(), oneOrMore(z.string())),
    )
    .superRefine(({ StringEquals, StringLike }, context) => {
      for (const key of Object.keys({ ...StringEquals, ...StringLike })) {
        if (KEYS_OF_MANY_VALUES.includes(key)) context.addIssue(`${key} needs a set operator, such as ForAllValues`);
      }
    })
    .default({}),
});

export type Statement = Readonly<z.infer<typeof statementSchema>>;

export const policyDocumentSchema = z.object({ Statement: z.array(statementSchema) });

/** One statement of a trust policy, which says who may take a role. */
export interface TrustModel {
  /** `lambda.amazonaws.com`. */
  readonly services: readonly string[];
  readonly statement: Statement;
}

export const trustPolicySchema = z.object({
  Statement: z.array(
    z
      .strictObject({
        Sid: z.string().optional(),
        Effect: z.literal('Allow', 'only Allow is supported'),
        Principal: z.strictObject({ Service: oneOrMore(z.string()) }),
        Action: oneOrMore(action),
        Condition: z.strictObject({ StringEquals: z.record(z.string(), oneOrMore(z.string())) }).optional(),
      })
      .transform(({ Principal, Action, Condition = { StringEquals: {} } }): TrustModel => ({
        services: Principal.Service,
        statement: { Effect: 'Allow', Action, Resource: ['*'], Condition },
      })),
  ),
});
