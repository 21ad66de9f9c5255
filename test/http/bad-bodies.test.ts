import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Admit, scriptedShaping } from './support/scripted-shaping.js';
import { as, post, problemIn, type TestApp, testApp } from './support/test-app.js';

let served: TestApp;
let admits: Admit[];
beforeAll(async () => {
  const scripted = scriptedShaping();
  admits = scripted.admits;
  served = await testApp({ shaping: scripted.shaping });
});
afterAll(async () => {
  expect(admits, 'nothing that was refused reached the door of Redis').toEqual([]);
  expect(served.logged, 'a caller’s mistake is no event of ours').toEqual([]);
  await served.app.close();
});

async function refusal(body: string | Buffer, headers: Record<string, string> = {}) {
  const content = { 'content-type': 'application/json', ...headers };
  const response = await served.app.inject(
    as('acme', { method: 'POST', url: '/v1/jobs', payload: body, headers: content }),
  );
  return { status: response.statusCode, ...problemIn(response) };
}

describe('a field', () => {
  /** The body of an `ocr` job with one more member, as text: JavaScript could not write some of these. */
  const withMember = (member: string) => `{"type":"ocr","data":{},${member}}`;

  test.each([
    ['"priority":"5"', 'priority', 'an integer from 0 (first) to 9 (last); got "5"'],
    ['"priority":-1', 'priority', 'got -1'],
    ['"priority":10', 'priority', 'got 10'],
    ['"priority":4.5', 'priority', 'got 4.5'],
    ['"priority":null', 'priority', 'got null'],
    ['"priority":[]', 'priority', 'got []'],
    ['"priority":{}', 'priority', 'got an object'],
    ['"priority":true', 'priority', 'got true'],
    ['"priority":" 5 "', 'priority', 'got " 5 "'],
    ['"priority":"0x10"', 'priority', 'got "0x10"'],
    ['"priority":"abc"', 'priority', 'got "abc"'],
    ['"priority":1e400', 'priority', 'beyond the range of a double'],
    ['"delayMs":-1', 'delayMs', 'got -1'],
    ['"delayMs":0.5', 'delayMs', 'got 0.5'],
    ['"delayMs":"1000"', 'delayMs', 'got "1000"'],
    ['"delayMs":315576000001', 'delayMs', 'ten years'],
    ['"runAt":"tomorrow"', 'runAt', 'RFC 3339'],
    ['"runAt":1767225600', 'runAt', 'got 1767225600'],
    ['"runAt":"2150-01-01T00:00:00Z"', 'runAt', 'within the next ten years'],
    ['"runAt":"2027-01-01T00:00:00Z","delayMs":0', 'runAt', 'in two ways'],
    ['"delayMs":1e300', 'delayMs', 'ten years'],
    ['"startBy":5', 'startBy', 'an instant in RFC 3339'],
    ['"startBy":""', 'startBy', 'RFC 3339'],
    ['"startBy":"tomorrow"', 'startBy', 'got "tomorrow"'],
    ['"startBy":"2026-02-30T00:00:00Z"', 'startBy', 'RFC 3339'],
    ['"startBy":"2026-12-01 00:00:00Z"', 'startBy', 'RFC 3339'],
    ['"startBy":"2026-12-01T00:00:00"', 'startBy', 'RFC 3339'],
    ['"startBy":"0001-01-01T00:00:00Z"', 'startBy', 'between the years 2000 and 2199'],
    ['"startBy":"9999-12-31T23:59:59Z"', 'startBy', 'between the years 2000 and 2199'],
    ['"cost":3', 'cost', 'works out the cost by itself'],
    ['"cost":"3"', 'cost', 'a number of cost units'],
    ['"cost":-1e400', 'cost', 'beyond the range of a double'],
    ['"tenant":7', 'tenant', 'got 7'],
    ['"tenant":""', 'tenant', '1 to 128 bytes'],
    ['"tenant":"\\ud800"', 'tenant', 'surrogate'],
  ])('%s is refused by name', async (member, field, detail) => {
    const problem = await refusal(withMember(member));
    expect(problem).toMatchObject({
      status: 400,
      code: 'invalid_field',
      field,
      detail: expect.stringContaining(detail),
    });
  });

  test.each([
    ['{}', 'missing_field', 'type', 'required'],
    ['{"data":{}}', 'missing_field', 'type', 'required'],
    ['{"typ":"ocr","data":{}}', 'missing_field', 'type', 'Is `typ` meant to be it?'],
    ['{"type":"ocr"}', 'missing_field', 'data', 'required'],
    ['{"type":"ocr","dta":{}}', 'missing_field', 'data', 'Is `dta` meant to be it?'],
    ['{"type":"","data":{}}', 'unknown_type', 'type', 'There is no job type "": the types are ocr, chat, llm.'],
    ['{"type":"orc","data":{}}', 'unknown_type', 'type', 'did you mean "ocr"?'],
    ['{"type":"__proto__","data":{}}', 'unknown_type', 'type', 'no job type'],
    ['{"type":5,"data":{}}', 'invalid_field', 'type', 'the name of a job type; got 5'],
    ['{"type":["ocr"],"data":{}}', 'invalid_field', 'type', 'got an array'],
    ['{"type":"ocr","data":[]}', 'invalid_field', 'data', 'got []'],
    ['{"type":"ocr","data":null}', 'invalid_field', 'data', 'got null'],
    ['{"type":"ocr","data":"{}"}', 'invalid_field', 'data', 'got "{}"'],
    ['{"type":"ocr","data":{},"priorty":5}', 'unknown_field', 'priorty', 'Did you mean `priority`?'],
    ['{"type":"ocr","data":{},"colour":5}', 'unknown_field', 'colour', 'The fields are type, data,'],
    ['{"type":"ocr","data":{},"__proto__":{}}', 'unknown_field', '__proto__', 'not known'],
    ['{"type":"ocr","data":{},"constructor":1}', 'unknown_field', 'constructor', 'not known'],
    ['{"type":"ocr","data":{},"a b":1}', 'unknown_field', '["a b"]', 'not known'],
    [`{"type":"ocr","data":{},${manyMembers(20)}}`, 'unknown_field', 'm0', 'not known'],
  ])('body %s names its fault', async (body, code, field, detail) => {
    const problem = await refusal(body);
    expect(problem).toMatchObject({ status: 400, code, field, detail: expect.stringContaining(detail) });
  });

  test.each([
    ['{"pages":"3"}', 'invalid_field', 'data.pages', 'integer'],
    ['{"pages":1e400}', 'invalid_field', 'data.pages', 'beyond the range'],
    ['{"pages":-1}', 'invalid_field', 'data.pages', '>= 0'],
    ['{"odd name":5}', 'invalid_field', 'data["odd name"]', 'string; got 5'],
    ['{"lines":[{"text":"a"},{}]}', 'missing_field', 'data.lines[1].text', 'required'],
    ['{"lines":[{"text":"a"},5]}', 'invalid_field', 'data.lines[1]', 'object; got 5'],
    ['{"language":5}', 'invalid_field', 'data.language', 'anyOf'],
    ['{"language":["de",5]}', 'invalid_field', 'data.language', 'anyOf'],
    ['{"page":5}', 'unknown_field', 'data.page', 'Did you mean `pages`?'],
    ['{"__proto__":5}', 'unknown_field', 'data.__proto__', 'not known'],
  ])('payload %s is judged by the schema of its type', async (data, code, field, detail) => {
    const problem = await refusal(`{"type":"ocr","data":${data}}`);
    expect(problem).toMatchObject({ status: 400, code, field, detail: expect.stringContaining(detail) });
  });

  test.each([
    ['"ocr","data":{"pages":501}', 422, 'cost_exceeds_max', 'data.pages'],
    ['"llm","data":{},"cost":101', 422, 'cost_exceeds_max', 'cost'],
    ['"llm","data":{},"cost":0', 400, 'invalid_field', 'cost'],
    ['"llm","data":{},"cost":-5', 400, 'invalid_field', 'cost'],
    ['"chat","data":{},"cost":1', 400, 'invalid_field', 'cost'],
  ])('the cost of %s is refused', async (members, status, code, field) => {
    expect(await refusal(`{"type":${members}}`)).toMatchObject({ status, code, field });
  });

  test.each(['', 'two words', 'ü', 'x'.repeat(256), 'a, b'])('an Idempotency-Key of %j is refused', async (key) => {
    const problem = await refusal('{"type":"chat","data":{}}', { 'idempotency-key': key });
    expect(problem).toMatchObject({ status: 400, code: 'invalid_field', field: 'Idempotency-Key' });
  });
});

