/** Prints Go values by verb, as Go's fmt does. */
import { type Budget, isStackOverflow, LimitReached } from '../limits.ts';
import { type Bytes, encode } from '../text/bytes.ts';
import { isInt, isUint } from '../types/type.ts';
import {
  asBool,
  asComplex,
  asFloat,
  asInteger,
  asMap,
  asSlice,
  asString,
  asStruct,
  elemOf,
  isNilHeld,
  itemAt,
  type MapData,
  methodOf,
  type SliceData,
  sortedKeys,
  stringValue,
  type Value,
} from '../types/value.ts';
import { printComplex, printFloat, printHex, printInteger, printText } from './scalars.ts';
import { noFlags, Writer } from './writer.ts';

/** Stands for an address: Go's differ from run to run, ours tell nothing. */
const ADDRESS = 0xc000010000n;
const NIL = '<nil>';

export class Printer {
  readonly out: Writer;
  readonly #budget: Budget;
  /** Inside the text about a wrong verb: methods are not asked. */
  #erroring = false;

  constructor(budget: Budget) {
    this.#budget = budget;
    this.out = new Writer(budget);
  }

  /** One argument of Print or Printf; undefined = nil. */
  arg(value: Value | undefined, verb: string): void {
    if (value === undefined) {
      if (verb === 'T' || verb === 'v') this.out.pad(NIL);
      else this.#badVerb(undefined, verb);
    } else if (verb === 'T') this.out.string(value.type.name);
    else if (verb === 'p') this.#pointer(value, 'p');
    else if (!this.#byMethod(value, verb)) this.#print(value, verb, 0);
  }

  /** A value inside another one. */
  #element(value: Value, verb: string, depth: number): void {
    const dynamic = value.type.kind === 'interface' ? elemOf(value) : value;
    if (dynamic === undefined) this.out.write(this.out.flags.sharpV ? `${value.type.name}(nil)` : NIL);
    else if (!this.#byMethod(dynamic, verb)) this.#print(dynamic, verb, depth);
  }

  /** Uses the value's `Error` or `String` method, if it has one and the verb is for text. */
  #byMethod(value: Value, verb: string): boolean {
    if (this.#erroring) return false;
    if (verb === 'w') {
      this.#badVerb(value, verb);
      return true;
    }
    const { sharpV } = this.out.flags;
    if (!sharpV && !'vsxXq'.includes(verb)) return false;
    const names = sharpV ? ['GoString'] : ['Error', 'String'];
    const name = names.find(candidate => methodOf(value, candidate)?.params.length === 0);
    if (name === undefined) return false;
    this.#callMethod(value, name, verb);
    return true;
  }

  #callMethod(value: Value, name: string, verb: string): void {
    let text: Bytes;
    try {
      text = asString(methodOf(value, name)!.call([])!);
    } catch (error) {
      if (error instanceof LimitReached || isStackOverflow(error)) throw error;
      if (value.type.kind === 'pointer' && isNilHeld(value)) return this.out.write(NIL);
      const { flags } = this.out;
      this.out.flags = noFlags();
      this.out.write(
        `%!${verb}(PANIC=${name} method: ${encode(error instanceof Error ? error.message : String(error))})`,
      );
      this.out.flags = flags;
      return;
    }
    if (name === 'GoString') this.out.string(text);
    else printText(this.out, text, verb);
  }

