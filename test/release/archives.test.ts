/** Archives as others read them, and the same bytes whatever the order of the files was. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tarGzOf, tarOf, zipOf, type Entry } from '../../release/archive.ts';

const LONG = `${'folder/'.repeat(20)}file-${'x'.repeat(60)}.txt`;
const ENTRIES: readonly Entry[] = [
  { path: 'b.txt', contents: 'b' },
  { path: 'bin/run', contents: '#!/bin/sh\n', isExecutable: true },
  { path: LONG, contents: 'deep' },
  { path: 'a/ü.txt', contents: 'y'.repeat(100_000) },
  { path: 'empty', contents: '' },
];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-archives-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('tar unpacks what was packed', () => {
  writeFileSync(join(folder, 'x.tgz'), tarGzOf(ENTRIES));
  execFileSync('tar', ['-xzf', 'x.tgz'], { cwd: folder });
  for (const { path, contents } of ENTRIES) expect(readFileSync(join(folder, path), 'utf8')).toBe(contents);
  expect(statSync(join(folder, 'bin/run')).mode & 0o777).toBe(0o755);
  expect(statSync(join(folder, 'b.txt')).mode & 0o777).toBe(0o644);
});

it('a ZIP has each file, whole, readable by everybody', () => {
  const zip = zipOf(ENTRIES);
  const end = zip.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  const found: Record<string, string> = {};
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    expect(zip.toString('latin1', at, at + 4)).toBe('PK\u0001\u0002');
    const [size, nameLength, offset] = [
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
      zip.readUInt32LE(at + 42),
    ];
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const start = offset + 30 + zip.readUInt16LE(offset + 26);
    const contents = inflateRawSync(zip.subarray(start, start + size));
    expect([crc32(contents), contents.length]).toEqual([zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 24)]);
    expect((zip.readUInt32LE(at + 38) >>> 16) & 0o777).toBe(name === 'bin/run' ? 0o755 : 0o644);
    found[name] = contents.toString();
    at += 46 + nameLength;
  }
  expect(at).toBe(end);
  expect(found).toEqual(Object.fromEntries(ENTRIES.map(({ path, contents }) => [path, contents])));
});

it.each([
  ['tar', tarGzOf],
  ['ZIP', zipOf],
])('%s: the same bytes whatever the order was', (_, pack) => {
  expect(pack(ENTRIES.toReversed()).equals(pack(ENTRIES))).toBe(true);
});

it('refuses a path that tar cannot hold', () => {
  expect(() => tarOf([{ path: 'x'.repeat(101), contents: '' }])).toThrow('is too long for a tar archive');
});
