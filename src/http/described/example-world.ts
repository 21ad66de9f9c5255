/**
 * What is there before each example of the document is executed: the tenant `acme` of tier `pro`, the types `ocr` (whose cost is
 * the field `pages` of the payload) and `chat`, the policy `api`, a key made at run time, and one job in each of these states.
 */
export const EXAMPLE_JOBS = {
  waiting: '01kcb6v0xk3t4m5n6p7q8r9s0t.ocr.0',
  completed: '01kcb6v0xk3t4m5n6p7q8r9s1t.chat.0',
  failed: '01kcb6v0xk3t4m5n6p7q8r9s2t.chat.0',
  running: '01kcb6v0xk3t4m5n6p7q8r9s3t.chat.0',
} as const;

/** The running job is held by a worker elsewhere under this claim. */
export const RUNNING_CLAIM = '6b1f0c2e-4d1c-4a52-8f3b-0d5c1b7a9e10';

/** The job that has completed was posted so. */
export const COMPLETED_JOB = { type: 'chat', data: { question: 'What is a weir?' } };
export const COMPLETED_KEY = 'question-17';
export const COMPLETED_RESULT = { words: 4 };
/** What its handler emitted. */
export const COMPLETED_OUTPUT = ['A low ', 'dam.'];

/** The id of the key. */
export const EXAMPLE_KEY = '5f1d0c9a3b7e2468';