  #badVerb(value: Value | undefined, verb: string): void {
    this.#erroring = true;
    this.out.write(`%!${verb}(`);
    if (value === undefined) this.out.write(NIL);
    else {
      this.out.write(value.type.name + '=');
      this.#print(value, 'v', 0);
    }
    this.out.write(')');
    this.#erroring = false;
  }

  #print(value: Value, verb: string, depth: number): void {
    this.#budget.spend(1);
    const { kind } = value.type;
    if (isInt(kind) || isUint(kind)) {
      return this.#unless(printInteger(this.out, asInteger(value), isUint(kind), verb), value, verb);
    }
    switch (kind) {
      case 'bool':
        if (verb === 't' || verb === 'v') return this.out.pad(String(asBool(value)));
        return this.#badVerb(value, verb);
      case 'float64':
        return this.#unless(printFloat(this.out, asFloat(value), verb), value, verb);
      case 'complex128':
        return this.#unless(printComplex(this.out, asComplex(value), verb), value, verb);
      case 'string':
        return this.#unless(printText(this.out, asString(value), verb), value, verb);
      case 'map':
        return this.#map(value, asMap(value), verb, depth);
      case 'struct':
        return this.#struct(value, verb, depth);
      case 'slice':
        return this.#slice(value, asSlice(value), verb, depth);
      case 'interface':
        return this.#element(value, verb, depth + 1);
      case 'pointer': {
        const target = depth === 0 ? elemOf(value) : undefined;
        if (target === undefined || !['slice', 'struct', 'map'].includes(target.type.kind))
          return this.#pointer(value, verb);
        this.out.write('&');
        return this.#element(target, verb, depth + 1);
      }
      default:
        return this.#pointer(value, verb);
    }
  }

  /** Reports a verb that is not for the value. */
  #unless(printed: boolean, value: Value, verb: string): void {
    if (!printed) this.#badVerb(value, verb);
  }

  #map(value: Value, map: MapData | null, verb: string, depth: number): void {
    const { sharpV } = this.out.flags;
    if (sharpV && map === null) return this.out.write(value.type.name + '(nil)');
    this.out.write(sharpV ? value.type.name + '{' : 'map[');
    for (const [i, key] of (map === null ? [] : sortedKeys(map)).entries()) {
      this.#separator(i);
      this.#unless(printText(this.out, key, verb), stringValue(key), verb);
      this.out.write(':');
      this.#element(map!.get(key)!, verb, depth + 1);
    }
    this.out.write(sharpV ? '}' : ']');
  }

  #struct(value: Value, verb: string, depth: number): void {
    const { plusV, sharpV } = this.out.flags;
    this.out.write(sharpV ? value.type.name + '{' : '{');
    for (const [i, field] of asStruct(value).entries()) {
      this.#separator(i);
      if (plusV || sharpV) this.out.write(value.type.fields![i]!.name + ':');
      this.#element(field, verb, depth + 1);
    }
    this.out.write('}');
  }

  #slice(value: Value, slice: SliceData | null, verb: string, depth: number): void {
    const { sharpV } = this.out.flags;
    const isBytes = value.type.elem!.kind === 'uint8';
    if (isBytes && 'sqxX'.includes(verb) && printText(this.out, octets(slice), verb)) return;
    const name = isBytes && depth === 0 && value.type.name === '[]uint8' ? '[]byte' : value.type.name;
    if (sharpV && slice === null) return this.out.write(name + '(nil)');
    this.out.write(sharpV ? name + '{' : '[');
    for (let i = 0; i < (slice?.length ?? 0); i++) {
      this.#separator(i);
      this.#element(itemAt(slice!, i), verb, depth + 1);
    }
    this.out.write(sharpV ? '}' : ']');
  }

  #separator(i: number): void {
    if (i > 0) this.out.write(this.out.flags.sharpV ? ', ' : ' ');
  }

  #pointer(value: Value, verb: string): void {
    if (!['func', 'map', 'pointer', 'slice'].includes(value.type.kind)) return this.#badVerb(value, verb);
    const address = isNilHeld(value) ? 0n : ADDRESS;
    const { flags } = this.out;
    if (verb === 'v' && flags.sharpV) {
      this.out.write(`(${value.type.name})(`);
      if (address === 0n) this.out.write('nil');
      else printHex(this.out, address, true);
      this.out.write(')');
    } else if (verb === 'v' && address === 0n) this.out.pad(NIL);
    else if (verb === 'v' || verb === 'p') printHex(this.out, address, !flags.sharp);
    else if ('bodxX'.includes(verb)) printInteger(this.out, address, true, verb);
    else this.#badVerb(value, verb);
  }
}

const octets = (slice: SliceData | null): Bytes =>
  Array.from({ length: slice?.length ?? 0 }, (_, i) => encodeOctet(itemAt(slice!, i))).join('');
const encodeOctet = (v: Value): Bytes => String.fromCharCode(Number(asInteger(v)));
