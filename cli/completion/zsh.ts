/** The completion of zsh, with what each command and option is for. */
import { pathsBelow, placesOf, quoted } from './shell-words.ts';
import type { CompletedCommand } from './words.ts';

/** A script for a folder of `fpath`, as `_curfew`, or to be sourced. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const { values } = placesOf(commands);
  return `#compdef curfew
_curfew() {
  local -a commands options
  local place='' i
  for ((i = 2; i < CURRENT; i++)); do
    case "$place \${words[i]}" in
      ${pathsBelow(commands).map(pattern).join('|')}) place="$place \${words[i]}" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${values
  .map(({ patterns, words, files }) => {
    const offer = files ? '_files' : words.length === 0 ? ':' : `compadd -- ${words.map(quoted).join(' ')}`;
    return `    ${patterns.map(pattern).join('|')}) ${offer}; return ;;`;
  })
  .join('\n')}
  esac
  case "$place" in
${commands.map(inCommand).join('\n')}
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _curfew "$@"; else compdef _curfew curfew; fi
`;
}

const pattern = (text: string): string => quoted(text);

function inCommand({ path, commands, options, values }: CompletedCommand): string {
  const described = (name: string, description: string): string =>
    quoted(`${name.replaceAll(':', '\\:')}:${description.replaceAll('\n', ' ')}`);
  const choices = values.flatMap(value => (value.kind === 'choices' ? value.choices : []));
  const lines = [
    ...(commands.length === 0
      ? []
      : [
          `commands=(${commands.map(({ name, description }) => described(name, description)).join(' ')})`,
          '_describe -t commands command commands',
        ]),
    `options=(${options.flatMap(({ names, description }) => names.filter(name => name.startsWith('--')).map(name => described(name, description))).join(' ')})`,
    '_describe -t options option options',
    ...(choices.length === 0 ? [] : [`compadd -- ${choices.map(quoted).join(' ')}`]),
    ...(values.some(({ kind }) => kind === 'files') ? ['_files'] : []),
  ];
  return `    ${pattern(path.map(word => ` ${word}`).join(''))})\n${lines.map(line => `      ${line}`).join('\n')}\n      ;;`;
}
