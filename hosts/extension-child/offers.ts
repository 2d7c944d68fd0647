import { type Context, Service } from '@deepseek-ai/cordis';
import { fieldsOf, isFields, jsonOf, textOf } from './fields.ts';
import type { Registrations } from './registrations.ts';

const MAX_SECTION = 4_096;
const MAX_PATH = 512;
const MAX_SERVER = 64 * 1024;

type ServiceClass = new (ctx: Context) => Service;

/** The service `prompt`: sections of text. */
export function promptService(registrations: Registrations): ServiceClass {
  class Prompt extends Service {
    constructor(ctx: Context) {
      super(ctx, 'prompt');
    }

    registerSection(section: unknown): () => void {
      const fields = fieldsOf(section, 'a section', ['id', 'text', 'interpolate']);
      const name = textOf(fields.id, 'the id of a section', { max: 64, min: 1 });
      if (!/^[a-z][a-z0-9_-]*$/.test(name)) throw new TypeError(`the id "${name}" must be a-z, 0-9, _ and -, and begin with a letter`);
      if (fields.interpolate !== undefined && fields.interpolate !== 'model-cwd')
        throw new TypeError('interpolate can be "model-cwd" alone');
      const text = textOf(fields.text, `the text of section "${name}"`, { max: MAX_SECTION });
      const spec = {
        kind: 'prompt_section',
        name,
        text,
        ...(fields.interpolate !== undefined && { interpolate: 'model-cwd' as const }),
      } as const;
      return registrations.offer(this.ctx, spec, undefined);
    }
  }
  return Prompt;
}

/** The service `skills`: folders of the bundle that hold skills. */
export function skillsService(registrations: Registrations): ServiceClass {
  class Skills extends Service {
    constructor(ctx: Context) {
      super(ctx, 'skills');
    }

    registerRoot(root: unknown): () => void {
      const path = textOf(fieldsOf(root, 'a root of skills', ['path']).path, 'the path of a root of skills', { max: MAX_PATH, min: 1 });
      if (path.split('/').some((part) => part === '' || part === '.' || part === '..'))
        throw new TypeError(`the path "${path}" must be relative and normal`);
      return registrations.offer(this.ctx, { kind: 'skill_root', name: path }, undefined);
    }
  }
  return Skills;
}

/** The service `mcp`: definitions of servers, which core starts. */
export function mcpService(registrations: Registrations): ServiceClass {
  class Mcp extends Service {
    constructor(ctx: Context) {
      super(ctx, 'mcp');
    }

    registerServer(definition: unknown): () => void {
      const fields = fieldsOf(definition, 'a server', ['serverName', 'server']);
      const name = textOf(fields.serverName, 'the name of a server', { max: 64, min: 1 });
      if (!isFields(fields.server)) throw new TypeError(`server "${name}" must have a definition`);
      const server = jsonOf(fields.server, `server "${name}"`, MAX_SERVER) as Readonly<Record<string, unknown>>;
      return registrations.offer(this.ctx, { kind: 'mcp_server', name, server }, undefined);
    }
  }
  return Mcp;
}

/** Services that are there to say why they are not. */
export function absentService(name: string, methods: readonly string[], why: string): ServiceClass {
  class Absent extends Service {
    constructor(ctx: Context) {
      super(ctx, name);
    }
  }
  for (const method of methods) {
    Object.defineProperty(Absent.prototype, method, {
      value: () => {
        throw new Error(`ctx.${name}.${method} is not available: ${why}`);
      },
    });
  }
  return Absent;
}
