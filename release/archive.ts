/** Archives with the same bytes for the same files: no owner, no time of the machine, entries in order. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

export interface Entry {
  /** With `/`, relative. */
  readonly path: string;
  readonly contents: Uint8Array | string;
  /** Default: no. */
  readonly isExecutable?: boolean;
}

const BLOCK = 512;
/** What cannot say the time of a file says this: 1980 is where ZIP begins. */
const ZIP_DATE = (1 << 5) | 1;

const byPath = (a: Entry, b: Entry): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
const bytesOf = ({ contents }: Entry): Buffer =>
  typeof contents === 'string' ? Buffer.from(contents) : Buffer.from(contents);

/** A ustar archive. Throws for a path that it cannot hold. */
export function tarOf(entries: readonly Entry[]): Buffer {
  const blocks = entries.toSorted(byPath).flatMap(entry => {
    const bytes = bytesOf(entry);
    return [headerOf(entry, bytes.length), bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** Gzip without a time, and without the system that it was made on. */
export function gzipOf(bytes: Uint8Array): Buffer {
  const packed = gzipSync(bytes, { level: 9 });
  packed.fill(0, 4, 8);
  packed[9] = 0xff;
  return packed;
}

export const tarGzOf = (entries: readonly Entry[]): Buffer => gzipOf(tarOf(entries));

function headerOf({ path, isExecutable = false }: Entry, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const [prefix, name] = split(path);
  const octal = (value: number, at: number, length: number): void =>
    void header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  header.write(name, 0, 'utf8');
  octal(isExecutable ? 0o755 : 0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write('        ', 148, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  header.write(prefix, 345, 'utf8');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** ustar has 155 bytes for folders and 100 for what follows. */
function split(path: string): readonly [string, string] {
  if (Buffer.byteLength(path) <= 100) return ['', path];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return [prefix, name];
  }
  throw new Error(`${path} is too long for a tar archive`);
}

/** A ZIP archive, as Lambda takes it: everybody may read what is in it. */
export function zipOf(entries: readonly Entry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries.toSorted(byPath)) {
    const bytes = bytesOf(entry);
    const packed = deflateRawSync(bytes, { level: 9 });
    const name = Buffer.from(entry.path);
    const common = Buffer.alloc(26);
    // Version 2.0, names in UTF-8, deflate.
    [20, 0x800, 8, 0, ZIP_DATE].forEach((value, index) => common.writeUInt16LE(value, index * 2));
    [crc32(bytes), packed.length, bytes.length].forEach((value, index) => common.writeUInt32LE(value, 10 + index * 4));
    common.writeUInt16LE(name.length, 22);
    files.push(signature('PK\u0003\u0004'), common, name, packed);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(((0o100000 | (entry.isExecutable === true ? 0o755 : 0o644)) << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    // Made by Unix, so that the mode counts.
    directory.push(signature('PK\u0001\u0002'), Buffer.from([20, 3]), common, rest, name);
    offset += 30 + name.length + packed.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listing.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, listing, signature('PK\u0005\u0006'), end]);
}

const signature = (text: string): Buffer => Buffer.from(text, 'latin1');
