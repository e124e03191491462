/** Counts what the parts of a simulated Curfew ask of others, by what each costs. */
import { aroundCalls } from '../../runtime/around-calls.ts';
import { RECONCILERS, type ReconcilerFactory } from '../../runtime/functions.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import { isDue, type EpochMs } from '../../shared/domain/time.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { Replacements } from '../../simulator/simulated-system.ts';

export const COUNTED = [
  'invocations',
  'requests to the API server',
  'bytes listed',
  'DynamoDB read units',
  'DynamoDB write units',
  'bus events',
] as const;
export type Counted = (typeof COUNTED)[number];
export type Tally = Record<Counted, number>;

const READ_UNIT_BYTES = 4096;
const WRITE_UNIT_BYTES = 1024;
/** A page of a list, which is a request. */
const PAGE = 500;

/** @param from nothing counts before: the start publishes everything */
export function createTally(from: EpochMs): { readonly tally: Tally; readonly replacements: Replacements } {
  const tally: Tally = {
    invocations: 0,
    'requests to the API server': 0,
    'bytes listed': 0,
    'DynamoDB read units': 0,
    'DynamoDB write units': 0,
    'bus events': 0,
  };
  const counting =
    (now: () => EpochMs) =>
    (what: Counted, count = 1): void => {
      if (isDue(now(), from)) tally[what] += count;
    };
  const counted = (deps: FunctionDeps): FunctionDeps => {
    const count = counting(() => deps.clock.now());
    return {
      ...deps,
      kubernetes: aroundCalls(deps.kubernetes, async ({ method, proceed }) => {
        const answer = await proceed();
        const listed = method === 'list' ? objectsIn(answer) : [];
        count('requests to the API server', Math.max(1, Math.ceil(listed.length / PAGE)));
        for (const object of listed) count('bytes listed', bytesListed(object));
        return answer;
      }),
      records: aroundCalls(deps.records, async ({ method, args, proceed }) => {
        const answer = await proceed();
        if (method === 'get') count('DynamoDB read units', Math.max(1, Math.ceil(bytesOf(answer) / READ_UNIT_BYTES)));
        else count('DynamoDB write units', Math.max(1, Math.ceil(bytesOf(args[0]) / WRITE_UNIT_BYTES)));
        return answer;
      }),
      bus: aroundCalls(deps.bus, ({ args: [entries], proceed }) => {
        count('bus events', Array.isArray(entries) ? entries.length : 1);
        return proceed();
      }),
    };
  };
  const countedFunction =
    (name: FunctionName): ReconcilerFactory =>
    deps => {
      const reconcile = RECONCILERS[name](counted(deps));
      const count = counting(() => deps.clock.now());
      return message => {
        count('invocations');
        return reconcile(message);
      };
    };
  return {
    tally,
    replacements: {
      reconcilers: Object.fromEntries(FUNCTION_NAMES.map(name => [name, countedFunction(name)])),
      forwarder: ports => {
        const count = counting(() => ports.clock.now());
        const bus = aroundCalls(ports.bus, ({ args: [entries], proceed }) => {
          count('bus events', Array.isArray(entries) ? entries.length : 1);
          return proceed();
        });
        return { ...ports, bus };
      },
    },
  };
}

const bytesOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);

/** Objects that are listed do not change, and are listed again and again. */
const listedBytes = new WeakMap<object, number>();

function bytesListed(object: object): number {
  const bytes = listedBytes.get(object) ?? bytesOf(object);
  listedBytes.set(object, bytes);
  return bytes;
}

function objectsIn(answer: unknown): readonly object[] {
  if (typeof answer !== 'object' || answer === null || !('objects' in answer)) return [];
  return Array.isArray(answer.objects) ? (answer.objects as readonly object[]) : [];
}
