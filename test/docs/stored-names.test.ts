/** The page on names in the table lists those that the code has left: those of each codec, and those that stored records show. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { STORED_NAMES } from '../../functions/repair/record.ts';
import { fieldsOf, listIn, textOrEmpty } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { RECORD_TYPES } from '../fixtures/items/record-types.ts';
import { DOCUMENTS, ROOT } from './documents.ts';

const { text = '' } = DOCUMENTS.find(({ file }) => file === 'docs/internals/stored-names.md') ?? {};
const FROZEN = join(ROOT, 'test/fixtures/items/v1');

/** The records of the page, by the name of their type in the fixtures. */
const RECORDS: Readonly<Record<string, string>> = {
  'grace-period': 'grace-period/node/UID',
  'repair-node': 'repair/node/UID',
  'repair-pool': 'repair/pool/NAME',
  'concurrent-repairs': 'repair/concurrent-repairs',
  drain: 'drain/node/UID',
  finalizer: 'finalizer/nodeclaim/UID',
  ledger: 'finalizer/object/UID',
  orphan: 'finalizer/instance/ID',
  'rule-calls': 'finalizer/rule-calls/UID',
};

/** Files of the schemas that do not stand beside their codec. */
const SCHEMAS: Readonly<Record<string, readonly string[]>> = {
  'repair-node': ['functions/repair/node/record.ts', 'functions/repair/node/attempt-record.ts'],
  'repair-pool': ['functions/repair/pool-record.ts'],
  drain: ['functions/drain/request-record.ts'],
};

/** Stored names within parts of a record. */
const PARTS: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  'repair-node': [STORED_NAMES.incident, STORED_NAMES.leftovers],
  'repair-pool': [STORED_NAMES.counts],
};

const namesIn = (cell = ''): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const rows = text
  .split('\n')
  .filter(line => line.startsWith('| `'))
  .map(line => {
    const [record, stored, own] = line.slice(2, -2).split(' | ').map(namesIn);
    return { record: record?.[0] ?? '', stored: stored ?? [], own: own ?? [] };
  });
const rowsOf = (type: string) => rows.filter(({ record }) => record === RECORDS[type]);

/** All names of fields of a value, at any depth. */
function fieldNames(value: unknown, into = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const each of value) fieldNames(each, into);
  else {
    for (const [name, each] of Object.entries(fieldsOf(value))) {
      into.add(name);
      fieldNames(each, into);
    }
  }
  return into;
}

/** The states of frozen items whose key begins as that of this record. */
function frozenStates(record: string): readonly JsonObject[] {
  const [owner = '', kind = ''] = record.split('/');
  return frozen
    .filter(item => item['owner'] === owner && textOrEmpty(item['id']).split('/')[0] === kind)
    .map(item => {
      const { schemaVersion: _, closing: __, ...state } = fieldsOf(item['state']);
      return state;
    });
}
const frozen = readdirSync(FROZEN)
  .filter(file => file.endsWith('.yaml'))
  .flatMap(file => parseAllDocuments(readFileSync(join(FROZEN, file), 'utf8')))
  .flatMap(document => listIn(document.toJSON(), 'items').map(fieldsOf));

describe('the page on names in the table', () => {
  it('is about each type of record whose codec states stored names', () => {
    const stating = RECORD_TYPES.filter(({ codec }) => codec.storedNames !== undefined).map(({ name }) => name);
    expect(stating.toSorted()).toEqual(Object.keys(RECORDS).toSorted());
  });

  it.each(Object.keys(RECORDS))('has the stored names that the codec of %s states', type => {
    const { codec } = RECORD_TYPES.find(({ name }) => name === type) ?? {};
    const parts = PARTS[type] ?? [];
    const stated = [codec?.storedNames ?? {}, ...parts].flatMap(names => Object.entries<string>(names));
    const listed = rowsOf(type).map(({ own, stored }) => `${own.join()} ${stored.join()}`);
    expect(stated.map(each => each.join(' ')).filter(each => !listed.includes(each))).toEqual([]);
  });

  it.each(Object.keys(RECORDS))('has the fields of stored records of %s that the code calls otherwise', type => {
    const { codec, samples = [] } = RECORD_TYPES.find(({ name }) => name === type) ?? {};
    const own = new Set<string>();
    const stored = new Set<string>();
    for (const state of [...samples, ...frozenStates(RECORDS[type] ?? '')]) {
      const value = codec?.parse(state);
      fieldNames(JSON.parse(JSON.stringify(value)), own);
      fieldNames(codec?.toState(value), stored);
    }
    const listed = new Set(rowsOf(type).flatMap(each => each.stored));
    expect([...stored].filter(name => !own.has(name) && !listed.has(name))).toEqual([]);
  });

  it.each(Object.keys(RECORDS))('names what stands in the code of %s', type => {
    const { file = '' } = RECORD_TYPES.find(({ name }) => name === type) ?? {};
    const code = [file, ...(SCHEMAS[type] ?? [])].map(each => readFileSync(join(ROOT, each), 'utf8')).join('\n');
    const named = rowsOf(type).flatMap(({ stored, own }) => [...stored, ...own]);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(name => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
  });

  it('has no row for another record', () => {
    expect(rows.filter(({ record }) => !Object.values(RECORDS).includes(record))).toEqual([]);
  });
});
