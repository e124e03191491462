/**
 * OpenAPI v2: valid and empty, because everything is in v3. kubectl still asks for it, as protobuf, when v3 does not know a kind,
 * and goes on without client-side validation when v2 does not know it either.
 */
import type { JsonObject } from '../json.ts';
import { gitVersion } from './discovery.ts';

/** What clients ask for, by its old and its new name, and what they are told they get: `@` is not valid in a media type. */
export const openApiV2ProtobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
export const openApiV2ProtobufNames: ReadonlySet<string> = new Set([
  openApiV2ProtobufType,
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
]);

const title = 'Kubernetes';

export const openApiV2: JsonObject = {
  swagger: '2.0',
  info: { title, version: gitVersion },
  paths: {},
  definitions: {},
};

/** A length-delimited protobuf field of less than 128 bytes. */
function field(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

/** The same document as an `openapi.v2.Document` message: `swagger` 1, `info` 2 (`title` 1, `version` 2), `paths` 8. */
export const openApiV2Protobuf: Buffer = Buffer.concat([
  field(1, '2.0'),
  field(2, Buffer.concat([field(1, title), field(2, gitVersion)])),
  field(8, ''),
]);
