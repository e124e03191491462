/** The last key of a page as opaque text and back. */
import { TABLE } from '../../contract/table.ts';
import * as z from '../../contract/zod.ts';
import { fromAttributes, toAttributes, type Attributes } from './attributes.ts';

const { partitionKey, dueIndex } = TABLE;

const keySchema = z.strictObject({
  [partitionKey]: z.string(),
  [dueIndex.partitionKey]: z.string(),
  [dueIndex.sortKey]: z.number(),
});

/** Throws for a key that is not one of the due index. */
export function encodeCursor(lastKey: Attributes): string {
  return Buffer.from(JSON.stringify(keySchema.parse(fromAttributes(lastKey)))).toString('base64url');
}

/** Throws for text that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): Attributes {
  return toAttributes(keySchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString())));
}
