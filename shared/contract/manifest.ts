/** A Kubernetes manifest from a file or a template: parsed far enough to be sent, the rest is the API server's to judge. */
import { z } from 'zod';
import type { KubernetesManifest } from '../domain/kubernetes-object.ts';

const texts = z.record(z.string(), z.string());

const metadataSchema = z.object({
  name: z.string().min(1).exactOptional(),
  generateName: z.string().min(1).exactOptional(),
  namespace: z.string().min(1).exactOptional(),
  uid: z.string().exactOptional(),
  resourceVersion: z.string().exactOptional(),
  generation: z.number().exactOptional(),
  creationTimestamp: z.string().exactOptional(),
  deletionTimestamp: z.string().exactOptional(),
  deletionGracePeriodSeconds: z.number().exactOptional(),
  labels: texts.exactOptional(),
  annotations: texts.exactOptional(),
  finalizers: z.array(z.string()).exactOptional(),
  ownerReferences: z
    .array(
      z.object({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        uid: z.string(),
        controller: z.boolean().exactOptional(),
        blockOwnerDeletion: z.boolean().exactOptional(),
      }),
    )
    .exactOptional(),
});

export const manifestSchema = z
  .looseObject({ apiVersion: z.string().min(1), kind: z.string().min(1), metadata: metadataSchema })
  .transform((manifest): KubernetesManifest => manifest);
