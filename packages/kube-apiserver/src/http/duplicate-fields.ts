/** Fields that a body gives more than once: parsers keep the last one, so somebody's intent is lost without a word. */
import { parseDocument } from 'yaml';
import { badRequest } from '../status-errors.ts';

interface Level {
  /** Keys seen so far; undefined inside a list. */
  readonly keys: Set<string> | undefined;
  /** Path of this object or list, `spec.containers[0]`. */
  readonly path: string;
  key: string;
  index: number;
}

function childPath(level: Level | undefined): string {
  if (level === undefined) return '';
  if (level.keys === undefined) return `${level.path}[${level.index}]`;
  return level.path === '' ? level.key : `${level.path}.${level.key}`;
}

/** Paths of fields that valid JSON text repeats, in order. */
export function duplicateJsonFields(text: string): readonly string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  for (const [token, name, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\],]/g)) {
    const level = levels.at(-1);
    if (token === '{' || token === '[') {
      levels.push({ keys: token === '{' ? new Set() : undefined, path: childPath(level), key: '', index: 0 });
    } else if (token === '}' || token === ']') {
      levels.pop();
    } else if (token === ',') {
      if (level !== undefined) level.index += 1;
    } else if (level?.keys !== undefined && name !== undefined && colon !== undefined) {
      level.key = String(JSON.parse(name));
      if (level.keys.has(level.key)) found.push(childPath(level));
      level.keys.add(level.key);
    }
  }
  return found;
}

/** Text that is what its own value is written as gives each field once; nearly every client sends such text. */
const isCompactJson = (text: string, value: unknown): boolean => JSON.stringify(value) === text;

/** A body as it was sent, and what was read from it. */
export interface Decoded {
  readonly text: string;
  readonly isYaml: boolean;
  /** Not needed of YAML. */
  readonly value?: unknown;
}

/** What a YAML or JSON body repeats, one message each. The text has been parsed before. */
export function duplicateFieldMessages(text: string, isYaml: boolean): readonly string[] {
  if (!isYaml || text.trimStart().startsWith('{')) {
    return duplicateJsonFields(text).map(path => `duplicate field "${path}"`);
  }
  return parseDocument(text)
    .errors.filter(error => error.code === 'DUPLICATE_KEY')
    .map(error => `line ${error.linePos?.[0].line ?? 0}: key already set in map`);
}

/**
 * Applies `fieldValidation` to repeated fields. `what` begins the message of a refusal.
 * @throws ApiStatusError 400 with `Strict`
 */
export function checkDuplicateFields(
  { text, isYaml, value }: Decoded,
  what: string,
  options: { readonly fieldValidation?: string; readonly onWarning?: (message: string) => void },
): void {
  if (options.fieldValidation === 'Ignore' || (!isYaml && isCompactJson(text, value))) return;
  const messages = duplicateFieldMessages(text, isYaml);
  if (messages.length === 0) return;
  if (options.fieldValidation === 'Strict') throw badRequest(`${what}: strict decoding error: ${messages.join(', ')}`);
  for (const message of messages) options.onWarning?.(message);
}
