/** The output of a command; `text` has its line breaks. */
export interface CommandOutput {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  /** Columns of the terminal; undefined: none reads along, and long lines stay whole. */
  readonly width?: number | undefined;
}

export const PROCESS_OUTPUT: CommandOutput = {
  out: text => process.stdout.write(text),
  error: text => process.stderr.write(text),
  get width() {
    return process.stdout.isTTY ? process.stdout.columns : undefined;
  },
};
