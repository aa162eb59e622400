/** A program that runs a text which it is given as code, and how it is told from its other arguments. */
export interface Interpreter {
  /** Options with which code is given: attached, or as the next word. */
  code: RegExp;
  /** Options whose next word is their value. */
  values?: RegExp;
  /** Options that name a file or module of code, so that no operand is code. */
  script?: RegExp;
  /** True when the first operand is code unless an option gave some. */
  takesProgram?: boolean;
  /** Words with which it runs what it reads from its input; it also does without code and file. */
  readsInput?: RegExp;
  /** True when all that stands behind the code is an argument of that. */
  endsWithCode?: boolean;
  /** True when the option may stand behind operands. */
  isLoose?: boolean;
  /** True when its code is for a shell, with the value as `$1` when it stands behind. */
  isShell?: boolean;
}

const SHELL: Interpreter = {
  code: /^[-+][A-Za-z]*c/,
  values: /^[-+][A-Za-z]*[oO]$|^--(rcfile|init-file)$/,
  readsInput: /^(-|[-+][A-Za-z]*s[A-Za-z]*)$/,
  endsWithCode: true,
  isShell: true,
};

const NAMES: readonly [RegExp, Interpreter][] = [
  [/^(sh|bash|dash|ash|ksh|mksh|zsh|fish)$/, SHELL],
  [/^(su|runuser|script|flock)$/, { code: /^(-[A-Za-z]*c|--command)/, isLoose: true }],
  [/^env$/, { code: /^(-[A-Za-z]*S|--split-string)/, values: /^(-[uC]|--unset|--chdir)$/ }],
  [
    /^(python|pypy)[\d.]*$/,
    {
      code: /^-[bBdEhiIOPqsSuvVx?]*c/,
      values: /^(-[WX]|--check-hash-based-pycs)$/,
      script: /^-[bBdEhiIOPqsSuvVx?]*m/,
      readsInput: /^-$/,
      endsWithCode: true,
    },
  ],
  [/^perl[\d.]*$/, { code: /^-[A-Za-z0-9]*[eE]/, values: /^-I$/, readsInput: /^-$/ }],
  [/^ruby[\d.]*$/, { code: /^-[A-Za-z0-9]*e/, values: /^-[ICErx]$/, readsInput: /^-$/ }],
  [
    /^(node|nodejs|bun|deno|tsx)$/,
    { code: /^(-[a-z]*[ep]$|--eval|--print|eval$)/, values: /^(-[rC]|--[^=]+)$/, readsInput: /^-$/ },
  ],
  [/^php[\d.]*$/, { code: /^(-[rRBE]|--run)/, values: /^-[cdz]$/, readsInput: /^-$/ }],
  [/^lua[\d.]*$/, { code: /^-e/, values: /^-l$/, readsInput: /^-$/ }],
  [
    /^[gmn]?awk$/,
    {
      code: /^(-e|--source)/,
      values: /^(-[vFfi]|--assign|--field-separator|--file|--include)$/,
      script: /^(-f|--file)/,
      takesProgram: true,
      endsWithCode: true,
    },
  ],
  [
    /^g?sed$/,
    {
      code: /^(-[A-Za-z]*e|--expression)/,
      values: /^(-[A-Za-z]*[fl]|--file|--line-length)$/,
      script: /^(-[A-Za-z]*f|--file)/,
      takesProgram: true,
    },
  ],
];

/** What runs all its arguments as code. */
const EVALUATING = new Set(['eval', 'trap', 'alias', 'let', 'ssh', 'watch', 'parallel']);
/** What runs the file that it is given in the shell itself. */
const SOURCING = new Set(['.', 'source']);

/** What may stand before the name of a command: reserved words, and what runs its arguments as a command. */
const BEFORE = new Set(
  '! { if then elif else while until do time command builtin exec nohup env nice sudo doas setsid timeout'.split(
    ' ',
  ),
);

/** The interpreter of this name or path. */
export function interpreterNamed(name: string): Interpreter | undefined {
  const base = name.slice(name.lastIndexOf('/') + 1);
  return NAMES.find(([names]) => names.test(base))?.[1];
}

/** Whether all arguments of the builtin or program are code, or name a file of it; undefined for others. */
export function kindOfEvaluation(name: string): 'evaluates' | 'sources' | undefined {
  if (SOURCING.has(name)) return 'sources';
  return EVALUATING.has(name) ? 'evaluates' : undefined;
}

/** True for a word that may stand before the name of a command, as in `timeout -k 5 10 env A=1 sh`. */
export function mayPrecedeName(word: string): boolean {
  return BEFORE.has(word) || /^(-|\d+(\.\d+)?[smhd]?$|[A-Za-z_]\w*\+?=)/.test(word);
}
