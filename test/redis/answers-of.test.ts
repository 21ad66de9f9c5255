import { describe, expect, test } from 'vitest';
import { answersOf } from '../../src/redis/answers-of.js';

const there = (answer: number) => Promise.resolve(answer);
const away = () => Promise.reject<number>(new Error('Connection is closed.'));
const broken = () => Promise.reject<number>(new Error('ERR wrong kind of value'));

describe('what several servers answer', () => {
  test.each<[string, () => Promise<number>[], unknown]>([
    ['all are there', () => [there(1), there(2)], [1, 2]],
    ['one is away', () => [there(1), away(), there(3)], [1, undefined, 3]],
    ['none is asked', () => [], []],
  ])('%s', async (_, ask, expected) => {
    expect(await answersOf(ask())).toEqual(expected);
  });

  test('is an outage when all are away', async () => {
    await expect(answersOf([away(), away()])).rejects.toThrow('Connection is closed.');
  });

  test('is an error when one refuses for good, whoever else is away', async () => {
    await expect(answersOf([away(), broken(), there(1)])).rejects.toThrow('ERR wrong kind of value');
  });
});
