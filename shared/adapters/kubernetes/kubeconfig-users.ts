/** Fields of users and clusters in a kubeconfig that the library does not read. */
import { readFileSync } from 'node:fs';
import { loadYaml } from '@kubernetes/client-node';
import { z } from 'zod';

/** @param fields of `users[].user` */
export function parseUsers<Fields extends z.ZodType>(file: string, fields: Fields) {
  const users = z.object({ users: z.array(z.object({ name: z.string(), user: fields.nullish() })) });
  return users.safeParse(loadYaml(readFileSync(file, 'utf8')));
}

/** @param fields of `clusters[].cluster` */
export function parseClusters<Fields extends z.ZodType>(file: string, fields: Fields) {
  const clusters = z.object({ clusters: z.array(z.object({ name: z.string(), cluster: fields })) });
  return clusters.safeParse(loadYaml(readFileSync(file, 'utf8')));
}
