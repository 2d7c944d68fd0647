import { describe, expect, it } from 'vitest';
import { CANONICAL_MCP_SCHEMA, CANONICAL_SCHEMA, parseManifest } from '../../../core/bundles/manifest.ts';

const base = { $schema: CANONICAL_SCHEMA, name: 'hello' };
const parse = (value: unknown) => parseManifest(typeof value === 'string' ? value : JSON.stringify(value));
const ours = (namespace: unknown) => ({ ...base, extensions: { 'dev.odek': namespace } });
const reasons = (value: unknown): string =>
  parse(value)
    .problems.map(({ severity, where, text }) => `${severity} ${where} ${text}`)
    .join('\n');

/** What makes a manifest unusable, and what the person is told. */
const REFUSED: readonly (readonly [string, unknown, string])[] = [
  ['text that is no JSON', '{', 'is not JSON'],
  ['an empty file', '', 'is not JSON'],
  ['a byte order mark', `\uFEFF${JSON.stringify(base)}`, 'is not JSON'],
  ['very deep JSON', '['.repeat(100_000), 'is not JSON'],
  ['a list', [], 'must be an object'],
  ['null', null, 'must be an object'],
  ['no $schema', { name: 'hello' }, '$schema is missing'],
  ['an empty $schema', { ...base, $schema: '' }, 'plugin.json: $schema'],
  ['a $schema of a later version', { ...base, $schema: 'https://agent-plugins.org/schemas/1.1.0/plugin.schema.json' }, 'version 1.1.0'],
  ['a $schema of another site', { ...base, $schema: 'https://example.com/plugin.schema.json' }, 'not "https://example.com'],
  ['a $schema that is a member of every object', { ...base, $schema: 'constructor' }, 'plugin.json: $schema'],
  ['a $schema that is no text', { ...base, $schema: 1 }, 'plugin.json: $schema'],
  ['no name', { $schema: CANONICAL_SCHEMA }, 'plugin.json: name'],
  ['an empty name', { ...base, name: '' }, 'plugin.json: name'],
  ['a name in upper case', { ...base, name: 'Hello' }, 'plugin.json: name'],
  ['a name that begins with a dash', { ...base, name: '-a' }, 'plugin.json: name'],
  ['a name that ends with a dot', { ...base, name: 'a.' }, 'plugin.json: name'],
  ['two dashes', { ...base, name: 'a--b' }, 'plugin.json: name'],
  ['two dots', { ...base, name: 'a..b' }, 'plugin.json: name'],
  ['a name with a slash', { ...base, name: 'a/b' }, 'plugin.json: name'],
  ['a name with a line after it', { ...base, name: 'a\n' }, 'plugin.json: name'],
  ['a name of 65 characters', { ...base, name: 'a'.repeat(65) }, 'plugin.json: name'],
  ['a name that is no text', { ...base, name: ['hello'] }, 'plugin.json: name'],
  ['a version that is a number', { ...base, version: 1 }, 'plugin.json: version must be a text'],
  ['a description that is null', { ...base, description: null }, 'plugin.json: description'],
  ['a homepage that is an object', { ...base, homepage: {} }, 'plugin.json: homepage'],
  ['a license that is a list', { ...base, license: ['MIT'] }, 'plugin.json: license'],
  ['an author that is a text', { ...base, author: 'Ada' }, 'plugin.json: author must be an object'],
  ['an author with another field', { ...base, author: { twitter: 'x' } }, 'has the field "twitter"'],
  ['an author whose name is a number', { ...base, author: { name: 1 } }, 'author.name must be a text'],
  ['keywords that are a text', { ...base, keywords: 'a' }, 'plugin.json: keywords'],
  ['a keyword that is a number', { ...base, keywords: [1] }, 'plugin.json: keywords'],
  ['our namespace as a text', ours('x'), 'must be an object'],
  ['an unknown key of ours', ours({ natives: {} }), 'has the key "natives"'],
  ['native as a text', ours({ native: 'a.mjs' }), 'must be an object'],
  ['native without a path', ours({ native: {} }), 'names neither path nor paths'],
  ['native with another key', ours({ native: { path: 'a.mjs', main: 'b.mjs' } }), 'has the key "main"'],
  ['an entry that is absolute', ours({ native: { path: '/etc/a.mjs' } }), 'it is absolute'],
  ['an entry on a drive', ours({ native: { path: 'C:a.mjs' } }), 'it is absolute'],
  ['an entry that leads out', ours({ native: { path: '../a.mjs' } }), 'leads out'],
  ['an entry that leads out in the middle', ours({ native: { path: './lib/../../a.mjs' } }), 'leads out'],
  ['an entry with a backslash', ours({ native: { path: 'lib\\a.mjs' } }), 'backslash'],
  ['an entry with an unseen character', ours({ native: { path: 'a\u202Esjm.mjs' } }), 'cannot be seen'],
  ['an entry of 513 bytes', ours({ native: { path: `${'a'.repeat(509)}.mjs` } }), 'longer than 512 bytes'],
  ['an entry that is a folder', ours({ native: { path: 'lib' } }), 'must be one file'],
  ['an entry in CommonJS', ours({ native: { path: 'a.cjs' } }), 'must be one file'],
  ['an entry in .ts', ours({ native: { path: 'a.ts' } }), 'must be one file'],
  ['an entry that is only types', ours({ native: { path: 'a.d.mts' } }), 'must be one file'],
  ['65 entries', ours({ native: { paths: Array.from({ length: 65 }, (_, at) => `${at}.mjs`) } }), 'names 65 paths, the limit is 64'],
  ['paths that are a text', ours({ native: { paths: 'a.mjs' } }), 'must be a list'],
  ['a path that is a number', ours({ native: { paths: [1] } }), 'it is no text'],
  ['an unknown capability', ours({ capabilities: { shell: true } }), 'has the key "shell"'],
  ['a service that does not exist', ours({ capabilities: { host_services: ['root'] } }), '"root" is no service'],
  ['hosts with a wildcard', ours({ capabilities: { network_hosts: ['*.example.com'] } }), 'without "*"'],
  ['a host with a scheme', ours({ capabilities: { network_hosts: ['https://example.com'] } }), 'without "*"'],
  ['a host with a port beyond all ports', ours({ capabilities: { network_hosts: ['a.example:70000'] } }), 'host:port'],
  ['hosts that are a text', ours({ capabilities: { network_hosts: 'example.com' } }), 'must be a list'],
  ['65 hosts', ours({ capabilities: { network_hosts: Array.from({ length: 65 }, (_, at) => `h${at}.example`) } }), 'at most 64'],
  ['the whole disk', ours({ capabilities: { filesystem_roots: ['/'] } }), 'it is everything'],
  ['a folder above the workspace', ours({ capabilities: { filesystem_roots: ['..'] } }), 'leads out'],
  ['lifecycle_mutation as a text', ours({ capabilities: { lifecycle_mutation: 'yes' } }), 'must be true or false'],
  ['an unknown condition', ours({ when: { arch: ['x64'] } }), 'has the key "arch"'],
  ['a system that is none', ours({ when: { os: ['beos'] } }), '"beos" must be one of'],
  ['a program with a path', ours({ when: { binaries: ['/bin/sh'] } }), 'without a path'],
];

