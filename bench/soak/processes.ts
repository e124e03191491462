/** The processes that `--serve` has started, and what each of them holds, as Linux tells it. */
import { readdirSync, readFileSync } from 'node:fs';

/** Each of them may be killed: it is started again. */
export type Role = 'forwarder' | 'DynamoDB' | 'function';

export interface Child {
  readonly pid: number;
  readonly role: Role;
}

/** What stands in the command line of each. */
const MARKS: readonly (readonly [mark: string, role: Role])[] = [
  ['forwarder/main.ts', 'forwarder'],
  ['dynoxide', 'DynamoDB'],
  ['aws-lambda-ric', 'function'],
];

/** Those that run. */
export function childrenOf(parent: number): readonly Child[] {
  return readdirSync('/proc').flatMap(name => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || parentOf(pid) !== parent) return [];
    const command = orGone(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';
    const role = MARKS.find(([mark]) => command.includes(mark))?.[1];
    return role === undefined ? [] : [{ pid, role }];
  });
}

export interface Held {
  readonly rssBytes: number;
  /** Open file descriptors: files, sockets, pipes. */
  readonly handles: number;
}

/** Undefined for a process that has ended. */
export function heldBy(pid: number): Held | undefined {
  return orGone(() => {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    if (kibibytes === undefined) return undefined;
    return { rssBytes: Number(kibibytes) * 1024, handles: readdirSync(`/proc/${pid}/fd`).length };
  });
}

function parentOf(pid: number): number | undefined {
  // The name in parentheses may have spaces and parentheses of its own.
  const stat = orGone(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  return parent === undefined ? undefined : Number(parent);
}

function orGone<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
