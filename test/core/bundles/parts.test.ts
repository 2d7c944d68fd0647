import { describe, expect, it } from 'vitest';
import { bundleChanges, textChanges } from '../../../core/bundles/changes.ts';
import { configProblem } from '../../../core/bundles/config.ts';
import type { BundleAsks } from '../../../core/bundles/hashes.ts';
import { newRecord, parseRecord, withEnabled, withoutTrust, withReview, withTrust } from '../../../core/bundles/record.ts';
import { allowedLines, reviewLines } from '../../../core/bundles/review.ts';
import { readSkill, skillFolders } from '../../../core/bundles/skill-file.ts';
import type { BundleActor } from '../../../ports/bundle.ts';

const BY: BundleActor = { who: 'person', how: 'odek plugin trust', account: 'ada', at: 1 };
const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];
const ASKS: BundleAsks = {
  name: 'hello',
  scope: 'user',
  native: ['a.mjs'],
  imports: ['node:path'],
  capabilities: { hostServices: ['network'], networkHosts: ['a.example'], filesystemRoots: [], lifecycleMutation: false },
  mcpServers: [{ name: 'db', transport: 'stdio', command: 'node', args: ['./server.mjs', 'two words'], env: { LEVEL: 'info' }, cwd: './' }],
  skills: ['skills/a'],
};

describe('a skill', () => {
  const text = (front: string): string => `---\n${front}\n---\nDo it.\n`;

  it('is found directly below its root and nowhere deeper', () => {
    expect(
      skillFolders(['skills/b/SKILL.md', 'skills/a/SKILL.md', 'skills/a/b/SKILL.md', 'skills/SKILL.md', 'other/SKILL.md'], 'skills'),
    ).toEqual(['skills/a', 'skills/b']);
  });

  it.each([
    ['plain', 'name: a-b\ndescription: Does it.', 'Does it.'],
    ['quoted', "name: \"a-b\"\ndescription: 'It''s done.'", "It's done."],
    ['a block', 'name: a-b\ndescription: >-\n  Does\n  it.\nlicense: MIT', 'Does it.'],
  ])('may be written in %s front matter', (_, front, description) => {
    expect(readSkill('skills/a-b', text(front)).skill).toEqual({ name: 'a-b', description, folder: 'skills/a-b' });
  });

  it.each([
    ['no front matter', 'Do it.', 'front matter'],
    ['no name', text('description: x'), 'name must be'],
    ['a name in upper case', text('name: A-B\ndescription: x'), 'name must be'],
    ['the name of another folder', text('name: other\ndescription: x'), 'must be that of its folder'],
    ['no description', text('name: a-b'), 'description must be'],
    ['a description of 1,025 characters', text(`name: a-b\ndescription: ${'x'.repeat(1025)}`), 'description must be'],
    ['more than its bytes', `${text('name: a-b\ndescription: x')}${'x'.repeat(262_144)}`, 'larger than'],
  ])('is left out for %s', (_, given, told) => {
    const { skill, problems } = readSkill('skills/a-b', given);
    expect(skill).toBeUndefined();
    expect(problems).toEqual([expect.objectContaining({ severity: 'disabled', text: expect.stringContaining(told) })]);
  });
});

describe('a record', () => {
  const record = withTrust(newRecord({ name: 'hello', scope: 'user' }), { content: A, capability: B, asks: ASKS, by: BY });

  it('is read as it was kept', () => expect(parseRecord(JSON.parse(JSON.stringify(record)))).toEqual(record));

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', []],
    ['no name', { ...record, name: 1 }],
    ['a scope that is none', { ...record, scope: 'global' }],
    ['a workspace of a user bundle', { ...record, workspace: '/a' }],
    ['no workspace of a workspace bundle', { ...record, scope: 'workspace' }],
    ['a trust in nothing', { ...record, trust: true }],
    ['a trust in a hash that is none', { ...record, trust: { ...record.trust, content: 'x' } }],
    ['a trust by nobody', { ...record, trust: { ...record.trust, by: undefined } }],
    ['a trust by an agent', { ...record, trust: { ...record.trust, by: { ...BY, who: 'agent' } } }],
    ['somebody who enabled it that is none', { ...record, enabled: 'yes' }],
    ['reviews that are none', { ...record, reviews: [1] }],
  ])('trusts nothing where it is %s', (_, value) => expect(parseRecord(value)).toBeUndefined());

  it('keeps the last 32 reviews', () => {
    let long = newRecord({ name: 'hello', scope: 'user' });
    for (let at = 0; at < 40; at++) long = withReview(long, { content: A, capability: B, by: { ...BY, at } });
    expect(long.reviews.map(({ by }) => by.at)).toEqual(Array.from({ length: 32 }, (_, at) => at + 8));
  });

  it('is off again after a trust in something else, and stays on after one in the same', () => {
    const on = withEnabled(record, BY);
    expect(withTrust(on, { content: A, capability: B, asks: ASKS, by: BY }).enabled).toEqual(BY);
    expect(withTrust(on, { content: B, capability: B, asks: ASKS, by: BY }).enabled).toBeUndefined();
    expect(withTrust(on, { content: A, capability: A, asks: ASKS, by: BY }).enabled).toBeUndefined();
    expect(withoutTrust(on)).not.toHaveProperty('enabled');
    expect(withEnabled(on, undefined)).toEqual(record);
  });
});

