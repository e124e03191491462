/**
 * Every conformance line of a concern that is shipped is covered by a scenario (`metadata.annotations.conformance: "H1 H3"`) or by a
 * test whose title names the line, at its beginning or in parentheses.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { exampleFiles, scenariosIn } from '../examples/files.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import { karpenterLines, nvsentinelLines, TABLE_ROWS } from './lines.ts';
import { NOT_APPLICABLE } from './not-applicable.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Whose concern the lines are, by the letters of their id; a line of its own goes before. */
const OWNERS: Readonly<Record<string, FunctionName>> = {
  N: 'finalizer',
  Q: 'drain',
  H: 'repair',
  L: 'finalizer',
  G: 'finalizer',
  X: 'grace-period',
  P: 'grace-period',
  A: 'grace-period',
  R: 'repair',
  NV: 'drain',
  // What stays of a protection, and of a budget, when a node is drained.
  ...Object.fromEntries(['P1', 'P3', 'X18', 'A20', 'A21'].map(id => [id, 'drain'] as const)),
};
const IDS = [...karpenterLines(), ...nvsentinelLines()].map(({ id }) => id).concat(TABLE_ROWS);
const ownerOf = (id: string): FunctionName | undefined => OWNERS[id] ?? OWNERS[id.replace(/\d+$/, '')];

/** Scenario names by the ids that they carry. */
function idsOfScenarios(): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, readonly string[]>();
  for (const file of exampleFiles()) {
    for (const { name, annotations } of scenariosIn(file)) {
      for (const id of annotations['conformance']?.split(/[\s,]+/) ?? []) ids.set(id, [...(ids.get(id) ?? []), name]);
    }
  }
  return ids;
}

const ID = String.raw`[A-Z]{1,2}\d+`;
/** A quoted text that begins with ids, or has some in parentheses. */
const TITLE = new RegExp(String.raw`(['"\`])(?:(${ID}(?:, ${ID})*)\b|(?:(?!\1).)*?\((${ID}(?:, ${ID})*)\)).*?\1`, 'g');

function idsOfTests(): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const file of globSync('test/{conformance,functions,shared}/**/*.test.ts', { cwd: ROOT })) {
    if (file.endsWith('conformance/coverage.test.ts')) continue;
    for (const [, , first = '', inner = ''] of readFileSync(ROOT + file, 'utf8').matchAll(TITLE)) {
      for (const id of `${first}, ${inner}`.matchAll(new RegExp(ID, 'g'))) ids.add(id[0]);
    }
  }
  return ids;
}

const ofScenarios = idsOfScenarios();
const ofTests = idsOfTests();
const isCovered = (id: string): boolean => ofScenarios.has(id) || ofTests.has(id);

describe('conformance', () => {
  it('reads the fixtures', () => {
    expect(karpenterLines().length).toBeGreaterThan(100);
    expect(nvsentinelLines().length).toBeGreaterThan(70);
    expect(IDS.filter(id => ownerOf(id) === undefined)).toEqual([]);
  });

  it('every line of a shipped concern is covered', () => {
    const missing = IDS.filter(id => {
      const owner = ownerOf(id);
      return FUNCTION_NAMES.some(name => name === owner) && !isCovered(id) && !NOT_APPLICABLE.has(id);
    });
    expect(missing).toEqual([]);
  });

  it('what needs no test is not tested, and is a line', () => {
    const idle = [...NOT_APPLICABLE.keys()].filter(id => isCovered(id) || !IDS.includes(id));
    expect(idle).toEqual([]);
  });

  it('scenarios carry no id that is none', () => {
    expect([...ofScenarios].filter(([id]) => !IDS.includes(id))).toEqual([]);
  });
});
