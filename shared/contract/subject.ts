import * as z from 'zod';

/**
 * What a message or record is about: an object by kind, name and, where known, UID (I10: with a UID, another object of the
 * same name is not meant).
 */
export const subjectSchema = z.strictObject({
  kind: z.string().min(1),
  apiVersion: z.string().min(1),
  namespace: z.string().optional(),
  name: z.string().min(1),
  uid: z.string().optional(),
});
export type Subject = Readonly<z.infer<typeof subjectSchema>>;
