import { expect, test } from 'vitest';
import { environment } from '../../src/config/environment.js';

test('each variable that Headgate knows has a name of its own', () => {
  const variables = {
    REDIS_URL: 'redis://h',
    HEADGATE_CONFIG: 'c',
    HEADGATE_LISTEN: 'l',
    HEADGATE_DATA: 'd',
    HEADGATE_ADMIN_KEY: 'k',
    HEADGATE_URL: 'http://h',
    HEADGATE_KEY: 'a',
    PATH: '/bin',
    HOME: '/home/x',
    XDG_CACHE_HOME: '/cache',
    NO_COLOR: '1',
    CI: 'true',
  };
  expect(environment(variables)).toEqual({
    variables,
    redisUrl: 'redis://h',
    configFile: 'c',
    listen: 'l',
    dataDir: 'd',
    adminKey: 'k',
    url: 'http://h',
    key: 'a',
    path: '/bin',
    home: '/home/x',
    cacheHome: '/cache',
    noColor: true,
    ci: true,
  });
});

test('an empty variable is one that is not set', () => {
  expect(environment({ REDIS_URL: '', CI: '', NO_COLOR: '' })).toEqual({
    ...environment({}),
    variables: { REDIS_URL: '', CI: '', NO_COLOR: '' },
  });
  expect(environment({}).redisUrl).toBeUndefined();
  expect(environment({}).noColor).toBe(false);
});

test('it is that of the process, unless another is given', () => {
  expect(environment().path).toBe(process.env.PATH);
});
