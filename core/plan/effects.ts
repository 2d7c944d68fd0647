/** What a finished call may have changed, as far as evidence is concerned. */
import type { ToolEffects } from '../../ports/plugin.ts';
import { isJsonObject, readJson } from './json.ts';

export type EvidenceEffect = 'none' | 'reads' | 'writes' | 'unknown';

const EFFECTS: ReadonlyMap<string, EvidenceEffect> = new Map([
  ...(['write_file', 'patch', 'batch_patch'] as const).map((name) => [name, 'writes'] as const),
  ...(
    [
      'read_file',
      'search_files',
      'glob',
      'file_info',
      'tree',
      'diff',
      'json_query',
      'checksum',
      'head_tail',
      'base64',
      'artifact_read',
    ] as const
  ).map((name) => [name, 'reads'] as const),
  ...(
    [
      'math_eval',
      'web_search',
      'browser',
      'config_view',
      'list_tools',
      'session_search',
      'bg_status',
      'bg_output',
      'bg_list',
      'bg_stop',
    ] as const
  ).map((name) => [name, 'none'] as const),
]);

/**
 * The effect of a call. `declared` are the effects of a first-party tool and replace the table; those
 * of third parties must not be passed. A tool that is not in the table, or arguments that are not a
 * JSON object, are `unknown`.
 */
export function evidenceEffect(tool: string, argumentsText: string, declared?: ToolEffects): EvidenceEffect {
  if (declared !== undefined) return declaredEffect(declared);
  const known = EFFECTS.get(tool) ?? 'unknown';
  // Both invalidate, so large arguments need not be read.
  if (known === 'unknown' || known === 'writes') return known;
  const reading = readJson(argumentsText);
  return reading.ok && isJsonObject(reading.value) ? known : 'unknown';
}

function declaredEffect({ command, uploads, writes, reads }: ToolEffects): EvidenceEffect {
  if (command !== undefined || uploads === true) return 'unknown';
  if (writes !== undefined && writes.length > 0) return 'writes';
  return reads !== undefined && reads.length > 0 ? 'reads' : 'none';
}
