import { isOdekError } from '../../ports/errors.ts';
import { definePlugin, defineTool, type ToolExecution, type ToolResult } from '../../ports/plugin.ts';
import type { SkillCatalogue, SkillSummary } from '../../ports/skill.ts';

const MAX_FILTER_CHARS = 200;
const MAX_NAME_CHARS = 160;
/** Of a description in a list; the skill itself has the rest. */
const MAX_DESCRIPTION_CHARS = 300;
/** A hundred skills, of which each character may take six in JSON. */
const MAX_LIST_CHARS = 260_000;
const MAX_BODY_CHARS = 200_000;
const SOURCE = 'skill';

/** Instructions for kinds of tasks, read when they are needed. */
export default definePlugin({
  name: 'skills',
  inject: ['tools', 'skillCatalogue'],
  apply({ tools, skillCatalogue }) {
    tools.register(
      defineTool<{ readonly filter?: string }>({
        name: 'skill_list',
        description:
          'Skills: instructions of the user for kinds of tasks. Look here when a task may have one; those that need review cannot be loaded.',
        parameters: {
          type: 'object',
          properties: { filter: { type: 'string', maxLength: MAX_FILTER_CHARS, description: 'Part of the name or description' } },
          additionalProperties: false,
        },
        maxResultChars: MAX_LIST_CHARS,
        effects: () => ({}),
        execute: ({ filter }, exec) => listed(skillCatalogue, filter, exec),
      }),
    );
    tools.register(
      defineTool<{ readonly name: string }>({
        name: 'skill_load',
        description: 'The text of one skill.',
        parameters: {
          type: 'object',
          properties: { name: { type: 'string', minLength: 1, maxLength: MAX_NAME_CHARS, description: 'As skill_list gives it' } },
          required: ['name'],
          additionalProperties: false,
        },
        maxResultChars: MAX_BODY_CHARS,
        effects: () => ({}),
        execute: ({ name }, exec) => loaded(skillCatalogue, name, exec),
      }),
    );
  },
});

async function listed(skills: SkillCatalogue, filter: string | undefined, { signal }: ToolExecution): Promise<ToolResult> {
  const found = await skills.list({ ...(filter !== undefined && { filter }), signal });
  const more = found.omitted > 0 && { omitted: found.omitted };
  return { content: JSON.stringify({ skills: found.skills.map(shown), ...more }), source: SOURCE };
}

function shown({ name, description, withheld, version, origin, needsReview }: SkillSummary): object {
  return {
    name,
    ...(description !== undefined && { description: cut(description) }),
    ...(withheld !== undefined && { withheld: `the description reads like orders (${withheld.join(', ')})` }),
    ...(version !== undefined && { version }),
    origin,
    ...(needsReview && { needs_review: true }),
  };
}

function cut(text: string): string {
  return text.length <= MAX_DESCRIPTION_CHARS ? text : `${text.slice(0, MAX_DESCRIPTION_CHARS - 1).toWellFormed()}…`;
}

async function loaded(skills: SkillCatalogue, name: string, { signal }: ToolExecution): Promise<ToolResult> {
  try {
    const { body } = await skills.load(name, signal);
    return { content: body.trim() === '' ? '(the skill has no text behind its front matter)' : body, source: SOURCE };
  } catch (error) {
    if (!isOdekError(error) || error.code === 'cancelled') throw error;
    return { content: JSON.stringify({ error: error.message }), failed: true, source: SOURCE };
  }
}
