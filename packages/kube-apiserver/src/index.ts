/** What the package offers. Everything else is its own. */
export { createApiServer } from './api-server.ts';
export { forbiddenRequest, type RequestAttributes, type UserInfo } from './authorization/attributes.ts';
export { ALWAYS_ALLOW, MASTERS, type Authorizer } from './authorization/authorizer.ts';
export { createRbacAuthorizer } from './authorization/rbac.ts';
export type { AuthorizationOptions } from './http/access.ts';
export { serveApiServer, type RequestLogEntry, type ServedApi, type ServeOptions } from './http/server.ts';
export type { KubernetesManifest, KubernetesObject, ObjectRef, ResourceType } from './kubernetes-object.ts';
export { ApiStatusError, type ApiServerCore, type ApiServerOptions, type ObservedWrite } from './types.ts';
