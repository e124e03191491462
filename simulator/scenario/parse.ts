/** Reads scenario files: YAML, schema, then what only the whole file can say. Every fault carries its place; all are reported. */
import { isScalar, LineCounter, parseAllDocuments, type Document } from 'yaml';
import type { z } from 'zod';
import { withoutPaths } from '../../shared/domain/json.ts';
import { isMisspelling } from '../../shared/domain/nearest-name.ts';
import { toScenario } from './document.ts';
import { expectationByName } from './expectation-schema.ts';
import { flattenLists } from './lists.ts';
import { beginningOf } from './objects.ts';
import { describeIssue, describeUnknown } from './messages.ts';
import { placeAt, placeOf, type Path } from './places.ts';
import { complainAboutDuplicates, complainAboutNames } from './complaints.ts';
import type { ResourceCatalog } from './resource-names.ts';
import type { ParsedScenarios, Place, Scenario, ScenarioFault } from './scenario.ts';
import { scenarioSchema, type ScenarioDocument } from './schema.ts';
import { firstFailure, isOverflow, TOO_DEEP } from './yaml-failures.ts';
import { readValue } from './yaml-value.ts';

type Locate = (path: Path) => Place;

/** Parses one file, which may hold several documents. */
export function parseScenarios(text: string, file: string, catalog: ResourceCatalog): ParsedScenarios {
  const lines = new LineCounter();
  const tooDeep: ParsedScenarios = {
    ok: false,
    faults: [{ place: { file, line: 1, path: '' }, message: TOO_DEEP }],
  };
  try {
    const documents = parseAllDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false });
    const overflow = documents.some(({ errors }) => errors.some(({ message }) => isOverflow(message)));
    return overflow ? tooDeep : parseDocuments(documents, file, lines, catalog);
  } catch (error) {
    // Parser and schema recurse.
    if (error instanceof RangeError && isOverflow(error.message)) return tooDeep;
    throw error;
  }
}

function parseDocuments(
  documents: readonly Document[],
  file: string,
  lines: LineCounter,
  catalog: ResourceCatalog,
): ParsedScenarios {
  const faults: ScenarioFault[] = [];
  const scenarios: Scenario[] = [];
  for (const document of documents) {
    const failure = firstFailure(document.errors);
    if (failure !== undefined) faults.push({ place: placeAt(file, lines, failure.offset), message: failure.message });
    if (failure !== undefined || isEmpty(document)) continue;
    const parsed = parseDocument(document, file, lines, catalog);
    if (Array.isArray(parsed)) faults.push(...parsed);
    else scenarios.push(parsed);
  }
  if (faults.length > 0) return { ok: false, faults };
  if (scenarios.length > 0) return { ok: true, scenarios };
  return { ok: false, faults: [{ place: { file, line: 1, path: '' }, message: 'the file holds no Scenario' }] };
}

/** What stands after a last `---`. */
function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

function parseDocument(
  document: Document,
  file: string,
  lines: LineCounter,
  catalog: ResourceCatalog,
): Scenario | ScenarioFault[] {
  const written: Locate = path => placeOf(file, document, lines, path);
  const read = readValue(file, document, lines);
  if (!read.ok) return [{ place: read.place, message: read.message }];
  const { value } = read;
  const other = complainAboutKind(value);
  if (other !== undefined) return [{ place: written(['kind']), message: other }];
  const flat = flattenLists(value);
  if (flat.misplaced.length > 0) return flat.misplaced.map(({ path, message }) => ({ place: written(path), message }));
  const locate: Locate = path => written(flat.origin(path));
  const { data, issues } = readDocument(flat.value);
  const faults: ScenarioFault[] = issues.flatMap(issue => toFaults(issue, scenarioSchema, locate));
  if (data === undefined) return faults.toSorted(byLine);
  const beginning = beginningOf(data, { file, catalog, locate }, faults);
  const scenario = toScenario(data, beginning, { file, locate }, faults);
  const complaints = complainAboutNames(scenario, { beginning, spec: data.spec, locate }, catalog);
  faults.push(...complainAboutDuplicates(scenario.objects), ...complaints.filter(({ isDoubt }) => isDoubt !== true));
  if (faults.length > 0) return faults.toSorted(byLine);
  const misnamed = complaints.filter(({ isDoubt }) => isDoubt === true);
  const doubts = [...misnamed, ...doubtsAboutExpectations(data, locate)].toSorted(byLine);
  return { ...scenario, doubts };
}

/** An unknown field hides nothing else: without it, the rest is read as well. `data` is undefined where that cannot be. */
function readDocument(value: unknown): {
  readonly data: ScenarioDocument | undefined;
  readonly issues: readonly z.core.$ZodIssue[];
} {
  const result = scenarioSchema.safeParse(value, { error: describeIssue });
  if (result.success) return { data: result.data, issues: [] };
  const { issues } = result.error;
  const unknown = issues.filter(issue => issue.code === 'unrecognized_keys');
  if (unknown.length === 0) return { data: undefined, issues };
  const fields = unknown.flatMap(({ path, keys }) => keys.map(key => [...path, key]));
  const rest = readDocument(withoutPaths(value, fields));
  return { data: rest.data, issues: [...unknown, ...rest.issues] };
}

const byLine = (a: ScenarioFault, b: ScenarioFault): number =>
  a.place.file === b.place.file ? a.place.line - b.place.line : 0;

/** Names in expectations that nothing of Curfew's has. */
function doubtsAboutExpectations({ spec }: ScenarioDocument, locate: Locate): ScenarioFault[] {
  return (spec.expect ?? []).flatMap((each, index) => {
    const { error } = expectationByName.safeParse(each, { error: describeIssue });
    const at: Locate = path => locate(['spec', 'expect', index, ...path]);
    return (error?.issues ?? []).flatMap(issue => toFaults(issue, expectationByName, at));
  });
}

/** Something else than a Scenario is said so once, not field by field. */
function complainAboutKind(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'this is no Scenario: a Scenario has the fields apiVersion, kind, metadata and spec';
  }
  const kind: unknown = Reflect.get(value, 'kind');
  if (kind === 'Scenario') return undefined;
  if (typeof kind === 'string' && isMisspelling(kind, ['Scenario']))
    return `unknown kind ${JSON.stringify(kind)}, did you mean "Scenario"?`;
  return typeof kind === 'string'
    ? `this is a ${kind}, no Scenario: put it under spec.objects of one, or check it by itself with \`curfew validate\``
    : 'this is no Scenario: it has no field kind';
}

/** An unknown field stands at its own key. */
function toFaults(issue: z.core.$ZodIssue, schema: z.core.$ZodType, locate: Locate): ScenarioFault[] {
  if (issue.code !== 'unrecognized_keys') return [{ place: locate(issue.path), message: issue.message }];
  return issue.keys.map(key => ({
    place: locate([...issue.path, key]),
    message: describeUnknown(schema, issue.path, key),
  }));
}
