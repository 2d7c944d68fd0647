import type { PromptFacts } from '../agent/plugin-seams.ts';
import { utf8Length } from '../results/utf8.ts';
import { LIMITS } from './limits.ts';
import { expandedSection } from './registration.ts';

/** A section as it was admitted. */
export interface PromptSection {
  /** Name of the plugin. */
  readonly plugin: string;
  readonly id: string;
  readonly text: string;
  readonly interpolate?: 'model-cwd' | undefined;
}

function orderOf({ plugin, id }: PromptSection): string {
  return `${plugin}\u0000${id}`;
}

/**
 * All sections as one attributed text, sorted by plugin and id; undefined for none. A section that does
 * not fit any more with its facts in it, and what comes over the whole limit, is left out.
 */
export function renderSections(sections: readonly PromptSection[], facts: PromptFacts): string | undefined {
  const sorted = [...sections].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  let rest: number = LIMITS.sectionBytesPerHost;
  const parts: string[] = [];
  for (const section of sorted) {
    const text = expandedSection(section.text, section.interpolate, facts);
    const part = `[extension:${section.plugin}/${section.id}]\n${text.trim()}`;
    const bytes = utf8Length(part) + 2;
    if (utf8Length(text) > LIMITS.sectionBytes || bytes > rest) continue;
    rest -= bytes;
    parts.push(part);
  }
  return parts.length === 0 ? undefined : parts.join('\n\n');
}
