/** Content negotiation: which representation of an answer a client asked for. */
import { createMemory } from '../memory.ts';
import { notAcceptable } from './http-errors.ts';

export type Encoding = 'json' | 'yaml';

/** Another kind that an answer is turned into before it is sent. */
export type Conversion = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Representation {
  readonly encoding: Encoding;
  readonly as?: Conversion;
  /** Version of `meta.k8s.io` for `as`. */
  readonly metaVersion?: 'v1' | 'v1beta1';
}

export interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const encodings: ReadonlyMap<string, Encoding> = new Map([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/*', 'json'],
  ['*/*', 'json'],
]);

/** The clauses of an `Accept` header, the most wanted first (by `q`, then as written). */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === '') return [{ type: '*/*', parameters: new Map() }];
  const ranges = header.split(',').map(clause => {
    const [type = '', ...rest] = clause.split(';').map(part => part.trim());
    const parameters = new Map<string, string>();
    for (const parameter of rest) {
      const equals = parameter.indexOf('=');
      if (equals > 0) parameters.set(parameter.slice(0, equals).toLowerCase(), parameter.slice(equals + 1));
    }
    const quality = Number(parameters.get('q') ?? '1');
    return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
  });
  return ranges.filter(range => range.quality > 0).toSorted((a, b) => b.quality - a.quality);
}

function conversionOf(range: MediaRange): Pick<Representation, 'as' | 'metaVersion'> | undefined {
  const as = range.parameters.get('as');
  if (as === undefined) return {};
  const version = range.parameters.get('v');
  if (range.parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined;
  return { as, metaVersion: version };
}

/** By header: clients send few different ones, each with every request. */
const negotiated = createMemory<Representation>(100);

/**
 * The representation of an object or a list that a client wants most of those that are served.
 * A watch streams JSON only. Throws 406 when the client wants none of them (protobuf only, for example).
 */
export function negotiate(header: string | undefined, streams = false): Representation {
  return negotiated.get(`${streams} ${header ?? ''}`, () => findRepresentation(header, streams));
}

function findRepresentation(header: string | undefined, streams: boolean): Representation {
  for (const range of parseAccept(header)) {
    const encoding = encodings.get(range.type);
    const conversion = conversionOf(range);
    if (encoding === undefined || (streams && encoding !== 'json')) continue;
    if (conversion !== undefined) return { encoding, ...conversion };
  }
  throw notAcceptable(streams ? ['application/json;stream=watch'] : ['application/json', 'application/yaml']);
}
