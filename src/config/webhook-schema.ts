import Type from 'typebox';
import { WEBHOOK_EVENTS } from '../model/webhook.js';
import { choice, flag, quantity, text } from './field.js';
import { SECRET_FORM, webhookSecret } from './webhook-secret.js';
import { WEBHOOK_URL_FORM, webhookUrl } from './webhook-url.js';

const DAY_MS = 86_400_000;
const MB = 1024 * 1024;

/** Where a tenant is told of the ends of its jobs. */
export const TenantWebhookFields = Type.Object({
  url: Type.Optional(
    text<string>({
      decode: webhookUrl,
      expected: WEBHOOK_URL_FORM,
      written: 'URL',
      standIn: '',
      description: 'Where all jobs of the tenant are told of that name no URL themselves.',
    }),
  ),
  events: Type.Optional(
    Type.Array(choice(WEBHOOK_EVENTS, { default: WEBHOOK_EVENTS[0], description: 'An end.' }), {
      description: 'The ends that are told: `completed`, `failed`, `expired`, `cancelled`; all of them unless stated.',
    }),
  ),
  secret: Type.Optional(
    text<string>({
      decode: (written, { variables }) => webhookSecret(written, variables),
      expected: SECRET_FORM,
      written: '`whsec_…`, or `env:NAME`',
      secret: true,
      standIn: '',
      description: 'What the deliveries are signed with, those of jobs with a URL of their own included.',
    }),
  ),
});
export type TenantWebhookFields = Type.Static<typeof TenantWebhookFields>;

/** How webhooks are delivered: as jobs of a type of Headgate's own, in which each tenant has a bucket. */
export const WebhooksFields = Type.Object({
  slots: quantity('count', {
    least: 1,
    most: 10_000,
    default: 50,
    description: 'Deliveries that one worker process has under way at once.',
  }),
  perTenant: quantity('count', {
    least: 1,
    most: 10_000,
    default: 4,
    description: 'Deliveries of one tenant that are under way at once, over all worker processes.',
  }),
  rate: quantity('rate', {
    least: 1e-4,
    most: 1e5,
    unlimited: true,
    default: Infinity,
    description: 'Deliveries of one tenant a second, retries included.',
  }),
  depth: quantity('count', {
    least: 1,
    most: 1e7,
    default: 10_000,
    description: 'Deliveries of one tenant that may wait, those that are tried again included; others are dropped.',
  }),
  maxBytes: quantity('size', {
    least: MB,
    most: 1024 ** 4,
    default: 64 * MB,
    description: 'The same in bytes.',
  }),
  timeout: quantity('duration', {
    least: 100,
    most: 300_000,
    default: 15_000,
    description: 'How long a receiver may take to answer.',
  }),
  attempts: quantity('count', {
    least: 1,
    most: 100,
    default: 16,
    description: 'How often a delivery is tried in all.',
  }),
  backoff: Type.Object({
    delay: quantity('duration', {
      least: 0,
      most: DAY_MS,
      default: 5000,
      description: 'Wait before the second try; it doubles each time.',
    }),
    max: quantity('duration', {
      least: 0,
      most: DAY_MS,
      default: DAY_MS / 2,
      description: 'Longest wait before another try. With these defaults the last is a day and a half after the first.',
    }),
  }),
  allowPrivate: flag({
    default: false,
    description: 'Whether receivers may stand at addresses that are not public, such as 127.0.0.1 or 10.0.0.1.',
  }),
});
export type WebhooksFields = Type.Static<typeof WebhooksFields>;
