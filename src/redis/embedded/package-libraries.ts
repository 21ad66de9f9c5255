/** The C library belongs to the loader of the machine; another one beside it would break every program. */
const NEVER = new Set(['libc6', 'libc-bin', 'libcrypt1']);

/**
 * The library packages that `roots` need, directly or through other libraries, from what
 * `apt-cache depends --recurse --important` prints. Of alternatives the first is taken.
 */
export function packageLibraries(dependsOutput: string, roots: readonly string[]): string[] {
  const graph = dependencies(dependsOutput);
  const libraries = new Set<string>();
  const visit = (name: string) => {
    for (const needed of graph.get(name) ?? []) {
      if (!/^(lib|lua)/.test(needed) || NEVER.has(needed) || libraries.has(needed)) continue;
      libraries.add(needed);
      visit(needed);
    }
  };
  for (const root of roots) visit(root);
  return [...libraries];
}

function dependencies(output: string): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  let current: string[] = [];
  let isAlternative = false;
  for (const line of output.split('\n')) {
    if (/^\S/.test(line)) {
      current = [];
      graph.set(line.trim(), current);
      isAlternative = false;
      continue;
    }
    // `|Depends: a` means: a, or else what the next such line names.
    const [, bar, name] = /^ ([ |])(?:Pre)?Depends: (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    if (!isAlternative) current.push(name.replace(/:.*$/, ''));
    isAlternative = bar === '|';
  }
  return graph;
}
