/** Part of a schema that is an object. */
export type Node = Readonly<Record<string, unknown>>;

export function asNode(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : undefined;
}

/** What a reference within a schema names; an empty schema where that is nothing here. */
export function lookUp(reference: string, root: Node): Node {
  if (reference === '#') return root;
  const place = reference.startsWith('#/') ? pointed(reference.slice(2), root) : anchored(reference, root);
  return asNode(place) ?? {};
}

function pointed(pointer: string, root: Node): unknown {
  return pointer
    .split('/')
    .map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((place, step) => {
      if (typeof place !== 'object' || place === null || !Object.hasOwn(place, step)) return undefined;
      return (place as Node)[step];
    }, root);
}

function anchored(reference: string, root: Node): unknown {
  const names = [asNode(root.$defs), asNode(root.definitions)].flatMap((part) => Object.values(part ?? {}));
  return names.find((part) => {
    const { $id, $anchor } = asNode(part) ?? {};
    return $id === reference || `#${String($anchor)}` === reference;
  });
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
