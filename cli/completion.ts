/** `curfew completion bash|zsh|fish`: the script by which a shell completes its commands. */
import type { Command } from 'commander';
import type { CommandOutput } from './command-output.ts';
import { bashScript } from './completion/bash.ts';
import { fishScript } from './completion/fish.ts';
import { completedCommands } from './completion/words.ts';
import { zshScript } from './completion/zsh.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** @param program whose commands are completed. Exit code 0: printed. */
export function completionCommand(shell: Shell, program: Command, output: CommandOutput): number {
  output.out(SCRIPTS[shell](completedCommands(program)));
  return 0;
}
