/** The cases that the scripts of bash and zsh tell apart: the commands before the cursor, and the option before it. */
import type { CompletedCommand, Value } from './words.ts';

/** Places where the same is offered. */
export interface Place {
  /** ` simulate --faults`, after an option; ` simulate`, in a command. */
  readonly patterns: readonly string[];
  readonly words: readonly string[];
  /** Files, too. */
  readonly files: boolean;
}

/** In single quotes, for any shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** ` policies`, ` policies admission`: with a blank before each word. */
export const pathsBelow = (commands: readonly CompletedCommand[]): readonly string[] =>
  commands.filter(({ path }) => path.length > 0).map(nameOf);

const nameOf = ({ path }: CompletedCommand): string => path.map(word => ` ${word}`).join('');

/** Lists the words that are offered after each option that takes a value, and elsewhere in each command. */
export function placesOf(commands: readonly CompletedCommand[]): {
  readonly values: readonly Place[];
  readonly places: readonly Place[];
} {
  const values = commands.flatMap(command =>
    command.options.flatMap(({ names, value }) =>
      value === undefined ? [] : [{ patterns: names.map(name => `${nameOf(command)} ${name}`), ...offered(value) }],
    ),
  );
  const places = commands.map(command => ({
    patterns: [nameOf(command)],
    words: [
      ...command.commands.map(({ name }) => name),
      ...command.values.flatMap(value => (value.kind === 'choices' ? value.choices : [])),
      ...command.options.flatMap(({ names }) => names.filter(name => name.startsWith('--'))),
    ],
    files: command.values.some(({ kind }) => kind === 'files'),
  }));
  return { values, places };
}

const offered = (value: Value): Pick<Place, 'words' | 'files'> => ({
  words: value.kind === 'choices' ? value.choices : [],
  files: value.kind === 'files',
});
