/** The last step of every write: store it, tell observers, deliver. A dry run stops short of all three. */
import type { ObjectRef } from '../kubernetes-object.ts';
import type { JsonObject } from '../json.ts';
import { equalJson } from '../json.ts';
import { toObject } from '../objects.ts';
import type { ServerContext, Target } from '../server-context.ts';
import type { ObservedWrite, WriteOptions } from '../types.ts';

/** Who writes when nobody is named. */
export const DEFAULT_USER = 'admin';

/** What the request was, as observers are told. */
export interface Request {
  readonly verb: ObservedWrite['verb'];
  readonly options: WriteOptions;
  readonly body?: unknown;
  readonly subresource?: string;
  readonly gracePeriodSeconds?: number;
}

/** An object's new state; `after` is absent when it is removed. */
export interface Outcome {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

/**
 * Stores the outcome of a request. A state that equals the stored one changes nothing: no version, no event.
 * @returns the object as stored, or as it was when it was removed
 */
export function commit(server: ServerContext, target: Target, outcome: Outcome, dryRun = false): JsonObject {
  const { before, after } = outcome;
  const state = after ?? before;
  if (state === undefined) throw new TypeError('an outcome needs a state before or after');
  if (dryRun || (after !== undefined && before !== undefined && equalJson(before, after))) return state;
  const { served, namespace, name } = target;
  const stored = server.store.commit({ storage: served.storage, namespace, name, before, after });
  if (after === undefined) served.rules.removed?.(stored);
  else served.rules.stored?.(stored);
  return stored;
}

/** Tells observers of a request that was carried out, then delivers its changes. */
export function finish(server: ServerContext, target: Target, request: Request, outcome: Outcome): void {
  const { options, verb, body, subresource, gracePeriodSeconds } = request;
  if (server.store.observed && options.dryRun !== true) {
    const { before, after } = outcome;
    server.store.report({
      verb,
      user: options.user ?? DEFAULT_USER,
      resource: target.served.info,
      ref: refOf(target),
      ...(subresource === undefined ? {} : { subresource }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(body === undefined ? {} : { body }),
      ...(before === undefined ? {} : { before: toObject(before) }),
      ...(after === undefined ? {} : { after: toObject(after) }),
    });
  }
  server.store.flush();
}

function refOf({ served, namespace, name }: Target): ObjectRef {
  const { group, version, resource, namespaced } = served.info;
  return { type: { group, version, resource }, ...(namespaced ? { namespace } : {}), name };
}
