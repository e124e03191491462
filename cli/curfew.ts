/** The process of the command line. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { describeFailure } from './failure.ts';

// Half of what a start costs is compiling; where the folder cannot be written, it is compiled each time.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'curfew'));

const args = process.argv.slice(2);
const isEndless = args[0] === 'start' || args.includes('--follow');
// The reader of the output (`| head`) has seen enough: that is no error. What has an end goes on to it, since its exit code is still read.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' && isEndless) process.exit();
  if (error.code === 'EPIPE') return;
  const reason = error.code === 'ENOSPC' ? 'no space left on the device' : error.message;
  process.stderr.write(`the output cannot be written: ${reason}\n`);
  process.exit(2);
});
// Nobody reads what went wrong; the exit code still says so.
process.stderr.on('error', () => undefined);
// Whatever was left open by what failed does not keep the process.
process.on('uncaughtException', error => {
  const { exitCode, message } = describeFailure(error);
  process.stderr.write(`${message}\n`);
  process.exit(exitCode);
});

const INTERRUPTED = 130;
const { runCommandLine } = await import('./program.ts');
process.exitCode = await runCommandLine(args);
// Nor does what a boot that failed left open, nor the threads of what was interrupted; what other commands printed may still be on its way into a pipe.
if (args[0] === 'start') process.exit();
if (process.exitCode === INTERRUPTED) process.stdout.write('', () => process.stderr.write('', () => process.exit()));