describe('a body', () => {
  test.each([
    ['', 'invalid_field'],
    ['null', 'invalid_field'],
    ['[]', 'invalid_field'],
    ['5', 'invalid_field'],
    ['"{}"', 'invalid_field'],
    ['{', 'malformed_body'],
    ['{"type":"ocr"', 'malformed_body'],
    ["{'type':'ocr'}", 'malformed_body'],
    ['{"a":NaN}', 'malformed_body'],
    ['{"a":0x10}', 'malformed_body'],
    ['{"a":+1}', 'malformed_body'],
    ['{} {}', 'malformed_body'],
    ['{"a":1,}', 'malformed_body'],
    ['1e400', 'invalid_field'],
  ])('of %j is refused as a whole', async (body, code) => {
    expect(await refusal(body)).toMatchObject({ status: 400, code, field: 'body' });
  });

  test('in another encoding than UTF-8 is refused', async () => {
    const latin1 = Buffer.from('{"type":"chat","data":{"name":"Zoë"}}', 'latin1');
    const problem = await refusal(latin1);
    expect(problem).toMatchObject({
      status: 400,
      code: 'malformed_body',
      field: 'body',
      detail: expect.stringContaining('UTF-8'),
    });
  });

  test.each([101, 10_000, 400])('of %i arrays inside one another is refused', async (depth) => {
    const limit = { 'content-type': 'application/json' };
    const data = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const problem = await refusal(`{"type":"chat","data":{"a":${data}}}`, limit);
    expect(problem).toMatchObject({
      status: 400,
      code: 'malformed_body',
      field: 'body',
      detail: expect.stringContaining('100 deep'),
    });
  });

  test('larger than any job may be is answered 413', async () => {
    const problem = await refusal(`{"type":"chat","data":{"text":"${'x'.repeat(2 ** 21)}"}}`);
    expect(problem).toMatchObject({ status: 413, code: 'body_too_large', field: 'body' });
  });

  test('whose payload is larger than its type allows is answered 413', async () => {
    const problem = await refusal(`{"type":"ocr","data":{"odd name":"${'é'.repeat(1024)}"}}`);
    expect(problem).toMatchObject({
      status: 413,
      code: 'payload_too_large',
      field: 'data',
      detail: expect.stringContaining('2048'),
    });
  });

  test('whose payload could never wait in the bucket is answered 413, and not to come back later', async () => {
    const payload = { type: 'chat', data: { text: 'x'.repeat(1024) } };
    const response = await served.app.inject(as('small', { method: 'POST', url: '/v1/jobs', payload }));
    expect(problemIn(response)).toMatchObject({ status: 413, code: 'payload_too_large', field: 'data' });
    expect(response.headers['retry-after']).toBeUndefined();
  });

  test.each([
    ['text/plain', 'Content-Type'],
    ['application/json; charset=iso-8859-1', 'Content-Type'],
    ['application/jsonx', 'Content-Type'],
    ['application/vnd.job+json', 'Content-Type'],
    ['', 'Content-Type'],
  ])('of media type %j is answered 415', async (type, field) => {
    const problem = await refusal('{"type":"chat","data":{}}', { 'content-type': type });
    expect(problem).toMatchObject({ status: 415, code: 'unsupported_media_type', field });
  });

  test('that is compressed is answered 415', async () => {
    const problem = await refusal('{"type":"chat","data":{}}', { 'content-encoding': 'gzip' });
    expect(problem).toMatchObject({ status: 415, code: 'unsupported_media_type', field: 'Content-Encoding' });
  });
});

test('a query string where none is taken is refused by name', async () => {
  const request = { ...post({ type: 'chat', data: {} }), url: '/v1/jobs?dryRun=1' };
  const problem = problemIn(await served.app.inject(request));
  expect(problem).toMatchObject({ status: 400, code: 'unknown_field', field: 'dryRun' });
});

function manyMembers(count: number): string {
  return Array.from({ length: count }, (_, index) => `"m${index}":1`).join(',');
}
