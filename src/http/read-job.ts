import { formatPath, type Path } from '../config/problem.js';
import { costOf } from '../model/cost.js';
import type { NewJob } from '../model/verdict.js';
import type { BodyChecks, Check } from './body-checks.js';
import type { Door, DoorType } from './door.js';
import { readInstant } from './instant.js';
import { type BatchItem, IDEMPOTENCY_KEY } from './job-request.js';
import { ownMember } from './json-pointer.js';
import type { Principal } from './keyring.js';
import { namedTenant } from './named-tenant.js';
import { accepted, type Checked, refused } from './problems.js';
import { readRunAt } from './read-run-at.js';
import { readWebhook } from './read-webhook.js';
import { readRetryTerms } from './retry-terms.js';
import { usableType } from './usable-type.js';

/** Where a job comes from: one caller, one place in one body. */
export interface JobSource {
  readonly principal: Principal;
  /** The tenant of a batch, for an item that names none. */
  readonly tenant?: unknown;
  /** The `Idempotency-Key` header, for a job that is alone. */
  readonly idempotencyKey?: string | undefined;
  readonly requestId: string;
  /** Where the job stands in the body; empty when it is the body. */
  readonly at: Path;
}

/** What the door needs to judge a job. */
export interface DoorKeeper {
  readonly door: Door;
  readonly checks: BodyChecks;
  newJobId(type: string, tenant: string): string;
}

/** A job that the request alone gives no reason to refuse, and its bucket. */
export interface JobAtDoor {
  readonly type: string;
  readonly tenant: string;
  readonly job: NewJob;
}

/**
 * The part of the door's order that needs no Redis: tenant → type → size → schema → idempotency → cost → runAt → startBy → retries → webhook.
 * The first refusal wins.
 */
export function readJob(keeper: DoorKeeper, raw: unknown, source: JobSource): Checked<JobAtDoor> {
  const { at } = source;
  const isItem = at.length > 0;
  const check: Check<BatchItem> = isItem ? keeper.checks.item : keeper.checks.job;

  const tenant = namedTenant(
    source.principal,
    ownMember(raw, 'tenant') ?? source.tenant,
    formatPath([...at, 'tenant']),
  );
  if (!tenant.ok) return tenant;
  const type = knownType(keeper.door, tenant.value, raw, check, at);
  if (!type.ok) return type;
  const bucketBytes = keeper.door.maxBytes(tenant.value, type.value.name);
  const payload = sizedPayload(raw, type.value.rules.maxPayloadBytes, bucketBytes, at);
  if (!payload.ok) return payload;
  const body = check(raw, at);
  if (!body.ok) return body;
  const data = fittingData(keeper.checks, type.value.rules, body.value.data, at);
  if (!data.ok) return data;
  const idempotency = isItem ? accepted(body.value.idempotencyKey) : readIdempotencyKey(source.idempotencyKey);
  if (!idempotency.ok) return idempotency;
  const cost = jobCost(type.value.rules, body.value, at);
  if (!cost.ok) return cost;
  const runAt = readRunAt(body.value, at);
  if (!runAt.ok) return runAt;
  const startBy = readStartBy(body.value.startBy, at);
  if (!startBy.ok) return startBy;
  const retries = readRetryTerms(type.value.rules, body.value, at);
  if (!retries.ok) return retries;
  const webhook = readWebhook(keeper.door, tenant.value, body.value.webhook, at);
  if (!webhook.ok) return webhook;

  const job: NewJob = {
    id: keeper.newJobId(type.value.name, tenant.value),
    data: payload.value,
    priority: withoutSign(body.value.priority ?? DEFAULT_PRIORITY),
    delayMs: withoutSign(body.value.delayMs ?? 0),
    cost: cost.value,
    requestId: source.requestId,
    runAtMs: runAt.value,
    startByMs: startBy.value,
    idempotencyKey: idempotency.value,
    retries: retries.value,
    webhook: webhook.value,
  };
  return accepted({ type: type.value.name, tenant: tenant.value, job });
}

const DEFAULT_PRIORITY = 4;

function knownType(
  door: Door,
  tenant: string,
  raw: unknown,
  check: Check<BatchItem>,
  at: Path,
): Checked<{ name: string; rules: DoorType }> {
  const name = ownMember(raw, 'type');
  const field = formatPath([...at, 'type']);
  if (typeof name !== 'string') {
    const body = check(raw, at);
    return body.ok ? refused({ code: 'missing_field', field, detail: `\`${field}\` is required.` }) : body;
  }
  const rules = usableType(door, tenant, name, field);
  return rules.ok ? accepted({ name, rules: rules.value }) : rules;
}

/** The payload as it will be stored: JSON text, no larger than the type allows and the bucket could ever hold. */
function sizedPayload(raw: unknown, typeBytes: number, bucketBytes: number, at: Path): Checked<string> {
  const payload = JSON.stringify(ownMember(raw, 'data') ?? null);
  const bytes = Buffer.byteLength(payload);
  if (bytes <= typeBytes && bytes <= bucketBytes) return accepted(payload);
  const field = formatPath([...at, 'data']);
  const limit = bytes > typeBytes ? `this type allows ${typeBytes}` : `the queue of the tenant holds ${bucketBytes}`;
  return refused({ code: 'payload_too_large', field, detail: `\`${field}\` takes ${bytes} bytes as JSON; ${limit}.` });
}

function fittingData(checks: BodyChecks, rules: DoorType, data: unknown, at: Path): Checked<unknown> {
  return rules.dataSchema === null ? accepted(data) : checks.data(rules.dataSchema)(data, [...at, 'data']);
}

function readIdempotencyKey(header: string | undefined): Checked<string | undefined> {
  if (header === undefined || IDEMPOTENCY_KEY.test(header)) return accepted(header);
  return refused({
    code: 'invalid_field',
    field: 'Idempotency-Key',
    detail: '`Idempotency-Key` must be 1 to 255 visible characters of ASCII, given once.',
  });
}

function jobCost(rules: DoorType, body: BatchItem, at: Path): Checked<number> {
  const verdict = costOf(rules.cost, body.data, body.cost);
  if ('cost' in verdict) return accepted(verdict.cost);
  const { field: name, message, code } = verdict.problem;
  const field = at.length === 0 ? name : `${formatPath(at)}.${name}`;
  return refused({
    code: code === 'malformed' ? 'invalid_field' : code,
    field,
    detail: `\`${field}\` gives the job no cost: ${message}.`,
  });
}

function readStartBy(text: string | undefined, at: Path): Checked<number | undefined> {
  return text === undefined ? accepted(undefined) : readInstant(text, formatPath([...at, 'startBy']));
}

/** `-0` is a number in JSON; nobody wants to meet it further in. */
function withoutSign(value: number): number {
  return value + 0;
}
