/** Answers to requests for resources: from the HTTP message to a verb of the core, and back in the shape that was asked for. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { notServed } from '../status-errors.ts';
import type { ApiServerCore, ResourceInfo } from '../types.ts';
import { negotiate } from './accept.ts';
import type { Answer } from './answer.ts';
import type { UserInfo } from '../authorization/attributes.ts';
import type { Access } from './access.ts';
import { programOf } from './caller.ts';
import { attributesOf } from './request-attributes.ts';
import { methodNotServed, PathNotFound } from './http-errors.ts';
import { listBytes } from './json-text.ts';
import { checkListVersion, checkWatchVersion } from './list-version.ts';
import { decodeObject, readBody } from './request-body.ts';
import { flag, listOptions, wholeNumber } from './request-options.ts';
import type { ResourcePath } from './request-path.ts';
import { checkServed, executeRequest } from './resource-requests.ts';
import { shapeList, shapeObject, withoutEmptyVersion, type Shape } from './shape.ts';
import { parseIncludeObject } from './tables/table.ts';
import type { Timers } from './timers.ts';
import { answerReview } from './reviews.ts';
import { virtualResources } from './virtual-resources.ts';
import { streamWatch, type WatchStream } from './watch-stream.ts';

/** As kube-apiserver's default for watches that set no limit. */
const defaultWatchSeconds = 1_800;

/** What requests are answered with. */
export interface Front {
  readonly core: ApiServerCore;
  readonly access: Access;
  readonly now: () => number;
  readonly timers: Timers;
  readonly maxUnsentBytes: number;
  readonly watches: Set<WatchStream>;
}

function resourceOf(core: ApiServerCore, path: ResourcePath): ResourceInfo {
  const { group, version, resource } = path;
  const virtual = virtualResources.find(
    each => each.group === group && each.version === version && each.resource === resource,
  );
  const served = core.resource({ group, version, resource }) ?? virtual;
  if (served === undefined) throw isKnown(core, path) ? notServed() : new PathNotFound();
  if (path.namespace !== undefined && !served.namespaced) throw notServed();
  return served;
}

/** Built-in groups are known in any version, custom ones in those that they are served in. */
const isKnown = (core: ApiServerCore, { group, version }: ResourcePath): boolean =>
  core.resources().some(each => each.group === group && (each.schema === undefined || each.version === version));

/** A request for a resource, as far as it is read before its body. */
export interface ResourceCall {
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Starts a watch of a collection. */
function startWatch(front: Front, { path, query, response }: ResourceCall, shape: Shape): void {
  checkWatchVersion(query);
  const resourceVersion = query.get('resourceVersion') ?? '';
  const options = {
    ...listOptions(query, path.namespace),
    ...(resourceVersion === '' ? {} : { resourceVersion }),
    allowWatchBookmarks: flag(query, 'allowWatchBookmarks'),
    ...(query.has('sendInitialEvents') ? { sendInitialEvents: flag(query, 'sendInitialEvents') } : {}),
  };
  const settings = {
    timers: front.timers,
    maxUnsentBytes: front.maxUnsentBytes,
    timeoutSeconds: wholeNumber(query, 'timeoutSeconds') || defaultWatchSeconds,
    now: front.now,
    running: front.watches,
  };
  streamWatch(front.core, response, { shape, options }, settings);
}

/** Answers a request for a resource; undefined when it became a watch, which writes its own answer. */
export async function answerResource(front: Front, call: ResourceCall): Promise<Answer | undefined> {
  const { core, access } = front;
  const { path, query, user, request } = call;
  const method = request.method ?? 'GET';
  const { headers } = request;
  const resource = resourceOf(core, path);
  const isWatch = method === 'GET' && path.name === undefined && flag(query, 'watch');
  const representation = negotiate(headers.accept, isWatch);
  const shape: Shape = {
    resource,
    representation,
    includeObject: parseIncludeObject(query.get('includeObject')),
    now: front.now(),
  };
  const isReview = virtualResources.includes(resource);
  if (!isReview) checkServed(resource, path);
  const { text: body, contentType } = await readBody(request);
  const how = { encoding: representation.encoding, pretty: flag(query, 'pretty') };
  if (isReview) {
    if (method !== 'POST') throw methodNotServed();
    const asked = { resource, namespace: path.namespace, body: decodeObject(body, contentType) };
    return { code: 201, body: answerReview(asked, user, access), ...how };
  }
  if (isWatch) {
    startWatch(front, call, shape);
    return undefined;
  }
  if (method === 'GET' && path.name === undefined) checkListVersion(query, core.resourceVersion);
  const program = programOf(headers);
  const warnings: string[] = [];
  const warn = (message: string): number => warnings.push(message);
  const mayCreate = (): void =>
    access.check(user, { ...attributesOf(method, '', { kind: 'resource', ...path }, query), verb: 'create' });
  const sent = {
    method,
    path,
    resource,
    query,
    contentType,
    body,
    user: user.name,
    groups: user.groups,
    program,
    warn,
    mayCreate,
  };
  const outcome = executeRequest(core, sent);
  switch (outcome.kind) {
    case 'object':
      return { code: outcome.code, body: withoutEmptyVersion(shapeObject(outcome.object, shape)), warnings, ...how };
    case 'list':
      if (representation.as === undefined && how.encoding === 'json' && !how.pretty) {
        return { code: 200, body: listBytes(outcome.list, resource), contentType: 'application/json', warnings };
      }
      return { code: 200, body: shapeList(outcome.list, shape), warnings, ...how };
    case 'body':
      return { code: outcome.code, body: outcome.body, warnings, ...how };
  }
}
