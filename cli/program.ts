/** The commands, group by group in `commands/`. They load lazily, so that each starts as fast as its own parts allow. */
import { Command, CommanderError, Help } from 'commander';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { addChanges } from './commands/changes.ts';
import { addDeployment } from './commands/deployment.ts';
import { addLooks } from './commands/looks.ts';
import { addManifests } from './commands/manifests.ts';
import { addShell } from './commands/shell.ts';
import { addSimulation } from './commands/simulation.ts';
import { addStart } from './commands/start.ts';
import { reportFailure } from './failure.ts';
import { VERSION } from '../shared/contract/version.ts';
import { UsageError } from './usage-error.ts';
import { wrapLines } from './wrap.ts';

/**
 * Runs one command line in this process, e.g. `['explain', 'node', 'n1']`. Resolves to the exit code: 0, 1 (a bug, or something that does
 * not hold), or 2 (what the user can put right, with one line that says what to do).
 */
export async function runCommandLine(args: readonly string[], output: CommandOutput = PROCESS_OUTPUT): Promise<number> {
  let exitCode = 0;
  const program = createProgram(output, code => (exitCode = code));
  try {
    refuseSilentMistakes(args);
    if (args.includes('--version') && args.length > 1) {
      const { versionCommand } = await import('./version.ts');
      return await versionCommand(args, output);
    }
    await program.parseAsync(withoutVainHelp(args, program), { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help is no error. What was asked for cannot be done: 2, as everywhere else.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return reportFailure(error, output);
  }
}

/** Refuses arguments that the parser accepts and nobody means. */
function refuseSilentMistakes(args: readonly string[]): void {
  if (args.includes('')) throw new UsageError('an argument is empty: is it a variable of the shell that is not set?');
  const options = args.filter(arg => /^--[a-z]/.test(arg)).map(arg => arg.split('=')[0] ?? arg);
  const twice = options.find((option, index) => options.indexOf(option) !== index);
  if (twice !== undefined) throw new UsageError(`${twice} is given twice: give it once`);
}

/** `help NAME` of a command that there is not says so, as the command itself would. */
function withoutVainHelp(args: readonly string[], program: Command): readonly string[] {
  const [first, ...names] = args;
  if (first !== 'help') return args;
  let here = program;
  for (const name of names) {
    const next = here.commands.find(each => each.name() === name);
    if (next === undefined) return name === 'help' ? args : names;
    here = next;
  }
  return args;
}

/** Below the list of commands: what they all have in common. */
const IN_COMMON = `
"curfew COMMAND --help" has examples. Times are in UTC. Answers go to the
standard output, everything else to the standard error.

Exit codes:
  0    done, or all is well
  1    it is not: something is not valid, does not hold, is not there or failed
  2    it cannot be done: arguments, a file, the cluster or the account are to be
       put right, the message says how
  130  Ctrl-C ended it before it was done (143: SIGTERM)`;

/** Least width of the column of descriptions; with less, each description stands below its name. */
const NARROWEST_COLUMN = 30;

function formatHelpItem(...item: Parameters<Help['formatItem']>): string {
  const [term, termWidth, description, helper] = item;
  const width = helper.helpWidth ?? 80;
  const isNarrow = width - termWidth - 4 < NARROWEST_COLUMN;
  if (!isNarrow || description === '') return Help.prototype.formatItem.apply(helper, item);
  return wrapLines(`  ${term}\n      ${description}`, width);
}

/** The commands, with what they do. */
export function createProgram(output: CommandOutput, ends: (exitCode: number) => void): Command {
  const program = new Command('curfew')
    .description('Serverless node-lifecycle controller for Kubernetes on AWS')
    .version(VERSION)
    .addHelpText('after', () => wrapLines(IN_COMMON, output.width))
    .configureHelp({ minWidthToWrap: NARROWEST_COLUMN, formatItem: formatHelpItem })
    .showHelpAfterError('("curfew --help" lists the commands, "curfew COMMAND --help" their options and examples)')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: output.out,
      writeErr: output.error,
      ...(output.width !== undefined && {
        getOutHelpWidth: () => output.width ?? 0,
        getErrHelpWidth: () => output.width ?? 0,
      }),
    });

  const place = { program, output, ends };
  addStart(place);
  addSimulation(place);
  addLooks(place);
  addManifests(place);
  addChanges(place);
  addDeployment(place);
  addShell(place);
  return program;
}
