/** Plain JSON to DynamoDB attribute values and back. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';

export type Attributes = Record<string, AttributeValue>;

/** Numbers keep the precision of JSON, which is less than DynamoDB's. */
export function toAttributes(value: Readonly<Record<string, unknown>>): Attributes {
  return marshall(value, { removeUndefinedValues: true, allowImpreciseNumbers: true });
}

/** Numbers become JavaScript's; more than 15 digits lose precision, as in `toAttributes`. */
export function fromAttributes(attributes: Readonly<Attributes>): Record<string, unknown> {
  return unmarshall(attributes, { wrapNumbers: Number });
}
