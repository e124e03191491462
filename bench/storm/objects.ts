/** What the processes of the storm bench share: its objects, and what they ask each other. Pure. */
import * as z from 'zod';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { configMap } from '../objects.ts';

export const NAMESPACE = 'default';

export const CONFIG = configMap('[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n');

export const nodeNameFor = (node: number): string => `node-${node}`;

export const nodeFor = (node: number): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: nodeNameFor(node) },
});

export const podFor = (node: number, pod: number): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: NAMESPACE, name: `pod-${node}-${pod}` },
  spec: { nodeName: nodeNameFor(node), containers: [{ name: 'main', image: 'main' }] },
  status: { phase: 'Running' },
});

export const startSchema = z.object({ nodes: z.number(), podsPerNode: z.number(), controlPlane: z.boolean() });
/** How to reach an API server: over TLS with tokens by user, or plain. */
export const accessSchema = z.object({
  server: z.string(),
  ca: z.exactOptional(z.string()),
  tokens: z.exactOptional(z.record(z.string(), z.string())),
});
export type Access = z.infer<typeof accessSchema>;

export const untilSchema = z.object({ evicted: z.number(), drained: z.number(), withinMs: z.number() });
export const timesSchema = z.object({ evictedMs: z.number(), endsMs: z.array(z.number()) });
export const drainSchema = z.object({ from: z.number(), to: z.number() });
