import { closeConnection, openConnection, untilReady } from '../../../src/redis/connection.js';
import { Subscriber } from '../../../src/redis/subscriber.js';
import { configSettings } from '../../../src/shaping/config-settings.js';
import { RemoteWork } from '../../../src/shaping/remote-work.js';
import type { EndedRun, RunJob } from '../../../src/shaping/run-job.js';
import { configFrom } from './test-config.js';

/** What an API process has for workers elsewhere, over a Redis that is there. */
export interface TestRemoteWork {
  readonly work: RemoteWork;
  readonly started: RunJob[];
  readonly ended: EndedRun[];
  close(): Promise<void>;
}

export async function remoteWork(socketPath: string, yaml: string): Promise<TestRemoteWork> {
  const connect = (name: string) => openConnection({ socketPath }, { name, deadlineMs: 5000 });
  const [redis, messages] = [connect('api-remote'), connect('api-remote-messages')];
  await Promise.all([untilReady(redis), untilReady(messages)]);
  const config = await configFrom(yaml);
  const errors: unknown[] = [];
  const started: RunJob[] = [];
  const ended: EndedRun[] = [];
  const work = new RemoteWork(
    {
      redis,
      subscriber: new Subscriber(messages),
      settings: configSettings(config),
      types: config.types.values(),
    },
    {
      lockMs: config.lockDurationMs,
      stalledIntervalMs: config.stalledIntervalMs,
      beforeWork: async () => undefined,
      observer: {
        started: (job) => void started.push(job),
        ended: (run) => void ended.push(run),
        recovered: () => undefined,
        unseen: () => undefined,
      },
      onError: (error) => errors.push(error),
    },
  );
  work.start();
  return {
    ...{ work, started, ended },
    async close() {
      await work.stop();
      closeConnection(redis);
      closeConnection(messages);
      if (errors.length > 0) throw new AggregateError(errors, 'remote work failed');
    },
  };
}
