/**
 * The path of a request target, in the ways in which servers read one. Whoever counts calls by their path must not be
 * led around by another spelling of it: so a path is brought to one form, and where servers disagree, to two.
 */

/** `http://host/path`, as a proxy is asked. */
const ABSOLUTE_FORM = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;
const ESCAPES = /(?:%[\da-f]{2})+/gi;
/** An escaped slash stays within its segment for most servers, and ends it for some. */
const ESCAPED_SLASH = /%2f/gi;
/** What only an uneven path has: characters read in two ways, no slash in front, or slashes to be left out. */
const UNEVEN = /[\\;\ud800]|^[^/]|^$|\/[./]|.\/$/;
/** A mark for it that no path holds: half a surrogate pair is not what an escape can stand for. */
const SLASH_WITHIN = '\ud800';

/** The readings of a path. They differ only for paths that hold what servers disagree on. */
export interface PathReadings {
  /** As it is written: an escaped slash, `..`, `;` and `\` are characters of a segment. */
  readonly plain: string;
  /** As the most lenient server reads it: they end a segment, go up, end it early and end it. */
  readonly lenient: string;
}

/**
 * Readings of a request target in origin form (`/path?query`) or absolute form. Both begin with a slash, have neither
 * query nor fragment, no escapes, no empty segments and no slash at the end, and are in lower case. Total: an escape
 * that is none stays as it is, and bytes that are not UTF-8 become U+FFFD.
 */
export function readPath(target: string): PathReadings {
  const path = target.replace(ABSOLUTE_FORM, '').replace(/[?#].*$/s, '');
  const decoded = decode(path.replace(ESCAPED_SLASH, SLASH_WITHIN)).toLowerCase();
  if (!UNEVEN.test(decoded)) return { plain: decoded, lenient: decoded };
  return {
    plain: rooted(decoded.replaceAll(SLASH_WITHIN, '%2f').split('/')),
    lenient: rooted(resolved(decoded.replaceAll(SLASH_WITHIN, '/').split(/[/\\]/))),
  };
}

function decode(path: string): string {
  return path.includes('%')
    ? path.replace(ESCAPES, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
    : path;
}

function rooted(segments: readonly string[]): string {
  return `/${segments.filter((segment) => segment !== '').join('/')}`;
}

function resolved(segments: readonly string[]): string[] {
  const path: string[] = [];
  for (const segment of segments) {
    if (segment === '') continue;
    const [name = ''] = segment.split(';', 1);
    if (name === '..') path.pop();
    else if (name !== '.') path.push(name);
  }
  return path;
}
