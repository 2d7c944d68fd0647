import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Stage } from '../e2e/support/stage.ts';

/** A bundle that a test writes. */
export interface TestBundle {
  /** Path below the bundle → text. */
  readonly files: Readonly<Record<string, string>>;
  /** Absent: every file at the top that can be one. */
  readonly entries?: readonly string[];
  readonly services?: readonly string[];
  readonly hosts?: readonly string[];
}

/** Writes a bundle below the user's home, where nothing of odek looks. */
export async function writeBundle(
  place: { readonly home: string },
  name: string,
  { files, entries, services, hosts }: TestBundle,
): Promise<string> {
  const folder = join(place.home, 'bundles', name);
  const paths = entries ?? Object.keys(files).filter((path) => /^[^/]+\.m(ts|js)$/.test(path));
  const capabilities = { ...(services && { host_services: services }), ...(hosts && { network_hosts: hosts }) };
  const manifest = {
    $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json',
    name,
    version: '1.0.0',
    description: `The bundle ${name} of a test.`,
    extensions: {
      'dev.odek': { ...(paths.length > 0 && { native: { paths } }), ...(Object.keys(capabilities).length > 0 && { capabilities }) },
    },
  };
  for (const [path, text] of Object.entries({ 'plugin.json': JSON.stringify(manifest), ...files })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** Reviews, trusts with the token that the review printed, and switches on, as a person would. */
export async function switchOn(stage: Stage, name: string): Promise<void> {
  const review = await stage.run(['plugin', 'review', name]);
  expect(review.code, review.stderr).toBe(0);
  const token = /[0-9a-f]{64}\.[0-9a-f]{64}/.exec(review.stdout)?.[0] ?? '';
  for (const args of [
    ['plugin', 'trust', token],
    ['plugin', 'enable', name],
  ]) {
    const ended = await stage.run(args);
    expect(ended.code, `${args.join(' ')}\n${ended.stderr}${ended.stdout}`).toBe(0);
  }
}

/** Writes, installs, reviews, trusts and switches on. */
export async function withBundle(stage: Stage, name: string, bundle: TestBundle): Promise<string> {
  const folder = await writeBundle(stage, name, bundle);
  const installed = await stage.run(['plugin', 'install', folder]);
  expect(installed.code, installed.stderr + installed.stdout).toBe(0);
  await switchOn(stage, name);
  return folder;
}

/** The texts that the model got as results of its calls. */
export function results(stage: Stage): readonly string[] {
  const last = stage.server.requests.at(-1)?.body.messages as { role: string; content: string }[] | undefined;
  return (last ?? []).filter(({ role }) => role === 'tool').map(({ content }) => content);
}

/** Names of the tools that the model was told of. */
export function offered(stage: Stage, request = 0): readonly string[] {
  const tools = stage.server.requests[request]?.body.tools as { function: { name: string } }[] | undefined;
  return (tools ?? []).map((tool) => tool.function.name);
}

/** The operator lets plugin tools run where nobody can be asked. */
export const FULL_ACCESS = { extension_host: { enabled: true }, dangerous: { action: 'allow' } };

/** Plugins run, and nothing else is said. */
export const PLUGINS_ON = { extension_host: { enabled: true } };
