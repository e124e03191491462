/** The cluster as the generator believes it to be at an instant of the story; Curfew and the actors may have changed it since. */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { parseTimestamp, toEpochMs, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Manifest, PlacedManifest, Place, StepAction, TargetRef } from '../../scenario/scenario.ts';
import type { Random } from '../../random.ts';

/** Virtual time zero of every seed. */
export const START = parseTimestamp('2024-11-01T15:00:00Z') ?? toEpochMs(0);

/** As long as a name is on EKS. */
export const LONG_PREFIX = 'ip-192-168-101-202.eu-central-1.compute.internal-';

export interface ConditionPlan {
  readonly type: string;
  readonly status: string;
  /** As written, RFC 3339 as a rule; undefined: missing. */
  readonly lastTransitionTime: string | undefined;
  readonly reason?: string | undefined;
}

export interface NodePlan {
  readonly name: string;
  readonly zone: string;
  readonly pool: string | undefined;
  readonly claim: string | undefined;
  providerID: string;
  conditions: readonly ConditionPlan[];
  /** Somebody took the do-not-disrupt annotation off it. */
  annotationRemoved: boolean;
}

export interface PodPlan {
  readonly namespace: string;
  readonly name: string;
  node: string;
  /** From where the protection counts. */
  creationTime: EpochMs;
  /** A finalizer that nobody takes off keeps it when it is deleted. */
  readonly lingers: boolean;
  /** It is created without a node. */
  readonly waits: boolean;
}

export interface Model {
  /** What the names of nodes begin with. */
  readonly namePrefix: string;
  /** Where nodes are. */
  readonly zones: readonly string[];
  readonly pools: readonly string[];
  readonly nodes: NodePlan[];
  readonly pods: PodPlan[];
  readonly policies: readonly string[];
  /** What somebody else's finalizer keeps. */
  readonly slow: TargetRef[];
  /** PodDisruptionBudgets that stories turn. */
  readonly budgets: Manifest[];
  /** Names of VolumeAttachments, the oldest first. */
  readonly attachments: string[];
  /** Plurals and groups of kinds whose definition stands there: from the start, or once its step was taken. */
  readonly kinds: string[];
  /** Names of objects under a FinalizerRule. */
  readonly databases: string[];
  /** Tolerations and protections in use: something is due that long after what began it. */
  readonly durations: DurationMs[];
  /** Some repair blocks have ladders of actions. */
  hasLadders: boolean;
  /** Some nodes are of managed node groups: no NodeClaim stands for them. */
  hasNodeGroups: boolean;
  /** Some hooks of terminations are custom resources. */
  hasHookResources: boolean;
  /** For names that were not used yet. */
  counter: number;
}

/** A cluster in which nothing stands yet. */
export const newModel = (named: Pick<Model, 'namePrefix' | 'zones' | 'pools' | 'policies'>): Model => ({
  ...named,
  nodes: [],
  pods: [],
  slow: [],
  budgets: [],
  attachments: [],
  kinds: [],
  databases: [],
  durations: [],
  hasLadders: false,
  hasNodeGroups: false,
  hasHookResources: false,
  counter: 0,
});

/** A step whose content depends on what the steps before it did. */
export interface Draft {
  readonly time: EpochMs;
  readonly act: () => StepAction | undefined;
}

/** Thinks up a few steps that belong together. */
export type Story = (context: StoryContext) => readonly Draft[];

export interface StoryContext {
  readonly random: Random;
  readonly model: Model;
  /** When it begins. */
  readonly time: EpochMs;
}

export const GENERATED: Place = { file: 'generated', line: 1, path: '' };

export function toManifest(body: JsonObject, name: string, namespace?: string): Manifest {
  const { apiVersion, kind } = body;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new TypeError('a manifest has a kind');
  return { apiVersion, kind, namespace, name, body };
}

export const place = (manifest: Manifest): PlacedManifest => ({ manifest, place: GENERATED });
