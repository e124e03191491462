/** The protobuf wire format: fields of a message, in order. https://protobuf.dev/programming-guides/encoding/ */

export interface WireField {
  readonly number: number;
  /** A varint, or the bytes of a length-delimited field. Kubernetes uses no other wire type in requests. */
  readonly value: bigint | Uint8Array;
}

/** The body ends too early, or its fields are not as their message has them. */
export class MalformedProtobuf extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedProtobuf';
  }
}

class Reader {
  #position = 0;
  readonly #bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#position >= this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#position];
      if (byte === undefined) throw new MalformedProtobuf('a number is cut off');
      this.#position += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new MalformedProtobuf('a number is longer than 64 bits');
  }

  bytes(length: bigint): Uint8Array {
    const end = BigInt(this.#position) + length;
    if (end > BigInt(this.#bytes.length)) throw new MalformedProtobuf('a field is cut off');
    const value = this.#bytes.subarray(this.#position, Number(end));
    this.#position = Number(end);
    return value;
  }
}

/** Splits a message into its fields. Throws `MalformedProtobuf`. */
export function readFields(message: Uint8Array): readonly WireField[] {
  const reader = new Reader(message);
  const fields: WireField[] = [];
  while (!reader.done) {
    const tag = reader.varint();
    const number = Number(tag >> 3n);
    const wireType = Number(tag & 7n);
    if (wireType === 0) fields.push({ number, value: reader.varint() });
    else if (wireType === 2) fields.push({ number, value: reader.bytes(reader.varint()) });
    else throw new MalformedProtobuf(`field ${number} has wire type ${wireType}`);
  }
  return fields;
}
