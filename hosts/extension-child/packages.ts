import * as cordis from '@deepseek-ai/cordis';
import * as cosmokit from '@deepseek-ai/cosmokit';
import * as schemastery from '@deepseek-ai/schemastery';
import type { ModuleMembers } from './linker.ts';

/** What can be imported by a bare name: one copy of each, for every plugin. */
export function sharedPackages(): ReadonlyMap<string, ModuleMembers> {
  const same = <Value>(value: Value): Value => value;
  return new Map<string, ModuleMembers>([
    ['@deepseek-ai/cordis', { ...cordis }],
    ['@deepseek-ai/schemastery', { ...schemastery }],
    ['@deepseek-ai/cosmokit', { ...cosmokit }],
    // Only a mark for the compiler: at run time it is what it is given.
    ['@deepseek-ai/dsh-commands/brand', { CommandDefinitionId: same }],
  ]);
}
