/** The completion of fish, with what each command and option is for. */
import type { CompletedCommand, CompletedOption, Value } from './words.ts';

/** A script for `~/.config/fish/completions/curfew.fish`. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(command => [
    ...command.commands.map(
      ({ name, description }) =>
        `complete -c curfew -n ${quoted(condition(command, true))} -a ${quoted(name)} -d ${quoted(description)}`,
    ),
    ...command.options.map(option => optionLine(command, option)),
    ...command.values.flatMap(value => valueLine(command, value)),
  ]);
  return `# fish completion of curfew
function __curfew_at
  set -l words (commandline -opc)[2..-1]
  set -l place
  for word in $words
    string match -q -- '-*' $word; and continue
    set -a place $word
  end
  set -l wanted (count $argv)
  if test $wanted -eq 0
    test (count $place) -eq 0
    return
  end
  test (count $place) -ge $wanted; and test "$place[1..$wanted]" = "$argv"
end
complete -c curfew -f
${lines.join('\n')}
`;
}

/** Fish escapes only these within single quotes. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** @param isExact not below its own commands */
function condition({ path, commands }: CompletedCommand, isExact: boolean): string {
  const at = ['__curfew_at', ...path].join(' ');
  const below = commands.map(({ name }) => name).join(' ');
  return isExact && path.length > 0 ? `${at}; and not __fish_seen_subcommand_from ${below}` : at;
}

function optionLine(command: CompletedCommand, { names, description, value }: CompletedOption): string {
  const flags = names.map(name => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const takes = value === undefined ? [] : [valueFlags(value)];
  return [
    'complete -c curfew',
    `-n ${quoted(condition(command, false))}`,
    ...flags,
    ...takes,
    `-d ${quoted(description)}`,
  ].join(' ');
}

function valueFlags(value: Value): string {
  if (value.kind === 'choices') return `-xa ${quoted(value.choices.join(' '))}`;
  return value.kind === 'files' ? '-rF' : '-x';
}

function valueLine(command: CompletedCommand, value: Value): readonly string[] {
  const at = `complete -c curfew -n ${quoted(condition(command, false))}`;
  if (value.kind === 'choices') return [`${at} -a ${quoted(value.choices.join(' '))}`];
  return value.kind === 'files' ? [`${at} -F`] : [];
}
