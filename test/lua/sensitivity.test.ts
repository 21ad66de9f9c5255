import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agree } from './differential/agree.js';
import { Disagreement } from './differential/twins.js';
import { type Fault, making } from './making.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';
import { happening, nobodyOversleeps, Overslept } from './sleepers.js';

const redis = redisForTests();

/** Whether the model and the scripts with a fault disagree, and not merely fail. */
async function disagree(newShard: () => ScriptShard): Promise<boolean> {
  try {
    await agree(newShard, { seed: 5, sweeps: false, lists: 40, longest: 1500, shrinkMs: 120_000, shrink: false });
    return false;
  } catch (error) {
    if (error instanceof Error && error.cause instanceof Disagreement) return true;
    throw error;
  }
}

describe('the differential test notices', () => {
  test.each<[title: string, fault: Fault]>([
    ['tat kept over a re-rate', [['b.tat = rescale(b.tat, b.T, T)', '']]],
    ['a jobRate kept over a re-rate', [['b.jtat = rescale(b.jtat, b.jT, jT)', '']]],
    ["the type's tat kept over a re-rate", [['ty.tat = now + (ty.tat - now) * T / ty.T', '']]],
    ['newcomers without virtual time', [['ready.put(b.tenant, tag_of(b))', 'ready.put(b.tenant, b.finish)']]],
    ['virtual time that stands still', [['ty.v = math.max(ty.v, start_tag)', '']]],
    ['a busy period without an end', [['then ty.v = ty.maxfin end', 'then end']]],
    ['round robin without cost', [['b.finish = start_tag + cost / b.weight', 'b.finish = start_tag + 1 / b.weight']]],
    ['weights that are not looked at', [['b.finish = start_tag + cost / b.weight', 'b.finish = start_tag + cost']]],
    ['slack without bounds', [['math.max(b.tat, now - b.slack) + cost', 'b.tat + cost']]],
    ['a job that is charged 1, whatever it costs', [['+ cost * b.T\n', '+ b.T\n']]],
    ["a type's rate that is not charged", [['+ cost * ty.T\n', '\n']]],
    ['credit for idle time', [['    b.tat = math.max(b.tat, now)\n', '']]],
    [
      'a burst of one more',
      [['math.max(b.tat - (b.burst - 1) * b.T, b.jtat, b.held)', 'math.max(b.tat - b.burst * b.T, b.jtat, b.held)']],
    ],
    ['a cap that is checked before the count', [['ty.running = ty.running + active - b.active', '']]],
    ['a bucket over its cap', [['if b.paused or active >= b.conc then', 'if b.paused or active > b.conc then']]],
    ['a pause that is not kept', [['if b.paused or active >= b.conc then', 'if active >= b.conc then']]],
    [
      'one job too many at the door',
      [["limit = held + 1 > b.depth and 'depth'", "limit = held > b.depth and 'depth'"]],
    ],
    ['one byte too many at the door', [['b.bytes + job.bytes > b.max_bytes', 'b.bytes + job.bytes > b.max_bytes + 1']]],
    ['a delay that is held against maxWait', [['queue = wait - delay', 'queue = wait']]],
    ['a promise without the burst', [['(cost - (b.burst - 1)) * b.T', 'cost * b.T']]],
    ['a promise that forgets lateness', [['backlogged and now - b.slack or now', 'now']]],
    ["a promise that forgets the type's rate", [['local least = math.max(wait, by_type)', 'local least = wait']]],
    [
      'a delayed job that joins a millisecond early',
      [
        ['if b.delayed_at > now then return end', 'if b.delayed_at > now + 1000 then return end'],
        ['(tonumber(now_ms) + 1) * 0x1000 - 1', '(tonumber(now_ms) + 2) * 0x1000 - 1'],
      ],
    ],
    ['a first delayed job that is not looked for again', [['if b.delayed_changed then read_delayed(b) end', '']]],
    [
      'a job that is given back before all others',
      [['num(priority * 0x100000000 + order)', 'num(0x100000000 + order)']],
    ],
    ['bytes of a job given back that are not counted', [["count_bytes(b, 1, call('HSTRLEN', job, 'data'))", '']]],
    ['an expired job that is kept', [["if end_waiting(b, id, 'expired', keep_age, keep_count) then place(b) end", '']]],
    ['a start-by that holds for a job that runs', [['if f[14] then drop_deadline', 'if false then drop_deadline']]],
    [
      'a job asked to stop that waits again',
      [["if call('HEXISTS', job, 'hg:x') == 0 then return wait_again", 'do return wait_again']],
    ],
    ['a repeated dispatch that is another one', [['if again then return again end', '']]],
    ['a paid job that is charged again when it starts', [['  if not paid then\n', '  do\n']]],
    ['one unit too many at a policed door', [['(cost - burst) * T', '(cost - burst - 1) * T']]],
    ['a refusal that is charged', [['closed = nonconformity(job)', 'closed = nonconformity(job) or charge(b, 0.5)']]],
    [
      'a paid job that pays anew when it is given back',
      [
        [
          "call('HMGET', job, 'priority', 'hg:c', 'hg:p'), front, 'active')",
          "call('HMGET', job, 'priority', 'hg:c'), front, 'active') call('HDEL', job, 'hg:p')",
        ],
      ],
    ],
    ['a cancelled job that gets nothing back', [['uncharge(b, cost, tonumber(f[3]), tonumber(f[4]))', '']]],
    [
      'a charge that has leaked and is given back',
      [['uncharge(b, cost, tonumber(f[3]), tonumber(f[4]))', 'uncharge(b, cost, math.huge, math.huge)']],
    ],
    ['a rate gate for what is paid', [['if b.paid == 0 then return', 'do return']]],
    ['no rate gate for what waits with the paid', [['if b.paid < waiting then', 'if false then']]],
    [
      'a paid job that counts as unpaid when it falls due',
      [
        [
          "join_waiting(b, id, fields, fields[4], 'delayed')",
          "join_waiting(b, id, { fields[1], fields[2] }, false, 'delayed')",
        ],
      ],
    ],
    ["a promise that forgets what the paid take of the type's rate", [['cost + b.paid_cost or cost', 'cost or cost']]],
    ['a corrected cost that is not charged', [['  correct_start(b, units, marks, paid)\n  call', '  call']]],
    [
      'a correction that gives back what has leaked',
      [['math.max(0, math.min(amount, mark - floor, at - floor))', 'math.max(0, math.min(amount, at - floor))']],
    ],
    ['a correction below now', [['math.max(0, math.min(amount, mark - floor, at - floor))', 'amount']]],
    ['a correction that the finish tag does not see', [['b.finish, marks.finish = corrected', 'local _ = corrected']]],
    ["a correction that the type's rate does not see", [['ty.tat, marks.type_tat = corrected', 'local _ = corrected']]],
    ['a mark that no correction moves', [['  return at + amount, mark + amount', '  return at + amount, mark']]],
    ['a ready bucket that keeps its tag over a correction', [['  ready.put(b.tenant, start_tag)', '']]],
    ['a corrected cost that the next start does not see', [["call('HSET', job, 'hg:c', num(cost))", '']]],
    ['a busy upstream that costs', [['undo_start(b, tonumber(f[1]) or 1, marks, f[2])', '']]],
    [
      'a busy upstream that costs a job of jobRate',
      [['b.jtat = b.jtat - left_of(b.jT, marks.jtat, b.jtat, now) end', 'end']],
    ],
    ['a hold that a shorter one cuts', [['held.held = math.max(held.held, now', 'held.held = math.max(0, now']]],
    ['a hold that the paid do not keep', [['return math.max(now, b.held)', 'return now']]],
    ['a promise that forgets a hold', [['by_cost, by_jobs, b.held) - now', 'by_cost, by_jobs) - now']]],
    ["a promise that forgets the type's hold", [['* ty.T, ty.held) - now', '* ty.T) - now']]],
    ["a type's hold that is not kept", [['(ty.burst - 1) * ty.T, ty.held)\n', '(ty.burst - 1) * ty.T)\n']]],
    ['a pace without the weights of what is ready', [['advance * ty.weights', 'advance']]],
    ['weights that stay when a bucket is served', [['math.max(0, ty.weights - b.weight)', 'ty.weights']]],
    [
      'an estimate that forgets the finish tag',
      [['turn_us(math.max(0, b.finish - ty.v) + cost / b.weight,', 'turn_us(cost / b.weight,']],
    ],
    ['a start that is not compared with its promise', [['if is_first and f[11] then', 'if false then']]],
    ["an estimate that forgets the bucket's concurrency", [['math.max(least, by_slot, wait', 'math.max(least, wait']]],
    ['a second start that is compared with the promise', [['if is_first and f[11] then', 'if f[11] then']]],
    ['a run that nobody notes', [["if new_runs[1] then call('HSET'", "if new_runs[3] then call('HSET'"]]],
    ['a run that stays noted', [["if old_runs[1] then call('HDEL'", "if old_runs[2] then call('HDEL'"]]],
    ['a job taken back that its old worker settles', [["call('HDEL', job, 'pb')", '']]],
    [
      'a clock that stands still after it stepped back',
      [['if raw + offset >= last then return raw + offset, offset, raw end', '']],
    ],
    [
      'a clock that goes back',
      [['if raw >= last then return raw, 0, raw end', 'if raw >= 0 then return raw, 0, raw end']],
    ],
  ])('%s', async (_, fault) => {
    expect(await disagree(() => redis.shard(making(fault)))).toBe(true);
  });
});

describe('the watch over sleeping workers notices', () => {
  test.each<[title: string, fault: Fault]>([
    ['a bucket that becomes ready unheard', [['or (became_ready and ty.busy > 0)', '']]],
    ['a first instant that moves forward unheard', [['if freed or due_earlier or', 'if freed or']]],
    ["room at the type's concurrency that nobody hears of", [['if freed or due_earlier or', 'if due_earlier or']]],
  ])('%s', async (_, fault) => {
    const property = fc.asyncProperty(fc.array(happening, { maxLength: 60, size: 'max' }), (happenings) =>
      nobodyOversleeps(redis.shard(making(fault)), happenings),
    );
    const { failed, errorInstance } = await fc.check(property, { seed: 11, numRuns: 300, endOnFailure: true });
    expect(failed).toBe(true);
    expect(errorInstance).toBeInstanceOf(Overslept);
  });
});
