import type { RedisLink } from '../../src/redis/connection.js';
import type { TypeSettings } from '../../src/shaping/settings.js';
import { WorkSource } from '../../src/shaping/work-source.js';

/** Where work comes from whose first answers are on their way until they are told to arrive. */
export function slowAnswers(type: string, settings: TypeSettings, lockMs: number) {
  const [delivered, deliver] = signal();
  const [dispatched, onDispatched] = signal();
  class Slow extends WorkSource {
    override async dispatch(token: string) {
      const found = await super.dispatch(token);
      if (found.kind === 'job') onDispatched();
      await delivered;
      return found;
    }
  }
  const source = (redis: RedisLink): WorkSource => new Slow(redis, type, settings, { worker: 'w', lockMs });
  return { source, lockMs, dispatched, deliver };
}

function signal(): [Promise<void>, () => void] {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return [promise, () => resolve()];
}
