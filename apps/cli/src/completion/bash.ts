import type { CommandEntry, Offer } from './commands.ts';

/** Prints the job IDs, or nothing when that takes long; see `commands/internal.ts`. */
export const JOB_IDS = 'crewboard job-ids 2>/dev/null';
/** Likewise the IDs of the tasks of the job that `job` stands for in the shell. */
export const taskIds = (job: string) => `crewboard task-ids ${job} 2>/dev/null`;

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const named = (path: string, name: string | number) => quote(`${path}:${name}`);

function reply(offer: Offer): string {
  switch (offer.kind) {
    case 'words':
      return `COMPREPLY=($(compgen -W ${quote(offer.words.join(' '))} -- "$cur"))`;
    case 'files':
      // As names of files: folders get their slash, blanks are quoted. Neither zsh nor an old bash knows the option.
      return `local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null`;
    case 'jobs':
      return `COMPREPLY=($(compgen -W "$(${JOB_IDS})" -- "$cur"))`;
    case 'tasks':
      return `COMPREPLY=($(compgen -W "$(${taskIds('"$job"')})" -- "$cur"))`;
    case 'nothing':
      return 'COMPREPLY=()';
  }
}

/** A case for each flag that takes a value, and for each place of an operand or a subcommand. */
function cases({ path, flags, children, operands }: CommandEntry): { values: string[]; places: string[] } {
  const values = flags.flatMap(({ names, value }) => {
    const pattern = names.map((name) => named(path, name)).join('|');
    return value === undefined ? [] : [`    ${pattern}) ${reply(value)} ;;`];
  });
  const offers: Offer[] = children.length > 0 ? [{ kind: 'words', words: children }] : [...operands];
  return { values, places: offers.map((offer, at) => `    ${named(path, at)}) ${reply(offer)} ;;`) };
}

function flagCase({ path, flags }: CommandEntry): string {
  const words = flags.flatMap(({ names }) => names);
  return `        ${quote(path)}) ${reply({ kind: 'words', words })} ;;`;
}

/** Returns the script for bash; zsh runs it, too, so no variable in it is named `path`: that is the PATH there. */
export function bashScript(entries: readonly CommandEntry[]): string {
  const paths = entries.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  const withValue = entries.flatMap(({ path, flags }) =>
    flags
      .filter(({ value }) => value !== undefined)
      .flatMap(({ names }) => names.map((name) => named(path, name))),
  );
  const all = entries.map(cases);
  return `_crewboard() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="" job="" flag="" at=0 i word
  COMPREPLY=()
  # --flag=value: bash takes it apart at the sign, zsh leaves it whole.
  if [[ "$cur" == "=" ]]; then cur=""
  elif [[ "$prev" == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"
  elif [[ "$cur" == --*=* ]]; then flag="\${cur%%=*}=" prev="\${cur%%=*}" cur="\${cur#*=}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ "$word" == "=" || "\${COMP_WORDS[i-1]}" == "=" ]]; then continue; fi
    case "$word" in -*) continue ;; job_*) job="$word" ;; esac
    case "$command:\${COMP_WORDS[i-1]}" in
      ${withValue.join('|')}) continue ;;
    esac
    case "\${command:+$command }$word" in
      ${paths.join('|')}) command="\${command:+$command }$word" ;;
      *) at=$((at + 1)) ;;
    esac
  done
  case "$command:$prev" in
${all.flatMap(({ values }) => values).join('\n')}
    *) prev="" ;;
  esac
  if [[ -n "$prev" ]]; then
    if [[ -n "$flag" && \${#COMPREPLY[@]} -gt 0 ]]; then COMPREPLY=("\${COMPREPLY[@]/#/$flag}"); fi
    return
  fi
  case "$cur" in
    -*)
      case "$command" in
${entries.map(flagCase).join('\n')}
      esac
      return ;;
  esac
  case "$command:$at" in
${all.flatMap(({ places }) => places).join('\n')}
  esac
}
complete -o bashdefault -F _crewboard crewboard
`;
}

/** Returns the script for zsh, which knows the functions of bash. */
export function zshScript(entries: readonly CommandEntry[]): string {
  return `autoload -U +X compinit && compinit -u
autoload -U +X bashcompinit && bashcompinit
${bashScript(entries)}`;
}
