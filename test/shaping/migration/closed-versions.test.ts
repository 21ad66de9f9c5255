import { expect, test } from 'vitest';
import { library as limits } from '../../../src/policing/scripts.js';
import { library as apiKeys } from '../../../src/shaping/api-key-scripts.js';
import { isOlder } from '../../../src/shaping/migration/closed-versions.js';
import { library as forward } from '../../../src/shaping/migration/forward-scripts.js';
import { library as permits } from '../../../src/shaping/permit-scripts.js';
import { library as shaping } from '../../../src/shaping/scripts.js';
import { STORED_FORMAT } from '../../../src/shaping/stored-data.js';
import { library as surveys } from '../../../src/shaping/survey-scripts.js';

test.each([
  ['headgate_0123456789ab', ['admit_0123456789ab', 'dispatch_0123456789ab'], true],
  ['headgate_0123456789ab', ['touch_job_promote_0123456789ab'], true],
  ['headgate_0123456789ab', ['survey_0123456789ab'], true],
  ['headgate_0123456789ab', ['check_0123456789ab', 'refund_0123456789ab'], false],
  ['headgate_0123456789ab', ['add_key_0123456789ab'], false],
  ['headgate_0123456789ab', ['missing_rights_0123456789ab'], false],
  [`headgate_f${STORED_FORMAT - 1}_0123456789ab`, ['anything_0123456789ab'], true],
  [`headgate_f${STORED_FORMAT}_0123456789ab`, ['dispatch_0123456789ab'], false],
  [`headgate_f${STORED_FORMAT + 1}_0123456789ab`, ['dispatch_0123456789ab'], false],
])('of a library %s with %j it is known whether it reads older data', (name, functions, older) => {
  expect(isOlder({ name, functions })).toBe(older);
});

test('no library of this version is taken for an older one', () => {
  for (const { name, functions } of [shaping, permits, surveys, forward, limits, apiKeys]) {
    expect(isOlder({ name, functions: [...functions.values()].map((each) => each.name) }), name).toBe(false);
  }
});

test('those that read and write the data of jobs say of which form they are', () => {
  for (const { name } of [shaping, permits, surveys])
    expect(name).toMatch(new RegExp(`^headgate_f${STORED_FORMAT}_[0-9a-f]{12}$`));
});
