/** Answers to everything that is no resource: health, version, discovery and OpenAPI. */
import { notServed } from '../status-errors.ts';
import type { ApiServerCore } from '../types.ts';
import { parseAccept } from './accept.ts';
import type { Answer } from './answer.ts';
import {
  aggregatedDiscovery,
  aggregatedVersion,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
  serverVersion,
} from './discovery.ts';
import { notAcceptable, PathNotFound } from './http-errors.ts';
import { openApiDocument, openApiIndex } from './openapi.ts';
import { openApiV2, openApiV2Protobuf, openApiV2ProtobufNames, openApiV2ProtobufType } from './openapi-v2.ts';
import type { RequestPath } from './request-path.ts';
import type { ServedGroup, ServedVersion } from './served-resources.ts';
import { servedGroups } from './served-resources.ts';

const rootPaths = ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'];

function groupOf(groups: readonly ServedGroup[], name: string): ServedGroup {
  const group = groups.find(each => each.group === name);
  if (group === undefined) throw new PathNotFound();
  return group;
}

function versionOf(groups: readonly ServedGroup[], name: string, version: string): ServedVersion {
  const served = groupOf(groups, name).versions.find(each => each.version === version);
  if (served === undefined) throw notServed();
  return served;
}

function aggregatedAnswer(groups: readonly ServedGroup[], version: 'v2' | 'v2beta1'): Answer {
  const contentType = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  return { code: 200, body: aggregatedDiscovery(groups, version), contentType };
}

/** JSON is the only encoding of OpenAPI v3 here; a client that accepts only protobuf gets 406. */
function checkJsonAccepted(accept: string | undefined): void {
  const types = new Set(['application/json', 'application/*', '*/*']);
  if (!parseAccept(accept).some(({ type }) => types.has(type))) throw notAcceptable(['application/json']);
}

/** Answers a GET of a path that names no resource. Throws `ApiStatusError`. */
export function answerDocument(
  core: ApiServerCore,
  path: Exclude<RequestPath, { kind: 'resource' }>,
  accept: string | undefined,
  host: string,
): Answer {
  const groups = (): readonly ServedGroup[] => servedGroups(core.resources());
  const aggregated = aggregatedVersion(accept);
  switch (path.kind) {
    case 'health':
      return { code: 200, body: 'ok' };
    case 'version':
      return { code: 200, body: serverVersion };
    case 'root':
      return { code: 200, body: { paths: rootPaths } };
    case 'core-versions':
      if (aggregated === undefined) return { code: 200, body: coreVersions(host) };
      return aggregatedAnswer(
        groups().filter(({ group }) => group === ''),
        aggregated,
      );
    case 'groups':
      if (aggregated === undefined) return { code: 200, body: groupList(groups()) };
      return aggregatedAnswer(
        groups().filter(({ group }) => group !== ''),
        aggregated,
      );
    case 'group':
      return { code: 200, body: groupDocument(groupOf(groups(), path.group)) };
    case 'group-version': {
      const { resources } = versionOf(groups(), path.group, path.version);
      return { code: 200, body: resourceList(path.group, path.version, resources) };
    }
    case 'openapi-v2':
      if (openApiV2ProtobufNames.has(parseAccept(accept)[0]?.type ?? '')) {
        return { code: 200, body: openApiV2Protobuf, contentType: openApiV2ProtobufType };
      }
      checkJsonAccepted(accept);
      return { code: 200, body: openApiV2 };
    case 'openapi-v3-index':
      checkJsonAccepted(accept);
      return { code: 200, body: openApiIndex(groups()) };
    case 'openapi-v3':
      checkJsonAccepted(accept);
      return { code: 200, body: openApiDocument(versionOf(groups(), path.group, path.version)) };
    case 'unknown':
      throw new PathNotFound();
  }
}
