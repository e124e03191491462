/**
 * The JSONPath of Kubernetes, as far as `additionalPrinterColumns` use it: fields (`.a`, `.a\.b`, `['a.b']`), elements
 * (`[0]`, `[-1]`, `[1:3]`), all (`[*]`, `.*`) and filters that compare one path with a literal
 * (`[?(@.type=="Ready")]`, `[?(@.count>2)]`).
 * https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
import { isObject } from '../json.ts';

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'exists';
type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'slice'; readonly from: number; readonly to: number | undefined }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | {
      readonly kind: 'filter';
      readonly path: readonly Step[];
      readonly comparison: Comparison;
      readonly literal: unknown;
    };

const fieldPattern = /^\.((?:\\.|[^.[\\])+)/;
const bracketPattern = /^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|(-?\d+)|(-?\d*):(-?\d*)|(\*))\]/;
const filterPattern =
  /^\[\?\(\s*@((?:"[^"]*"|'[^']*'|[^()])*?)\s*(?:(==|!=|<=|>=|<|>)\s*("(?:[^"]*)"|'(?:[^']*)'|[^)\s]+)\s*)?\)\]/;

function unescape(name: string): string {
  return name.replaceAll(/\\(.)/g, '$1');
}

function literalOf(text: string): unknown {
  if (/^["']/.test(text)) return text.slice(1, -1);
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function comparisonOf(text: string | undefined): Comparison {
  switch (text) {
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return text;
    case undefined:
    default:
      return 'exists';
  }
}

/** Parses a path (with or without its surrounding braces). Undefined when it is not in the subset above. */
export function parseJsonPath(source: string): readonly Step[] | undefined {
  let rest = source.trim().replace(/^\{(.*)\}$/, '$1');
  if (rest.startsWith('$')) rest = rest.slice(1);
  const steps: Step[] = [];
  while (rest !== '' && rest !== '.') {
    const field = fieldPattern.exec(rest);
    const bracket = field ? null : bracketPattern.exec(rest);
    const filter = field || bracket ? null : filterPattern.exec(rest);
    if (field?.[1] !== undefined) {
      const name = field[1].trim();
      steps.push(name === '*' ? { kind: 'all' } : { kind: 'field', name: unescape(name) });
    } else if (bracket) {
      const [, single, double, index, from, to, all] = bracket;
      const name = single ?? double;
      if (name !== undefined) steps.push({ kind: 'field', name: unescape(name) });
      else if (index !== undefined) steps.push({ kind: 'index', index: Number(index) });
      else if (all !== undefined) steps.push({ kind: 'all' });
      else
        steps.push({ kind: 'slice', from: Number(from), to: to === '' || to === undefined ? undefined : Number(to) });
    } else if (filter?.[1] !== undefined) {
      const path = parseJsonPath(filter[1]);
      if (path === undefined) return undefined;
      const literal = filter[3] === undefined ? undefined : literalOf(filter[3]);
      steps.push({ kind: 'filter', path, comparison: comparisonOf(filter[2]), literal });
    } else {
      return undefined;
    }
    rest = rest.slice((field ?? bracket ?? filter)?.[0].length ?? rest.length);
  }
  return steps;
}

function matches(found: readonly unknown[], comparison: Comparison, literal: unknown): boolean {
  const [value] = found;
  if (comparison === 'exists') return found.length > 0;
  if (found.length === 0) return false;
  if (comparison === '==') return value === literal;
  if (comparison === '!=') return value !== literal;
  if (typeof value === 'number' && typeof literal === 'number') {
    if (comparison === '<') return value < literal;
    if (comparison === '<=') return value <= literal;
    return comparison === '>' ? value > literal : value >= literal;
  }
  return false;
}

function children(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function take(value: unknown, step: Step): readonly unknown[] {
  switch (step.kind) {
    case 'field':
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index':
      return Array.isArray(value) && value.at(step.index) !== undefined ? [value.at(step.index)] : [];
    case 'slice':
      return Array.isArray(value) ? value.slice(step.from, step.to) : [];
    case 'all':
      return children(value);
    case 'filter':
      return children(value).filter(child =>
        matches(evaluateJsonPath(step.path, child), step.comparison, step.literal),
      );
  }
}

/** Every value that the path finds; missing keys find nothing. */
export function evaluateJsonPath(path: readonly Step[], value: unknown): readonly unknown[] {
  return path.reduce<readonly unknown[]>((found, step) => found.flatMap(each => take(each, step)), [value]);
}
