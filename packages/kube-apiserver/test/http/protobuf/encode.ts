/** Writes the protobuf wire format, to make bodies as Go clients send them. */

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** A field: a number as a varint, text or a message length-delimited. */
export function field(number: number, value: number | bigint | string | Uint8Array): Buffer {
  if (typeof value === 'number' || typeof value === 'bigint')
    return Buffer.concat([varint(number << 3), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

export function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

/** A body: prefix, type and the message. */
export function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = message(field(1, apiVersion), field(2, kind));
  return Buffer.concat([Buffer.from('k8s\0'), message(field(1, type), field(2, raw), field(3, ''), field(4, ''))]);
}
