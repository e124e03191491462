/** Where a command writes; `text` has its line breaks. */
export interface CommandOutput {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

export const PROCESS_OUTPUT: CommandOutput = {
  out: text => process.stdout.write(text),
  error: text => process.stderr.write(text),
};
