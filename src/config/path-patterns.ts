/** A last parameter that may be missing. */
const OPTIONAL = /^(.*)(\/:[^/()]+)\?\/?$/;
const TOKEN = /\\.|[()]|[^\\()]+/g;

/**
 * What a pattern stands for, spelled in one way: in small letters, without escapes of what needs none. One pattern, or
 * two where the last parameter is optional: with it and without. Expressions in brackets stay as they are.
 */
export function pathPatterns(written: string): readonly [string, ...string[]] {
  const pattern = outsideBrackets(written, (text) => unescaped(text).toLowerCase());
  const [, before = '', parameter] = OPTIONAL.exec(pattern) ?? [];
  return parameter === undefined ? [pattern] : [before + parameter, before || '/'];
}

/** The folders of a pattern that ends with `/*`: what holds for all in a folder holds for the folder. None for another one. */
export function folderPatterns(written: string): readonly string[] {
  return pathPatterns(written).flatMap((pattern) => (pattern.endsWith('/*') ? [pattern.slice(0, -2) || '/'] : []));
}

/**
 * One text for all patterns that match the same paths by their text: the names of parameters, repeated slashes and one at the
 * end mean nothing.
 */
export function patternForm(pattern: string): string {
  const unnamed = outsideBrackets(pattern, (text) =>
    text.replace(/::|:[^/.-]*/g, (part) => (part === '::' ? part : ':')).replace(/\/+/g, '/'),
  );
  return unnamed.length > 1 && unnamed.endsWith('/') ? unnamed.slice(0, -1) : unnamed;
}

/** A pattern without its expressions: there any character may stand. */
export function withoutExpressions(pattern: string): string {
  let plain = '';
  outsideBrackets(pattern, (text) => {
    plain += text;
    return text;
  });
  return plain;
}

/** Changes what is no expression: there a letter's case has a meaning. */
function outsideBrackets(pattern: string, change: (text: string) => string): string {
  let depth = 0;
  return pattern.replace(TOKEN, (token) => {
    if (token === '(') depth += 1;
    if (token === ')') depth = Math.max(0, depth - 1);
    return depth === 0 && token !== ')' ? change(token) : token;
  });
}

function unescaped(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
