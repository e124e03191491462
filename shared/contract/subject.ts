import * as z from './zod.ts';

/**
 * Object that a message or record is about: by kind, name and, where known, UID (I10: with a UID, another object of the same
 * name is not meant).
 */
export const subjectSchema = z.object({
  kind: z.string().check(z.minLength(1)),
  apiVersion: z.string().check(z.minLength(1)),
  namespace: z.optional(z.string()),
  name: z.string().check(z.minLength(1)),
  uid: z.optional(z.string()),
});
export type Subject = Readonly<z.infer<typeof subjectSchema>>;

/** The subject as audit lines and Events name what they are about. */
export const aboutSubject = ({ apiVersion, kind, namespace, name, uid }: Subject) => ({
  apiVersion,
  kind,
  metadata: { ...(namespace !== undefined && { namespace }), name, ...(uid !== undefined && { uid }) },
});
