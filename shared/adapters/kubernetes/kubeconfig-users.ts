/** What a kubeconfig says of its users and the library does not know. */
import { readFileSync } from 'node:fs';
import { loadYaml } from '@kubernetes/client-node';
import { z } from 'zod';

/** @param fields of `users[].user` */
export function parseUsers<Fields extends z.ZodType>(file: string, fields: Fields) {
  const users = z.object({ users: z.array(z.object({ name: z.string(), user: fields.nullish() })) });
  return users.safeParse(loadYaml(readFileSync(file, 'utf8')));
}
