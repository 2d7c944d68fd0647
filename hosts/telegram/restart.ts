import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from './rooms.ts';
import { readStateFile, writeStateFile } from './state-file.ts';

/** What a bot that ends to begin anew leaves for the one that comes. */
export interface Handover {
  readonly at: number;
  /** Absent: nobody in a chat asked for it. */
  readonly place?: Place;
}

const MAX_BYTES = 4_096;
/** A note that is older belongs to a bot that never came. */
const MAX_AGE_MS = 10 * 60_000;

const fileOf = (home: string): string => join(home, 'restart.json');

export function leaveHandover(home: string, handover: Handover): Promise<void> {
  return writeStateFile(fileOf(home), handover);
}

/** Takes the note away and gives it, where there is a fresh one. */
export async function takeHandover(home: string, now: number): Promise<Handover | undefined> {
  const found = (await readStateFile(fileOf(home), MAX_BYTES)) as Partial<Handover> | undefined;
  await rm(fileOf(home), { force: true });
  if (typeof found?.at !== 'number' || now - found.at > MAX_AGE_MS || now < found.at - MAX_AGE_MS) return undefined;
  const { at, place } = found;
  const isPlace = typeof place?.chatId === 'number' && (place.topicId === undefined || typeof place.topicId === 'number');
  return { at, ...(isPlace && { place }) };
}

/** Starts this very program anew, beside itself; it waits until this one has ended. */
export function startAnew(env: Readonly<Record<string, string | undefined>>, cwd: string): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], { cwd, env: { ...env }, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve(child.pid ?? 0);
    });
  });
}