describe('a manifest', () => {
  it('needs no more than its schema and a name', () => {
    expect(parse(base).manifest).toMatchObject({
      name: 'hello',
      native: [],
      skills: [],
      lenient: false,
      mcpSchemas: [CANONICAL_MCP_SCHEMA],
    });
    expect(parse(base).problems).toEqual([]);
  });

  it.each(REFUSED)('is refused, with the reason, for %s', (_, value, told) => {
    expect(reasons(value)).toContain(told);
    expect(parse(value).manifest).toBeUndefined();
  });

  it('is refused for at least forty reasons', () => expect(REFUSED.length).toBeGreaterThanOrEqual(40));

  it.each(['hello', 'a', '1', 'acme.tools', 'lint3r', 'a-b-c', `${'a'.repeat(64)}`])('may be called %s', (name) => {
    expect(parse({ ...base, name }).manifest?.name).toBe(name);
  });

  it('tells of unknown fields of the root and ignores them', () => {
    const { manifest, problems } = parse({ ...base, mcpServers: {}, skills: 'x', '\u001b[2J': 1 });
    expect(manifest?.name).toBe('hello');
    expect(problems.map(({ severity }) => severity)).toEqual(['note', 'note', 'note']);
    expect(problems.at(-1)?.text).not.toContain('\u001b');
  });

  it('takes metadata by type alone', () => {
    const odd = { version: 'not semver', homepage: 'not a url', license: 'whatever', author: { email: 'nobody', url: '' }, keywords: [''] };
    expect(parse({ ...base, ...odd }).manifest).toMatchObject(odd);
  });

  it.each(['x', [], 1, null])('tells of extensions that are %j and loads the rest', (extensions) => {
    const { manifest, problems } = parse({ ...base, extensions });
    expect(manifest?.native).toEqual([]);
    expect(problems).toEqual([expect.objectContaining({ severity: 'note', where: 'plugin.json: extensions' })]);
  });

  it('does not look into the namespace of another client', () => {
    expect(parse({ ...base, extensions: { 'com.example': 'not even an object' } })).toMatchObject({
      manifest: { name: 'hello' },
      problems: [],
    });
  });

  it('reads the namespace of the reference host where ours is absent', () => {
    const { manifest, problems } = parse({
      ...base,
      extensions: {
        'net.codewhale': { display_name: 'Hello', native: { path: 'hello.mts' }, capabilities: { host_services: ['network'] } },
      },
    });
    expect(manifest).toMatchObject({ native: ['hello.mts'], capabilities: { hostServices: ['network'] } });
    expect(problems).toEqual([]);
  });

  it('prefers our namespace where both are there, and says so', () => {
    const { manifest, problems } = parse({
      ...base,
      extensions: { 'net.codewhale': { nonsense: true }, 'dev.odek': { native: { path: 'ours.mjs' } } },
    });
    expect(manifest?.native).toEqual(['ours.mjs']);
    expect(problems).toEqual([expect.objectContaining({ severity: 'note', text: expect.stringContaining('"dev.odek" counts') })]);
  });

  it.each(['commands', 'agents', 'hooks', 'lsp', 'providers'])('leaves out %s of the reference host by name', (key) => {
    const { manifest, problems } = parse({ ...base, extensions: { 'net.codewhale': { [key]: {} } } });
    expect(manifest?.name).toBe('hello');
    expect(problems).toEqual([expect.objectContaining({ severity: 'disabled', where: expect.stringContaining(key) })]);
  });

  it('activates path first, then paths, each once', () => {
    const { manifest } = parse(ours({ native: { path: './b.mjs', paths: ['a.mts', 'b.mjs', 'lib/c.js'] } }));
    expect(manifest?.native).toEqual(['b.mjs', 'a.mts', 'lib/c.js']);
  });

  it('knows capabilities in one order, each once', () => {
    const { manifest } = parse(
      ours({
        capabilities: {
          host_services: ['network', 'files', 'network'],
          network_hosts: ['b.example:8080', 'a.example', '[::1]:443'],
          filesystem_roots: ['docs', '.', '/srv/data'],
          lifecycle_mutation: true,
        },
        when: { os: ['macos', 'linux'], binaries: ['git'] },
      }),
    );
    expect(manifest).toMatchObject({
      capabilities: {
        hostServices: ['files', 'network'],
        networkHosts: ['[::1]:443', 'a.example', 'b.example:8080'],
        filesystemRoots: ['.', '/srv/data', 'docs'],
        lifecycleMutation: true,
      },
      when: { os: ['darwin', 'linux'], binaries: ['git'] },
    });
  });

  it('may name the short schema of the reference host', () => {
    expect(parse({ ...base, $schema: 'https://agent-plugins.org/schemas/plugin.json' }).manifest).toMatchObject({ lenient: true });
  });
});
