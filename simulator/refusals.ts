/**
 * Requests that the API server refuses for a while (step `refuse`), to Curfew's parts alone: actors and author go on. They stand before
 * the server itself, so a refusal reaches Curfew through the same table of answers as one of a real server.
 */
import type { InProcessServer } from '../runtime/in-process/kubernetes-api.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import type { ObjectRef, ResourceType } from '../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  latest,
  minutes,
  seconds,
  toEpochMs,
  type DurationMs,
  type EpochMs,
} from '../shared/domain/time.ts';
import type { Component } from '../shared/contract/permissions.ts';
import { answerTo, type ApiRequest } from './refusal-answers.ts';
import type { RefusableVerb, RefusedAs, RefusedRequests, Refusal } from './scenario/scenario.ts';

/** A refusal that stands, or that has stood. */
export interface StandingRefusal {
  readonly refusal: Refusal;
  readonly begin: EpochMs;
  readonly end: EpochMs;
}

export interface Refusals {
  /** @param duration undefined: to the end of the scenario, which no refusal outlives */
  begin(refusal: Refusal, duration: DurationMs | undefined): void;
  /** All so far, in the order in which they began; they add up. */
  readonly all: readonly StandingRefusal[];
  /**
   * When the last of those ended that more than one object's changes depend on, and what it held back is due again; the start of time when
   * there was none, undefined while one stands.
   */
  lastEnd(): EpochMs | undefined;
  /** Until when refusals hold changes of that object: now while one stands, else when the last try after it is due. Minus infinity: there was none. */
  heldUntil(
    resource: string,
    object: { readonly name?: string | undefined; readonly namespace?: string | undefined },
  ): number;
  /** The server as that part of Curfew finds it. @param user whom the server sees, for the words of a 403 */
  guard(core: InProcessServer, part: Component, user: string): InProcessServer;
  /** Called when watches of the forwarder's are refused that may be open: the server ends them. */
  onWatchRefused(action: (isRefused: (type: ResourceType, namespace: string | undefined) => boolean) => void): void;
}

export function createRefusals(scheduler: Scheduler, endOfRun: EpochMs): Refusals {
  const all: StandingRefusal[] = [];
  const onWatch: Parameters<Refusals['onWatchRefused']>[0][] = [];
  const standing = (): readonly StandingRefusal[] => {
    const now = scheduler.now();
    return all.filter(({ begin, end }) => begin <= now && now < end);
  };

  return {
    all,
    begin(refusal, duration) {
      const begin = scheduler.now();
      const wanted = duration === undefined ? endOfRun : addDuration(begin, duration);
      const end = wanted < endOfRun ? wanted : endOfRun;
      all.push({ refusal, begin, end });
      for (const action of onWatch) {
        action((type, namespace) => covers(refusal, 'forwarder', { verb: 'watch', ...resourceOf(type), namespace }));
      }
    },
    lastEnd() {
      const wide = all.filter(({ refusal }) => !isOfOneChange(refusal));
      if (wide.some(({ end }) => scheduler.now() < end)) return undefined;
      return wide.reduce(
        (last, { refusal, end }) => latest(last, addDuration(end, heldLonger(refusal.as))),
        toEpochMs(0),
      );
    },
    heldUntil(resource, object) {
      const now = scheduler.now();
      const of = all.filter(
        ({ refusal }) =>
          refusal.resource?.split('.')[0] === resource &&
          refusal.name === object.name &&
          (refusal.namespace ?? object.namespace) === object.namespace,
      );
      return Math.max(
        -Infinity,
        ...of.map(({ refusal, end }) => (now < end ? now : Math.min(now, addDuration(end, heldLonger(refusal.as))))),
      );
    },
    onWatchRefused: action => onWatch.push(action),
    guard(core, part, user) {
      const check = (request: Omit<ApiRequest, 'user'>): void => {
        const found = standing().find(({ refusal }) => covers(refusal, part, request));
        if (found !== undefined) throw answerTo(asAuthorized({ ...request, user }), found.refusal.as);
      };
      const checkObject = (verb: RefusableVerb, ref: ObjectRef, subresource?: string): void =>
        check({ verb, ...objectOf(ref), ...(subresource === undefined ? {} : { subresource }) });
      const isServed = (type: ResourceType): boolean =>
        !standing().some(
          ({ refusal }) =>
            'notServed' in refusal.as &&
            isOfWholeKind(refusal) &&
            covers(refusal, part, { verb: '', ...resourceOf(type) }),
        );
      return {
        get(ref) {
          checkObject('get', ref);
          return core.get(ref);
        },
        list(type, options) {
          check({ verb: 'list', ...collectionOf(type, options) });
          return core.list(type, options);
        },
        create(type, manifest, options) {
          const { namespace, name } = manifest.metadata;
          check({
            verb: 'create',
            ...objectOf({ type, name: name ?? '', ...(namespace === undefined ? {} : { namespace }) }),
          });
          return core.create(type, manifest, options);
        },
        patch(ref, patch, options) {
          checkObject('patch', ref, options?.subresource);
          return core.patch(ref, patch, options);
        },
        delete(ref, options) {
          checkObject('delete', ref);
          return core.delete(ref, options);
        },
        evict(ref, options) {
          checkObject('evict', ref);
          return core.evict(ref, options);
        },
        watch(type, options, deliver) {
          check({ verb: 'watch', ...collectionOf(type, options) });
          return core.watch(type, options, deliver);
        },
        resources: () => core.resources().filter(isServed),
        resourceForKind(apiVersion, kind) {
          const info = core.resourceForKind(apiVersion, kind);
          return info !== undefined && isServed(info) ? info : undefined;
        },
      };
    },
  };
}

