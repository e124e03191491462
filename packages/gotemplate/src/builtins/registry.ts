/** The functions every template has. */
import { sprint, sprintf, sprintln } from '../fmt/sprintf.ts';
import { type Budget, BYTES_PER_STEP } from '../limits.ts';
import { ANY, type GoType, REFLECTED, type Signature, STRING } from '../types/type.ts';
import { asString, boolValue, indirectInterface, isTrue, stringValue, type Value } from '../types/value.ts';
import type { Bytes } from '../text/bytes.ts';
import { callValue } from './call.ts';
import { index, len, slice } from './collections.ts';
import { eq, ge, gt, le, lt, ne } from './compare.ts';
import { html, js, urlquery } from './escape.ts';

type Arg = Value | undefined;
type Call = Signature['call'];

const fixed = (params: readonly GoType[], call: Call): Signature => ({ params, variadic: false, call });
const variadic = (params: readonly GoType[], call: Call): Signature => ({ params, variadic: true, call });

/** `and` and `or` stop early: the evaluator does them and never calls this. */
export function shortCircuit(): Arg {
  throw new Error('unreachable');
}

/** Arguments of parameters of type `any`: what an interface holds. */
const opened = (args: readonly Arg[]): readonly Arg[] => args.map(indirectInterface);

const ONE = [REFLECTED];
const TWO = [REFLECTED, REFLECTED];

/** The built-in functions, spending from `budget`. */
export function builtins(budget: Budget): Map<Bytes, Signature> {
  const text = (make: (budget: Budget, args: readonly Arg[]) => Bytes): Signature =>
    variadic([ANY], args => stringValue(make(budget, opened(args))));
  /** Looking through strings costs by their length. */
  const charged =
    (call: Call): Call =>
    args => {
      for (const arg of opened(args))
        if (arg?.type.kind === 'string') budget.spend(asString(arg).length / BYTES_PER_STEP);
      return call(args);
    };
  return new Map<Bytes, Signature>([
    ['and', variadic(TWO, shortCircuit)],
    ['or', variadic(TWO, shortCircuit)],
    ['not', fixed(ONE, ([arg]) => boolValue(!isTrue(indirectInterface(arg))))],
    ['call', variadic(TWO, callValue)],
    ['index', variadic(TWO, charged(index))],
    ['slice', variadic(TWO, charged(slice))],
    ['len', fixed(ONE, len)],
    ['print', text(sprint)],
    ['println', text(sprintln)],
    [
      'printf',
      variadic([STRING, ANY], ([format, ...args]) => stringValue(sprintf(budget, asString(format!), opened(args)))),
    ],
    ['html', text(html)],
    ['js', text(js)],
    ['urlquery', text(urlquery)],
    ['eq', variadic(TWO, charged(eq))],
    ['ne', fixed(TWO, charged(ne))],
    ['lt', fixed(TWO, charged(lt))],
    ['le', fixed(TWO, charged(le))],
    ['gt', fixed(TWO, charged(gt))],
    ['ge', fixed(TWO, charged(ge))],
  ]);
}

/** Their names. */
export const BUILTIN_NAMES: ReadonlySet<Bytes> = new Set(
  'and or not call index slice len print println printf html js urlquery eq ne lt le gt ge'.split(' '),
);
