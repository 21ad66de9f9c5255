import { createJiti } from 'jiti';

// What runs in each thread, from the sources: a thread knows nothing of what the test runner does to them.
const thread = await createJiti(import.meta.url).import('../../../workers/threads/thread.ts');
export default thread.default;
