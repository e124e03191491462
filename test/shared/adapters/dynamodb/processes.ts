/** DynamoDB in a process of its own, for tests: Dynoxide from npm, or DynamoDB Local where its jar is. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface DynamoProcess {
  readonly client: DynamoDBClient;
  stop(): Promise<void>;
}

/** Path of the Dynoxide binary; undefined on a platform that has none. */
export function dynoxidePath(): string | undefined {
  const require = createRequire(import.meta.url);
  try {
    return join(dirname(require.resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`)), 'dynoxide');
  } catch {
    return undefined;
  }
}

export async function startDynoxide(binary: string): Promise<DynamoProcess> {
  const port = await freePort();
  return start(spawn(binary, ['serve', '--host', '127.0.0.1', '--port', String(port)]), /listening/i, port);
}

/** `jar` is `DynamoDBLocal.jar` beside its `DynamoDBLocal_lib`. */
export async function startDynamoDbLocal(jar: string): Promise<DynamoProcess> {
  const port = await freePort();
  const library = `-Djava.library.path=${join(dirname(jar), 'DynamoDBLocal_lib')}`;
  const options = ['-inMemory', '-disableTelemetry', '-port', String(port)];
  return start(spawn('java', [library, '-jar', jar, ...options], { cwd: dirname(jar) }), /Port:/, port);
}

export function clientFor(port: number, maxAttempts = 10): DynamoDBClient {
  return new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-west-2',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    // The line that a process prints may come a moment before it accepts connections.
    maxAttempts,
  });
}

async function start(child: ChildProcess, ready: RegExp, port: number): Promise<DynamoProcess> {
  const output: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output.push(chunk.toString());
      if (ready.test(output.join(''))) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('exit', code => reject(new Error(`exited with ${code}: ${output.join('')}`)));
  });
  const client = clientFor(port);
  return {
    client,
    async stop() {
      client.destroy();
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
