/** The command that sets up the user's shell. */
import { Argument } from 'commander';
import type { SHELLS } from '../completion.ts';
import { withExamples, type Place } from './place.ts';

export function addShell({ program, output, ends }: Place): void {
  program.commandsGroup('Your shell:');
  const completion = program
    .command('completion')
    .description('print the script by which your shell completes commands, options and files')
    .addArgument(
      new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish'] satisfies (typeof SHELLS)[number][]),
    )
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { completionCommand } = await import('../completion.ts');
      ends(completionCommand(shell, program, output));
    });
  withExamples(completion, {
    'curfew completion bash > ~/.local/share/bash-completion/completions/curfew': 'bash, from the next shell on',
    'curfew completion zsh > ~/.zfunc/_curfew': 'zsh, where ~/.zfunc is in fpath',
    'curfew completion fish > ~/.config/fish/completions/curfew.fish': 'fish',
  });
}
