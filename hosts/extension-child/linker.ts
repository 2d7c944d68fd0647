import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix } from 'node:path';
import vm from 'node:vm';

export type ModuleMembers = Readonly<Record<string, unknown>>;

export interface LinkerOptions {
  /** Stands in stack traces before the path. */
  readonly label: string;
  /** Absolute folder of the files. */
  readonly root: string;
  /** Path below it → SHA-256; nothing else is read. */
  readonly files: Readonly<Record<string, string>>;
  /** What can be imported by a bare name. */
  readonly packages: ReadonlyMap<string, ModuleMembers>;
  readonly builtins: ReadonlyMap<string, ModuleMembers>;
}

/** Evaluates reviewed files: each is read once, and exactly the bytes that were hashed are run. */
export interface Linker {
  load(path: string): Promise<object>;
}

type Attributes = Readonly<Record<string, string | undefined>> | undefined;

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const JAVASCRIPT = /\.m?[jt]s$/;

export function createLinker({ label, root, files, packages, builtins }: LinkerOptions): Linker {
  const modules = new Map<string, vm.Module>();
  const loaded = new Map<vm.Module, Promise<object>>();

  const read = (path: string): string => {
    const expected = Object.hasOwn(files, path) ? files[path] : undefined;
    if (expected === undefined) throw new Error(`"${path}" is not among the reviewed files`);
    const bytes = readFileSync(join(root, path));
    if (bytes.length > MAX_FILE_BYTES) throw new Error(`"${path}" has ${bytes.length} bytes, over the limit of ${MAX_FILE_BYTES}`);
    const found = createHash('sha256').update(bytes).digest('hex');
    if (found !== expected) throw new Error(`"${path}" is not the file that was reviewed: its SHA-256 is ${found}, not ${expected}`);
    try {
      return UTF8.decode(bytes);
    } catch {
      throw new Error(`"${path}" is not UTF-8`);
    }
  };

  const synthetic = (key: string, members: ModuleMembers): vm.Module => {
    const module = new vm.SyntheticModule(
      Object.keys(members),
      () => {
        for (const [name, value] of Object.entries(members)) module.setExport(name, value);
      },
      { identifier: key },
    );
    return module;
  };

  const source = (path: string): vm.Module =>
    new vm.SourceTextModule(read(path), {
      identifier: `${label}/${path}`,
      initializeImportMeta: (meta) => {
        meta.url = `odek-plugin:///${path}`;
      },
      importModuleDynamically: ((specifier: string, from: vm.Module, attributes: Attributes) =>
        evaluated(resolve(specifier, from, attributes))) as never,
    });

  const cached = (key: string, make: () => vm.Module): vm.Module => {
    const known = modules.get(key);
    if (known !== undefined) return known;
    const made = make();
    modules.set(key, made);
    return made;
  };

  const local = (path: string, attributes: Attributes): vm.Module => {
    const isJson = path.endsWith('.json');
    if (isJson !== (attributes?.type === 'json')) {
      throw new Error(isJson ? `import "${path}" with { type: 'json' }` : `"${path}" cannot be imported as ${attributes?.type}`);
    }
    if (isJson) return cached(path, () => synthetic(`${label}/${path}`, { default: JSON.parse(read(path)) }));
    if (!JAVASCRIPT.test(path)) throw new Error(`"${path}" cannot be imported: only .mjs, .js, .mts, .ts and .json can`);
    return cached(path, () => source(path));
  };

  const resolve = (specifier: string, from: vm.Module, attributes: Attributes): vm.Module => {
    if (/^\.\.?\//.test(specifier)) {
      const path = posix.normalize(posix.join(dirname(from.identifier.slice(label.length + 1)), specifier));
      if (path.startsWith('../')) throw new Error(`"${specifier}" leads out of the bundle`);
      return local(path, attributes);
    }
    const builtin = builtins.get(specifier.replace(/^node:/, ''));
    if (builtin !== undefined) return cached(`node:${specifier.replace(/^node:/, '')}`, () => synthetic(specifier, builtin));
    const members = packages.get(specifier);
    if (members !== undefined) return cached(specifier, () => synthetic(specifier, members));
    throw new Error(refusalOf(specifier, packages));
  };

  /** Links and evaluates once, however often it is asked for. */
  const evaluated = (module: vm.Module): Promise<object> => {
    const known = loaded.get(module);
    if (known !== undefined) return known;
    const work = (async () => {
      if (module.status === 'unlinked')
        await module.link((specifier, from, extra) => resolve(specifier, from as vm.Module, attributesOf(extra)));
      await module.evaluate();
      return module.namespace;
    })();
    loaded.set(module, work);
    return work;
  };

  return { load: async (path) => evaluated(local(path, undefined)) };
}

function attributesOf(extra: object): Attributes {
  return (extra as { readonly attributes?: Attributes }).attributes;
}

function refusalOf(specifier: string, packages: ReadonlyMap<string, ModuleMembers>): string {
  const shown = specifier.slice(0, 200);
  if (isBuiltin(specifier) || specifier.startsWith('node:')) return `a plugin cannot import "${shown}" of Node`;
  if (/^[/a-z][a-z+]*:|^\//i.test(specifier)) return `"${shown}" cannot be imported: name a file of the bundle by its relative path`;
  return `"${shown}" is no file of the bundle and none of ${[...packages.keys()].join(', ')}; put a package's code into the bundle`;
}
