/**
 * What is encrypted by a KMS key of the deployment's owner: table, queues, log groups, environment variables. Without one, by keys of AWS. The key's
 * policy is its owner's: docs/security.md has it.
 */
import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';

export function queueEncryption(key: IKey | undefined): Pick<QueueProps, 'encryption' | 'encryptionMasterKey'> {
  if (key === undefined) return { encryption: QueueEncryption.SQS_MANAGED };
  return { encryption: QueueEncryption.KMS, encryptionMasterKey: key };
}

/** Gives the role the right to the key that it needs for encrypted queues and tables. */
export function allowKey(role: Role, key: IKey | undefined): void {
  if (key === undefined) return;
  const { region, urlSuffix } = Stack.of(role);
  role.addToPolicy(
    new PolicyStatement({
      actions: ['kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:DescribeKey'],
      resources: [key.keyArn],
      conditions: {
        StringEquals: { 'kms:ViaService': ['sqs', 'dynamodb', 'lambda'].map(name => `${name}.${region}.${urlSuffix}`) },
      },
    }),
  );
}
