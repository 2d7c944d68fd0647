import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../ports/errors.ts';
import { writeText } from './state-file.ts';

const MAX_SLUG = 60;
const MAX_BYTES = 1024 * 1024;
const SLUG = /^[a-z0-9][a-z0-9-]{0,59}$/;
const EXTENSION = '.md';

/** A plan that a chat keeps as a file. */
export interface KeptPlan {
  readonly slug: string;
  readonly at: number;
  readonly size: number;
}

/** The name of a plan, from what it is about. */
export function slugOf(description: string): string {
  const words = description
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return words.slice(0, MAX_SLUG).replace(/-+$/, '') || 'plan';
}

function folderOf(home: string, chatId: number): string {
  return join(home, 'plans', `chat${chatId}`);
}

/** Plans of a chat, newest first. */
export async function listPlans(home: string, chatId: number): Promise<readonly KeptPlan[]> {
  const folder = folderOf(home, chatId);
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.endsWith(EXTENSION) && SLUG.test(name.slice(0, -EXTENSION.length)),
  );
  const stats = await Promise.all(names.map((name) => lstat(join(folder, name)).catch(() => undefined)));
  const plans = names.flatMap((name, index) => {
    const found = stats[index];
    return found?.isFile() ? [{ slug: name.slice(0, -EXTENSION.length), at: found.mtimeMs, size: found.size }] : [];
  });
  return plans.sort((one, other) => other.at - one.at);
}

/** The plan that a name or its beginning means. Throws `ConfigError` `plan_not_found` or `plan_ambiguous`. */
export async function findPlan(home: string, chatId: number, name: string): Promise<KeptPlan> {
  const plans = await listPlans(home, chatId);
  const wanted = name.trim().toLowerCase();
  const exact = plans.find(({ slug }) => slug === wanted);
  if (exact) return exact;
  const found = wanted === '' ? [] : plans.filter(({ slug }) => slug.startsWith(wanted));
  const [only, ...more] = found;
  if (only === undefined)
    throw new ConfigError('plan_not_found', `there is no plan ${JSON.stringify(name)} here; /plans lists them`, { value: name });
  if (more.length > 0) {
    throw new ConfigError(
      'plan_ambiguous',
      `${JSON.stringify(name)} means ${found.map(({ slug }) => slug).join(', ')}: say more of the name`,
      {
        value: name,
      },
    );
  }
  return only;
}

/** Stores a plan; one of the same name is replaced. At most 1 MiB. */
export async function writePlan(home: string, chatId: number, slug: string, text: string): Promise<void> {
  const folder = folderOf(home, chatId);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeText(join(folder, `${slug}${EXTENSION}`), Buffer.from(text).subarray(0, MAX_BYTES).toString('utf8'));
}

/** The text of a plan; of one that is larger than 1 MiB its beginning. */
export async function readPlan(home: string, chatId: number, slug: string): Promise<string> {
  const file = await open(join(folderOf(home, chatId), `${slug}${EXTENSION}`), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const buffer = Buffer.alloc(MAX_BYTES);
    const { bytesRead } = await file.read(buffer, 0, MAX_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function deletePlan(home: string, chatId: number, slug: string): Promise<void> {
  await rm(join(folderOf(home, chatId), `${slug}${EXTENSION}`));
}
