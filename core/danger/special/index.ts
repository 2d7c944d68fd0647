import type { SpecialRule } from '../rules.ts';
import { alias, declare, evaluate, readVariables, set, source, trap, unset } from './builtins.ts';
import type { Special } from './call.ts';
import { chmod, copy, dd, patch, processes, remove, tar } from './files.ts';
import { find, xargs } from './finding.ts';
import { git } from './git.ts';
import { curl, kubectl, lookup, remoteCopy } from './network.ts';
import { python, shell } from './shell.ts';
import { awk, base64, cat, changeFolder, echo, grep, jq, printf, sed, tee, test } from './text.ts';

/** What the data of a program cannot say. */
export const SPECIAL: Readonly<Record<SpecialRule, Special>> = {
  alias,
  awk,
  base64,
  cat,
  cd: changeFolder,
  chmod,
  copy,
  curl,
  dd,
  declare,
  echo,
  eval: evaluate,
  find,
  git,
  grep,
  jq,
  kubectl,
  lookup,
  patch,
  printf,
  ps: processes,
  python,
  read: readVariables,
  'remote-copy': remoteCopy,
  rm: remove,
  sed,
  set,
  shell,
  source,
  tar,
  tee,
  test,
  trap,
  unset,
  xargs,
};
