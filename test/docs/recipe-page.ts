/** The code of docs/recipes.md, by the file that each block says it is. */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPage } from './markdown.ts';

const PAGE = fileURLToPath(new URL('../../docs/recipes.md', import.meta.url));

export function recipeCode(title: string): string {
  const found = readPage('docs/recipes.md', readFileSync(PAGE, 'utf8')).code.filter((block) => block.title === title);
  const [block] = found;
  if (block === undefined || found.length > 1) throw new Error(`docs/recipes.md has ${found.length} blocks called ${title}, not 1`);
  return block.text;
}

/** Puts the page's block `title` into `folder`, under `as` or its own name. */
export async function putRecipe(folder: string, title: string, as: string = title): Promise<void> {
  await mkdir(dirname(join(folder, as)), { recursive: true });
  await writeFile(join(folder, as), `${recipeCode(title)}\n`, { mode: 0o600 });
}
