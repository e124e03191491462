/** Runs vectors written by Go: the same template and data must give the same bytes or the same error. */
import { createHash } from 'node:crypto';
import { parse, type TemplateOptions, TemplateError } from '../src/index.ts';
import { vectorData } from './data.ts';

export interface Vector {
  readonly id: string;
  readonly template: string;
  readonly templates?: Readonly<Record<string, string>>;
  readonly missingkey?: NonNullable<TemplateOptions['missingkey']>;
  readonly struct?: boolean;
  readonly data?: unknown;
  readonly output?: string;
  readonly outputHex?: string;
  readonly outputBytes?: number;
  readonly outputSha256?: string;
  readonly error?: string;
  readonly errorKind?: 'parse' | 'exec';
}

/** How a vector's answer differs from ours. */
export interface Difference {
  readonly expected: string;
  readonly got: string;
}

const NAME = 'drain-template';
/** Go bounds nothing: a vector may be long. */
const LIMITS = { steps: 20_000_000 };

type Answer = { readonly octets: Uint8Array } | { readonly kind: string; readonly message: string };

function answer(vector: Vector): Answer {
  try {
    const template = parse(NAME, vector.template, {
      ...(vector.templates && { templates: vector.templates }),
      ...(vector.missingkey && { missingkey: vector.missingkey }),
      limits: LIMITS,
    });
    return { octets: template.executeBytes(vectorData(vector.data, vector.struct === true)) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { kind: error.kind, message: error.message };
  }
}

/** undefined when the vector holds. */
export function difference(vector: Vector): Difference | undefined {
  const got = answer(vector);
  const [expected, actual] =
    'octets' in got ? compareOutput(vector, got.octets) : compareError(vector, got.kind, got.message);
  return expected === actual ? undefined : { expected, got: actual };
}

function expectedText(vector: Vector): string {
  if (vector.error !== undefined) return `${vector.errorKind} error: ${vector.error}`;
  if (vector.outputSha256 !== undefined) return `${vector.outputBytes} bytes, SHA-256 ${vector.outputSha256}`;
  return vector.outputHex ?? JSON.stringify(vector.output);
}

function compareOutput(vector: Vector, octets: Uint8Array): [string, string] {
  const bytes = Buffer.from(octets);
  const expected = expectedText(vector);
  if (vector.outputSha256 !== undefined) {
    return [expected, `${bytes.length} bytes, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`];
  }
  if (vector.outputHex !== undefined) return [expected, bytes.toString('hex')];
  return [expected, JSON.stringify(bytes.toString('utf8'))];
}

function compareError(vector: Vector, kind: string, message: string): [string, string] {
  return [expectedText(vector), `${kind} error: ${message}`];
}
