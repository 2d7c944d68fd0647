import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../adapters/schema/ajv.ts';
import { createToolRegistry, type ToolRegistry } from '../../core/plugins/registry.ts';
import { loadPlugins } from '../../plugins/index.ts';

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/tools.md', import.meta.url)), 'utf8');
interface Section {
  readonly name: string;
  readonly text: string;
}

const sections: readonly Section[] = PAGE.split(/^## /m)
  .slice(1)
  .map((text) => ({ name: text.split('\n')[0] ?? '', text }));

/** Names in the first column of a table whose head is `argument`. */
function documentedArguments({ text }: Section): readonly string[] {
  const table = /^\| argument \|.*\n\|---.*\n((?:\|.*\n)+)/m.exec(text)?.[1] ?? '';
  return table.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ''));
}

let registry: ToolRegistry;
beforeAll(async () => {
  registry = createToolRegistry();
  // Nothing is called: a tool needs its services only when it runs.
  for (const plugin of await loadPlugins()) {
    const services = Object.fromEntries((plugin.inject ?? []).map((name) => [name, {}]));
    await plugin.apply({ ...services, tools: registry.registrar(plugin.name) } as never, {});
  }
});

describe('docs/tools.md', () => {
  it('has a section for every tool and none for another', () => {
    const names = registry.list().map(({ spec }) => spec.name);
    expect(sections.map(({ name }) => name).sort()).toEqual(names);
  });

  it.each(sections)('names the arguments of $name, and shows a call that its schema accepts', async (section) => {
    const spec = registry.get(section.name)?.spec;
    const example: unknown = JSON.parse(/```json\n([\s\S]*?)\n```/.exec(section.text)?.[1] ?? '');
    // What checks its own arguments takes more than its schema says, and has a page of its own.
    if (spec?.ownsValidation) return expect(Object.keys(example as object)).toContain(documentedArguments(section)[0]);
    expect([...documentedArguments(section)].sort()).toEqual(Object.keys(spec?.parameters.properties ?? {}).sort());
    const check = await createSchemaValidator().compile(spec?.parameters ?? {});
    return expect(check(example)).toEqual([]);
  });
});
