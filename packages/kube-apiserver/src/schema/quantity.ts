/** Resource quantities (`100m`, `1.5Gi`, `1e3`) as exact numbers of nano-units, for the quantity functions of rules. */

const QUANTITY = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d+))?$/;
const NANO_DIGITS = 9;
const DECIMAL_POWERS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY_SUFFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** With a binary suffix, what is more is this much: the largest signed 64-bit number of units. */
const MAX_UNITS = 2n ** 63n - 1n;
const UNIT = 10n ** BigInt(NANO_DIGITS);
const MAX_EXPONENT = 100;

export class Quantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  /** True when this is a whole number. */
  get isInteger(): boolean {
    return this.nanos % UNIT === 0n;
  }

  /** The whole units. */
  get units(): bigint {
    return this.nanos / UNIT;
  }

  get approximate(): number {
    return Number(this.nanos) / Number(UNIT);
  }
}

/** @returns undefined for a text that is no quantity. Below a nano-unit it is rounded up, as Kubernetes does. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign, digits = '', binary, decimal, exponent] = match;
  const [whole = '', fraction = ''] = digits.split('.');
  const power = decimal === undefined ? Number(exponent ?? 0) : (DECIMAL_POWERS[decimal] ?? 0);
  if (Math.abs(power) > MAX_EXPONENT) return undefined;
  const factor = binary === undefined ? 1n : 1024n ** BigInt(BINARY_SUFFIXES.indexOf(binary) + 1);
  const significand = BigInt(`${whole}${fraction}` || '0') * factor;
  const shift = power - fraction.length + NANO_DIGITS;
  const nanos = shift >= 0 ? significand * 10n ** BigInt(shift) : divideUp(significand, 10n ** BigInt(-shift));
  const size = binary !== undefined && nanos > MAX_UNITS * UNIT ? MAX_UNITS * UNIT : nanos;
  return new Quantity(sign === '-' ? -size : size);
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
