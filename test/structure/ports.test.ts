import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import type { BrokenAdapter, ContractSuite } from '../contracts/suite.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Ports that must be there. Whatever else states a contract is found by itself. */
const REQUIRED = [
  'Approver',
  'Clock',
  'EventSink',
  'FileSystem',
  'Hash',
  'HttpClient',
  'Ids',
  'LlmProvider',
  'Plugin',
  'ProcessRunner',
  'SchemaValidator',
  'SessionStore',
];

/** Name of the port's files in `test/contracts/`. */
function stemOf(port: string): string {
  return port === 'ProcessRunner' ? 'process' : port.replace(/(?<!^)(?=[A-Z])/g, '-').toLowerCase();
}

const MAX_MEMBERS = 5;

interface PortShape {
  readonly name: string;
  readonly members: number;
  /** The docstring, on one line. */
  readonly contract: string;
}

/** Interfaces in `ports/` whose docstring states a contract. */
function portsWithContract(): PortShape[] {
  const found: PortShape[] = [];
  for (const file of readdirSync(join(ROOT, 'ports')).filter((name) => name.endsWith('.ts'))) {
    const source = ts.createSourceFile(file, readFileSync(join(ROOT, 'ports', file), 'utf8'), ts.ScriptTarget.ESNext, true);
    source.forEachChild((node) => {
      if (!ts.isInterfaceDeclaration(node)) return;
      const doc = ts
        .getJSDocCommentsAndTags(node)
        .map((each) => each.getText())
        .join('\n');
      if (!/\bContract\b/.test(doc)) return;
      found.push({ name: node.name.text, members: node.members.length, contract: doc.replace(/\s*\n\s*\*\s?/g, ' ') });
    });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function exported(file: string): Promise<unknown[]> {
  const module = (await import(pathToFileURL(join(ROOT, file)).href)) as Record<string, unknown>;
  return Object.values(module);
}

function isSuite(value: unknown): value is ContractSuite<unknown> {
  return typeof value === 'object' && value !== null && 'cases' in value && 'port' in value;
}

function isBrokenList(value: unknown): value is readonly BrokenAdapter<unknown>[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'object' && each !== null && 'caughtBy' in each);
}

describe('ports', () => {
  test('that must be there state a contract', () => {
    expect(portsWithContract().map((port) => port.name)).toEqual(expect.arrayContaining(REQUIRED));
  });

  test.each(portsWithContract())('keep to five members: $name', ({ members }) => {
    expect(members).toBeLessThanOrEqual(MAX_MEMBERS);
  });
});

describe.each(portsWithContract())('the port $name', ({ name, contract }) => {
  const stem = stemOf(name);

  test('has a suite, broken adapters and a test that runs both', () => {
    for (const part of ['suite', 'broken', 'test']) expect(existsSync(join(ROOT, `test/contracts/${stem}.${part}.ts`)), part).toBe(true);
  });

  test('has one case with an id of its own for each sentence, and no case without a sentence', async () => {
    const suites = (await exported(`test/contracts/${stem}.suite.ts`)).filter(isSuite);
    expect(suites).toHaveLength(1);
    const cases = suites[0]?.cases ?? [];
    const promises = contract.match(/ - /g)?.length ?? 1;
    expect(cases.length).toBeGreaterThanOrEqual(promises);
    expect(new Set(cases.map((each) => each.id)).size).toBe(cases.length);
    expect(cases.filter((each) => each.sentence.length < 10)).toEqual([]);
  });

  test('has for each case at least one broken adapter that the case must reject', async () => {
    const suite = (await exported(`test/contracts/${stem}.suite.ts`)).find(isSuite);
    const values = await exported(`test/contracts/${stem}.broken.ts`);
    const lists = (await Promise.all(values.map((value) => (typeof value === 'function' && value.length === 0 ? value() : value)))).filter(
      isBrokenList,
    );
    const caught = new Set(lists.flat().map((each) => each.caughtBy));
    expect(suite?.cases.map((each) => each.id).filter((id) => !caught.has(id))).toEqual([]);
  });

  test('is offered to authors of adapters by odek/testing', async () => {
    const suite = (await exported(`test/contracts/${stem}.suite.ts`)).find(isSuite);
    expect(await exported('test/contracts/index.ts')).toContain(suite);
  });
});
