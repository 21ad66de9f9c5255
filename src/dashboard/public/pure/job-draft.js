/**
 * @typedef {object} Draft what stands in the form
 * @property {string} type
 * @property {string} tenant empty: the key's own
 * @property {string} data JSON
 * @property {string} priority
 * @property {string} delay in seconds, or empty
 *
 * @typedef {{ outcome: 'ready', job: object } | { outcome: 'faulty', field: 'data' | 'delay', message: string }} ReadDraft
 */

/**
 * The body of `POST /v1/jobs` for a form. What the server checks better is left to it.
 *
 * @param {Draft} draft
 * @returns {ReadDraft}
 */
export function readDraft({ type, tenant, data, priority, delay }) {
  const payload = readObject(data);
  if (typeof payload === 'string') return { outcome: 'faulty', field: 'data', message: payload };
  const seconds = delay.trim() === '' ? 0 : Number(delay);
  if (!(seconds >= 0)) return { outcome: 'faulty', field: 'delay', message: 'The delay is a number of seconds.' };
  const job = {
    type,
    ...(tenant === '' ? {} : { tenant }),
    data: payload,
    ...(priority === '4' ? {} : { priority: Number(priority) }),
    ...(seconds === 0 ? {} : { delayMs: Math.round(seconds * 1000) }),
  };
  return { outcome: 'ready', job };
}

/** @param {string} text @returns {object | string} what is wrong with it, if it is no object */
function readObject(text) {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    return 'The payload is a JSON object, in braces.';
  } catch (error) {
    return `The payload is not JSON: ${error instanceof Error ? error.message : error}.`;
  }
}
