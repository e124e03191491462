/** What differs between resources in how writes are treated: the counterpart of the registry strategies of kube-apiserver. */
import type { JsonObject } from '../json.ts';
import type { NameRule } from '../names.ts';
import type { MergeSchema } from '../patch/merge-schema.ts';
import type { FieldReader } from '../selectors/field-text.ts';
import type { Cause } from '../status-errors.ts';
import type { ResourceStorage } from '../store/object-store.ts';
import type { ResourceInfo, WriteOptions } from '../types.ts';

/** What a rule may ask of the server. */
export interface RuleContext {
  /** RFC 3339 text of the present second. */
  readonly now: string;
  readonly options: WriteOptions;
}

/** The old and new object of an update; `old` is absent for a create. */
export interface Transition {
  readonly next: JsonObject;
  readonly old: JsonObject | undefined;
  readonly subresource: 'status' | undefined;
  readonly context: RuleContext;
}

export interface ResourceRules {
  readonly nameRule: NameRule;
  /** `metadata.generation` counts changes of what the user asks for. */
  readonly counted: boolean;
  /** A PUT may create the object. */
  readonly createOnUpdate: boolean;
  /** A PUT without resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** A create keeps the status that was sent. */
  readonly keepsStatusOnCreate: boolean;
  /** Finalizers must have a prefix (`example.com/name`) or be those of Kubernetes. */
  readonly qualifiedFinalizers: boolean;
  /** Metadata fields that a write of the status subresource leaves alone; `all` but managedFields for custom resources. */
  readonly statusWriteKeeps: 'all' | readonly string[];
  /** A delete answers with the deleted object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Deleted with a grace period (pods). */
  readonly graceful: boolean;
  /** Strategic merge patches are served. */
  readonly strategicMerge: boolean;
  /** List and map semantics of the fields: merge keys, sets, atomic lists. */
  readonly mergeSchema: MergeSchema;
  readonly fields: ReadonlyMap<string, FieldReader>;
  /** Takes out of a write what is not stored: nulls, unknown fields. What it shares with `old` is clean already. */
  readonly clean: (body: JsonObject, options: WriteOptions, old?: JsonObject) => JsonObject;
  /** An object of this kind before anybody has set anything: fields that every object of it has. */
  readonly blank: JsonObject;
  /** Sets defaults on a create or update. */
  readonly prepare?: (transition: Transition) => JsonObject;
  readonly validate?: (transition: Transition) => readonly Cause[];
  /** What of a change its transition rules forbid; a kind without such rules has none. */
  readonly transitions?: (next: JsonObject, old: JsonObject) => readonly Cause[];
  /** Why nothing can be created: the resource is about to end. */
  readonly refusesCreate?: string;
  /** Called when an object was stored or removed, before anybody is told. */
  readonly stored?: (object: JsonObject) => void;
  readonly removed?: (object: JsonObject) => void;
}

/** One version of a resource, with the storage that its versions share. */
export interface ServedResource {
  readonly info: ResourceInfo;
  readonly apiVersion: string;
  readonly rules: ResourceRules;
  readonly storage: ResourceStorage;
}