/** Statuses that say nothing of the request itself: a try follows within minutes (I5). */
const PASSING: ReadonlySet<number> = new Set([401, 404, 408, 409, 410, 429]);
/** What is refused is tried again after 1, 2, 4 … 60 min (I5). */
const LONGEST_BACK_OFF = minutes(60);

/** How long after the end of a refusal what it refused may wait for its next try. */
const heldLonger = (as: RefusedAs): DurationMs =>
  'notServed' in as || as.status < 400 || as.status >= 500 || PASSING.has(as.status) ? seconds(0) : LONGEST_BACK_OFF;

const CHANGES: ReadonlySet<string | undefined> = new Set(['create', 'update', 'patch', 'delete', 'evict']);

/** Whether it is about changes of one object: then it may hold that one, and no other. */
const isOfOneChange = ({ verb, resource, name }: RefusedRequests): boolean =>
  CHANGES.has(verb) && resource !== undefined && name !== undefined;

/** Whether the refusal is about a kind as such, so that discovery leaves it out too. */
const isOfWholeKind = ({ verb, name, namespace }: RefusedRequests): boolean =>
  verb === undefined && name === undefined && namespace === undefined;

type Requested = { readonly verb: string } & {
  readonly [Key in 'group' | 'resource']: string;
} & { readonly namespace?: string | undefined; readonly name?: string | undefined };

function covers(refused: RefusedRequests, part: Component, request: Requested): boolean {
  const { verb, resource, namespace, name, by } = refused;
  return (
    (by === undefined || by === part) &&
    (verb === undefined || verb === request.verb) &&
    (resource === undefined || isNamed(resource, request)) &&
    (namespace === undefined || namespace === request.namespace) &&
    (name === undefined || name === request.name)
  );
}

function isNamed(text: string, { group, resource }: Requested): boolean {
  const dot = text.indexOf('.');
  return dot < 0 ? text === resource : text.slice(0, dot) === resource && text.slice(dot + 1) === group;
}

/** An eviction is a create of a subresource. */
const asAuthorized = (request: ApiRequest): ApiRequest =>
  request.verb === 'evict' ? { ...request, verb: 'create', subresource: 'eviction' } : request;

const resourceOf = ({ group, resource }: ResourceType): { group: string; resource: string } => ({ group, resource });

function objectOf({ type, namespace, name }: ObjectRef): Omit<ApiRequest, 'user' | 'verb'> {
  return { ...resourceOf(type), name, ...(namespace === undefined ? {} : { namespace }) };
}

/** A list or watch that selects one object by its name is a request for that object, as an authorizer sees it. */
function collectionOf(
  type: ResourceType,
  { namespace, fieldSelector = '' }: { readonly namespace?: string; readonly fieldSelector?: string } = {},
): Omit<ApiRequest, 'user' | 'verb'> {
  const name = /^metadata\.name=([^,=!]+)$/.exec(fieldSelector)?.[1];
  return {
    ...resourceOf(type),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}