describe('what changed', () => {
  it('is told by line', () => {
    expect(textChanges('a\nb\nc\nd\n', 'a\nB\nc\nd\ne\n')).toEqual(['@ line 2', '- b', '+ B', '+ e']);
    expect(textChanges('a\n', 'a\n')).toEqual([]);
    expect(textChanges(undefined, 'a')).toEqual(['(no text, or too large to show)']);
  });

  it('cannot write to the terminal', () => {
    expect(textChanges('', '\u001b[2Jx\u202e').join()).toBe('@ line 1,+ \\x1b[2Jx\\u202e');
  });

  it('is told of every file, within a bound', () => {
    const file = (path: string, sha256: string) => ({ path, size: 1, sha256 });
    const texts = { textBefore: () => 'x', textAfter: () => 'y\n'.repeat(1000) };
    const lines = bundleChanges({
      before: [file('a', '1'), file('b', '1'), file('c', '1')],
      after: [file('a', '1'), file('b', '2'), file('d', '1')],
      ...texts,
    });
    expect(lines[0]).toBe('~ b  (1 bytes → 1 bytes)');
    expect(lines).toHaveLength(401);
    expect(lines.at(-1)).toMatch(/^… \d+ more lines$/);
  });

  it('is told of two long texts that share nothing without comparing each line with each', () => {
    const before = Array.from({ length: 5000 }, (_, at) => `a${at}`).join('\n');
    const after = Array.from({ length: 5000 }, (_, at) => `b${at}`).join('\n');
    expect(textChanges(before, after)).toHaveLength(10_001);
  });
});

describe('settings of a plugin', () => {
  const nested = (levels: number): Record<string, unknown> => (levels === 1 ? {} : { a: nested(levels - 1) });

  it('may be 16 levels deep and 16 KiB large, and no more', () => {
    expect(configProblem(nested(16))).toBeUndefined();
    expect(configProblem(nested(17))).toBe('it is nested deeper than 16 levels');
    expect(configProblem({ a: 'x'.repeat(16 * 1024 - 8) })).toBeUndefined();
    expect(configProblem({ a: 'x'.repeat(16 * 1024 - 7) })).toBe('it has 16385 bytes, the limit is 16384');
  });
});

describe('a review', () => {
  const manifest = {
    ...{
      name: 'hello',
      version: '1.0.0\u001b[2J',
      description: 'x\ny',
      keywords: [],
      native: ['a.mjs'],
      skills: [],
      mcpSchemas: [],
      lenient: false,
    },
    capabilities: ASKS.capabilities,
    when: { os: [], binaries: [] },
  };
  const input = {
    ...{
      manifest,
      asks: ASKS,
      folder: '/p/hello',
      dataDir: '/d',
      files: 1,
      bytes: 2,
      content: A,
      capability: B,
      unsandboxed: false,
      shares: ['other'],
    },
    ...{ computed: ['a.mjs:3'], problems: [] },
  };

  it('says in words what is allowed, and ends with the one command that allows it', () => {
    const text = reviewLines(input).join('\n');
    for (const part of [
      'runs code in a process of its own: a.mjs',
      'send requests to the hosts named under "network"',
      'network: a.example',
      'starts a program on your machine',
      'db: LEVEL=info node ./server.mjs "two words" (in ./)',
      'gives the model instructions to load: skills/a',
      'imports node:path',
      'shares its process with other',
      'works out at run time what it imports, at a.mjs:3',
      `odek plugin trust ${A}.${B}`,
      'Trust runs nothing',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('allow_unsandboxed');
  });

  it('says where nothing keeps code apart', () => {
    expect(reviewLines({ ...input, unsandboxed: true }).join('\n')).toContain('allow_unsandboxed is on');
  });

  it('tells what is allowed now and was not, and the other way round', () => {
    const before = {
      asks: { ...ASKS, imports: [], capabilities: { ...ASKS.capabilities, networkHosts: ['old.example'] } },
      changes: ['~ a.mjs'],
    };
    const text = reviewLines({ ...input, before }).join('\n');
    for (const part of ['  - network: old.example', '  + network: a.example', '  + imports node:path', '  ~ a.mjs'])
      expect(text).toContain(part);
  });

  it('names what is asked for and not given', () => {
    const capabilities = {
      hostServices: ['settings' as const],
      networkHosts: ['a.example'],
      filesystemRoots: ['docs'],
      lifecycleMutation: true,
    };
    const text = allowedLines({ ...ASKS, capabilities }, '/d').join('\n');
    expect(text).toContain('read settings of odek ("settings"); this version of odek refuses that');
    expect(text).toContain('names hosts (a.example) and reaches none of them');
    expect(text).toContain('names folders (docs) and gets none of them');
    expect(text).toContain('what other plugins do; this version of odek refuses that');
  });
});
