import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { type HealthServer, startHealthServer } from '../../workers/health-server.js';
import { testApp } from '../http/support/test-app.js';
import { PROJECT } from './support/dockerfile.js';
import { AFTER_GRACE_MS } from './support/grace.js';
import * as manifests from './support/manifests.js';

const { objects, deployments, services, budgets, podScalers, scaledObjects, kustomization } = manifests;
const SECRETS = {
  REDIS_URL: 'redis://redis:6379',
  HEADGATE_ADMIN_KEY: 'the-admin-key-of-this-test',
  HEADGATE_ACME_KEY: 'the-key-of-acme-of-this-test',
};
const config = await loadConfig({ file: 'docs/deploy/kubernetes/headgate.yaml', cwd: PROJECT, env: SECRETS });

/** What the rest of the manifests has to fit. */
const roles = deployments.map(({ metadata, spec }) => {
  const pod = spec?.template.spec;
  const [container] = pod?.containers ?? [];
  if (pod === undefined || container === undefined) throw new Error(`${metadata?.name} has no container`);
  return { name: metadata?.name, labels: spec?.template.metadata?.labels, spec, pod, container };
});

/** The Deployments whose pods have all these labels. */
function selectedBy(labels: Readonly<Record<string, string>> = {}): (string | undefined)[] {
  const wanted = Object.entries(labels);
  if (wanted.length === 0) throw new Error('a selector without labels');
  return roles
    .filter((role) => wanted.every(([label, value]) => role.labels?.[label] === value))
    .map(({ name }) => name);
}

describe('the manifests', () => {
  test('are objects to Kubernetes and KEDA, with no field that there is not', async () => {
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
      ...Array(2).fill('Deployment'),
      'HorizontalPodAutoscaler',
      ...Array(2).fill('PodDisruptionBudget'),
      'ScaledObject',
      'Service',
    ]);
    expect(objects.map(manifests.schemaFault)).toEqual(objects.map(() => undefined));
    expect(await manifests.unknownFields(objects)).toBe('');
  });

  test('would not be, with a fault', async () => {
    const meta = { apiVersion: 'v1', kind: 'Service' };
    const wrong = { ...meta, spec: { ports: [{ port: 'http' }] } };
    const unknown = { ...meta, spec: { ports: [{ port: 80, targetport: 'http' }] } };
    expect(manifests.schemaFault(wrong)).toContain('port');
    expect(await manifests.unknownFields([unknown])).toContain('targetport');
  });

  test('select pods that there are, each of one Deployment', () => {
    const own = roles.map(({ spec }) => selectedBy(spec?.selector.matchLabels));
    expect(own).toEqual([['headgate-api'], ['headgate-worker-echo']]);
    expect(services.map(({ spec }) => selectedBy(spec?.selector))).toEqual([['headgate-api']]);
    expect(budgets.map(({ spec }) => selectedBy(spec?.selector?.matchLabels))).toEqual(own);
    const spread = roles.map(({ pod }) => selectedBy(pod.topologySpreadConstraints?.[0]?.labelSelector?.matchLabels));
    expect(spread).toEqual(own);
  });

  test('take image, configuration and secrets from where they come', () => {
    expect(kustomization.images.map(({ name }) => name)).toEqual(['headgate']);
    expect(kustomization.configMapGenerator).toEqual([{ name: 'headgate', files: ['headgate.yaml'] }]);
    for (const { container, pod } of roles) {
      expect(container).toMatchObject({ image: 'headgate', envFrom: [{ secretRef: { name: 'headgate' } }] });
      expect(pod.volumes).toContainEqual({ name: 'config', configMap: { name: 'headgate' } });
      expect(container.volumeMounts).toContainEqual({ name: 'config', mountPath: '/etc/headgate', readOnly: true });
    }
  });

  test('run as somebody without rights over a root that cannot be written', () => {
    for (const { container, pod } of roles) {
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.volumeMounts).toContainEqual({ name: 'tmp', mountPath: '/tmp' });
    }
  });

  test('give every pod the time to leave in order', () => {
    for (const { name, pod, container } of roles) {
      const asleep = Number(container.lifecycle?.preStop?.exec?.command?.[1] ?? 0) * 1000;
      const needed = asleep + config.shutdownGraceMs + AFTER_GRACE_MS;
      expect((pod.terminationGracePeriodSeconds ?? 0) * 1000, name).toBeGreaterThanOrEqual(needed);
    }
  });

  test('lead to the port on which each role answers', () => {
    expect(config.listen.port).toBe(8080);
    expect(roles[1]?.container.args?.slice(-2)).toEqual(['--health-listen', '0.0.0.0:8080']);
    for (const { container } of roles) expect(container.ports).toEqual([{ name: 'http', containerPort: 8080 }]);
    expect(services.map(({ spec }) => spec?.ports)).toEqual([[{ name: 'http', port: 80, targetPort: 'http' }]]);
  });
});

describe('the probes', () => {
  let health: HealthServer;
  beforeAll(async () => {
    const ready = async () => ({ ready: true, checks: {} });
    health = await startHealthServer({ host: '127.0.0.1', port: 0 }, ready, {
      contentType: 'text/plain',
      text: async () => '',
    });
  });
  afterAll(() => health.close());

  test('ask each role for what it answers', async () => {
    const { app } = await testApp();
    for (const { name, container } of roles) {
      const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
      expect(probes.map((probe) => probe?.httpGet?.port)).toEqual(['http', 'http', 'http']);
      for (const probe of probes) {
        const path = probe?.httpGet?.path ?? '';
        const status =
          name === 'headgate-api'
            ? (await app.inject({ url: path })).statusCode
            : (await fetch(`http://127.0.0.1:${health.port}${path}`)).status;
        expect(status, `${name} ${path}`).toBe(200);
      }
    }
  });
});

describe('autoscaling', () => {
  test('has a Deployment each, which states no number itself', () => {
    const targets = [...podScalers, ...scaledObjects].map(({ spec }) => spec?.scaleTargetRef.name);
    expect(targets).toEqual(roles.map(({ name }) => name));
    expect(roles.map(({ spec }) => spec?.replicas)).toEqual([undefined, undefined]);
    expect(podScalers[0]?.spec?.minReplicas).toBeGreaterThanOrEqual(2);
    expect(scaledObjects[0]?.spec.minReplicaCount).toBeGreaterThanOrEqual(2);
  });

  test('counts with the slots of a pod, and keeps some of them free', () => {
    const slots = Number(/--concurrency echo=(\d+)/.exec(roles[1]?.container.args?.join(' ') ?? '')?.[1]);
    const [wanted] = scaledObjects[0]?.spec.triggers ?? [];
    expect(wanted?.name).toBe('wanted');
    expect(Number(wanted?.metadata.threshold)).toBeLessThan(slots);
    expect(Number(wanted?.metadata.threshold)).toBeGreaterThan(slots / 2);
  });
});
