/** `curfew --version --stack NAME`: the version of this command, and that of a deployment. */
import { Command } from 'commander';
import { VERSION } from '../shared/contract/version.ts';
import type { CommandOutput } from './command-output.ts';
import { onDeployment } from './commands/place.ts';
import { readVersion } from './operate/deployment.ts';

/** Exit code 0: they are the same. 1: they are not. Throws `UsageError`. */
export async function versionCommand(args: readonly string[], output: CommandOutput): Promise<number> {
  const parser = onDeployment(new Command('curfew --version'))
    .option('--version')
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.error });
  const { stack, region } = parser.parse(args, { from: 'user' }).opts<{ stack: string; region?: string }>();
  const deployed = await readVersion(stack, region === undefined ? {} : { region });
  output.out(`curfew ${VERSION}\n${stack} ${deployed}\n`);
  if (deployed === VERSION) return 0;
  output.error(`they differ: use curfew ${deployed}, or deploy ${VERSION}\n`);
  return 1;
}
