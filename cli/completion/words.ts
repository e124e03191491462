/**
 * The words that a shell can complete at each place of a command line. They are read from the commands themselves, so
 * they never lag behind.
 */
import type { Argument, Command, Option } from 'commander';

/** The kind of value that an option or argument takes. */
export type Value =
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  | { readonly kind: 'files' }
  /** A name or number that only the user knows. */
  | { readonly kind: 'free' };

export interface CompletedOption {
  /** `-n`, `--namespace`. */
  readonly names: readonly string[];
  readonly description: string;
  /** undefined: it takes none. */
  readonly value: Value | undefined;
}

export interface CompletedCommand {
  /** `policies admission`; empty for the program itself. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** Values of the arguments, in order; the last argument may repeat. */
  readonly values: readonly Value[];
}

/** The program and all commands below it. */
export function completedCommands(program: Command): readonly CompletedCommand[] {
  const visit = (command: Command, path: readonly string[]): readonly CompletedCommand[] => [
    {
      path,
      description: command.description(),
      commands: [
        ...command.commands.map(each => ({ name: each.name(), description: each.description() })),
        ...(path.length === 0 ? [{ name: 'help', description: 'display help for a command' }] : []),
      ],
      options: [...command.options.map(toOption), HELP],
      values: command.registeredArguments.map(valueOf),
    },
    ...command.commands.flatMap(each => visit(each, [...path, each.name()])),
  ];
  return visit(program, []);
}

const HELP: CompletedOption = { names: ['-h', '--help'], description: 'display help for command', value: undefined };

function toOption(option: Option): CompletedOption {
  const { short, long, description } = option;
  const names = [short, long].filter(name => name !== undefined && name !== null);
  return { names, description, value: option.required || option.optional ? optionValue(option) : undefined };
}

/** `<file>`, `<folder>`, `<path...>`. */
const NAMES_FILES = /<(files?|folder|paths?)(\.\.\.)?>/;

function optionValue({ argChoices, flags }: Option): Value {
  if (argChoices !== undefined && argChoices.length > 0) return { kind: 'choices', choices: argChoices };
  return NAMES_FILES.test(flags) ? { kind: 'files' } : { kind: 'free' };
}

function valueOf(argument: Argument): Value {
  const { argChoices } = argument;
  if (argChoices !== undefined && argChoices.length > 0) return { kind: 'choices', choices: argChoices };
  return /^(files?|folder|paths?)$/.test(argument.name()) ? { kind: 'files' } : { kind: 'free' };
}
