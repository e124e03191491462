/** `npm start -- --serve` in a process of its own, and what it prints about itself. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { startMeasuredProcess } from '../measure/measured-process.ts';
import { until } from '../measure/until.ts';

const CURFEW = join(import.meta.dirname, '..', '..', 'cli', 'curfew.ts');
const REPORT_HEAP = join(import.meta.dirname, 'report-heap.ts');
const STARTED = { pollMs: 200, patienceMs: 120_000 };
/** How `serve` marks what went wrong. */
const PROBLEM = '✗';
const NOT_PRINTED = 'http://127.0.0.1:9';

export interface Served extends AsyncDisposable {
  readonly pid: number;
  readonly apiServer: string;
  readonly dynamoDb: string;
  readonly sqs: string;
  /** Bytes that are alive in its heap; collects the garbage first. */
  heap(): Promise<number>;
  /** What it said that went wrong, so far. */
  problems(): readonly string[];
}

/** Resolves once it says that Ctrl-C ends it. @param data folder of `--data` */
export async function startServed(data: string): Promise<Served> {
  let printed = '';
  let isStarted = false;
  const problems: string[] = [];
  const child = startMeasuredProcess(CURFEW, {
    args: ['start', '--serve', '--data', data],
    nodeFlags: ['--expose-gc', '--import', REPORT_HEAP],
    onOutput(text) {
      if (!isStarted) printed += text;
      for (const line of text.split('\n')) if (line.includes(PROBLEM)) problems.push(line.trim());
    },
  });
  await until('the local stack', () => printed.includes('Ctrl-C'), STARTED);
  isStarted = true;
  const find = (pattern: RegExp): string => pattern.exec(printed)?.[1] ?? NOT_PRINTED;
  const awsConfig = readFileSync(find(/export AWS_CONFIG_FILE=(\S+)/), 'utf8');
  return {
    pid: child.pid ?? NaN,
    apiServer: find(/The API server listens on (\S+)/),
    dynamoDb: find(/DynamoDB: +(\S+)/),
    sqs: /^sqs =\n {2}endpoint_url = (\S+)$/m.exec(awsConfig)?.[1] ?? NOT_PRINTED,
    heap: () => child.ask('heap', z.number()),
    problems: () => problems,
    [Symbol.asyncDispose]: () => child.end(),
  };
}
