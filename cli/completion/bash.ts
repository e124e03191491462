/** The completion of bash. */
import { pathsBelow, placesOf, quoted, type Place } from './shell-words.ts';
import type { CompletedCommand } from './words.ts';

/** A script to be sourced by bash 3.2 or newer. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const { values, places } = placesOf(commands);
  return `# bash completion of curfew: source <(npx curfew completion bash)
_curfew() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} place='' i words=''
  # bash cuts --option=value at the "=".
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place \${COMP_WORDS[i]}" in
      ${pathsBelow(commands).map(quoted).join(' | ')}) place="$place \${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$place $prev" in
${values.map(each => `    ${each.patterns.map(quoted).join(' | ')}) ${offer(each)}; return ;;`).join('\n')}
  esac
  case "$place" in
${places.map(each => `    ${each.patterns.map(quoted).join(' | ')}) words=${quoted(each.words.join(' '))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  case "$place" in
    ${places
      .filter(({ files }) => files)
      .flatMap(({ patterns }) => patterns.map(quoted))
      .join(' | ')})
      [[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- "$cur")) ;;
  esac
}
complete -o filenames -F _curfew curfew
`;
}

function offer({ words, files }: Place): string {
  if (files) return 'COMPREPLY=($(compgen -f -- "$cur"))';
  return words.length === 0 ? ':' : `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$cur"))`;
}
