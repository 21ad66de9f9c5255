/**
 * The command that posts this job. The key is not in it: the shell has it in `$HEADGATE_KEY`.
 *
 * @param {string} origin of the API
 * @param {object} job the body
 * @returns {string}
 */
export function curlLine(origin, job) {
  const parts = [
    `curl -s ${quoted(`${origin}/v1/jobs`)}`,
    '-H "Authorization: Bearer $HEADGATE_KEY"',
    `-H ${quoted('Content-Type: application/json')}`,
    `-d ${quoted(JSON.stringify(job))}`,
  ];
  return parts.join(' \\\n  ');
}

/** @param {string} text in the quotes of a shell, in which nothing has a meaning but the quote itself */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
