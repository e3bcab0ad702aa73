// memjs, by the binary protocol, against the server at HOST:PORT.
//
//     node memjs.js HOST:PORT [NAME PASSWORD]

'use strict';

const { isDeepStrictEqual, inspect } = require('node:util');
const memjs = require('memjs');
const { version } = require('memjs/package.json');

let count = 0;
let failed = 0;

/** Whether `ask` answers this; where `expected` is a function, whether that holds. */
async function check(what, ask, expected) {
  count += 1;
  let found;
  try {
    found = await ask();
  } catch (error) {
    found = error;
  }
  const good = typeof expected === 'function' ? expected(found) : isDeepStrictEqual(found, expected);
  if (good) {
    console.log(`ok ${count} - ${what}`);
    return good;
  }
  failed += 1;
  console.log(`not ok ${count} - ${what}: ${inspect(found).slice(0, 200)}`);
  return good;
}

/** The value of a key as bytes, or null. */
async function value(client, key) {
  return (await client.get(key)).value;
}

async function plain(client) {
  await check('set', () => client.set('a', 'one', {}), true);
  await check('get', () => value(client, 'a'), Buffer.from('one'));
  await check('get of a missing key', () => client.get('none'), { value: null, flags: null });
  await check('add', () => client.add('b', 'two', {}), true);
  await check('add of a key that is there', () => client.add('b', 'x', {}), false);
  await check('replace', () => client.replace('b', '2', {}), true);
  await check('replace of a missing key', () => client.replace('none', 'x', {}), false);
  await check('append', () => client.append('b', '>'), true);
  const refused = (found) => found instanceof Error && found.message.includes('not stored');
  await check('append to a missing key', () => client.append('none', 'x'), refused);
  // Its prepend sends an append.
  await check('what was joined', () => value(client, 'b'), Buffer.from('2>'));
  await check('delete', () => client.delete('a'), true);
  await check('delete of a missing key', () => client.delete('a'), false);
}

async function many(client) {
  const keys = Array.from({ length: 200 }, (_, number) => `many${number}`);
  const all = (found) => found.length === 200 && found.every(Boolean);
  await check('sets at once', () => Promise.all(keys.map((key) => client.set(key, key, {}))), all);
  const values = () => Promise.all(keys.map((key) => value(client, key)));
  await check('gets at once', values, (found) => found.join() === keys.join());
}

async function counting(client) {
  const with10 = { initial: 10 };
  const amount = async (asked) => (await asked).value;
  await check('increment, first', () => amount(client.increment('n', 1, with10)), 10);
  await check('increment', () => amount(client.increment('n', 5, with10)), 15);
  await check('decrement', () => amount(client.decrement('n', 6, with10)), 9);
  await check('decrement below 0', () => amount(client.decrement('n', 100, with10)), 0);
  await client.set('n', 'word', {});
  const refused = (found) => found.success !== true;
  await check('increment of a word', () => client.increment('n', 1, {}), refused);
}

async function values(client) {
  const every = Buffer.from([...Array(256).keys(), ...Buffer.from('\r\nEND\r\n')]);
  const large = Buffer.from('0123456789'.repeat(90_000));
  const kinds = { 'every byte': every, 'a large value': large, nothing: Buffer.alloc(0) };
  for (const [kind, bytes] of Object.entries(kinds)) {
    await check(`set of ${kind}`, () => client.set('kind', bytes, {}), true);
    const same = (found) => Buffer.isBuffer(found) && found.equals(bytes);
    await check(`get of ${kind}`, () => value(client, 'kind'), same);
  }
  const longest = 'k'.repeat(250);
  await check('the longest key', () => client.set(longest, 'x', {}), true);
  await check('get of the longest key', () => value(client, longest), Buffer.from('x'));
}

async function expiry(client) {
  await check('set for an hour', () => client.set('t', 'x', { expires: 3600 }), true);
  await check('it is there', () => value(client, 't'), Buffer.from('x'));
  await check('touch', () => client.touch('t', 1), true);
  await check('touch of a missing key', () => client.touch('none', 1), false);
  const end = Date.now() + 10_000;
  while ((await value(client, 't')) !== null && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await check('it ends', () => value(client, 't'), null);
}

/** The figures of a topic. */
function stats(client, topic) {
  return new Promise((resolve, reject) => {
    client.statsWithKey(topic, (error, _, found) => (error ? reject(error) : resolve(found)));
  });
}

async function administration(client) {
  await check('stats', () => stats(client, ''), (found) => Number(found.curr_items) > 200);
  await check('stats settings', () => stats(client, 'settings'), (found) => 'maxconns' in found);
  await check('stats items', () => stats(client, 'items'), (found) => typeof found === 'object');
  const reset = () => new Promise((resolve) => client.resetStats(resolve));
  await check('resetStats', reset, null);
  const every = (found) => Object.values(found).every((one) => one === true);
  // After a refusal, which it takes for one of a password, it gives no answers.
  if (await check('flush', () => client.flush(), every)) {
    await check('nothing is there', () => value(client, 'b'), null);
  }
}

async function main() {
  const [place, username, password] = process.argv.slice(2);
  const options = { timeout: 20, retries: 1, username, password, logger: { log() {} } };
  const client = memjs.Client.create(place, options);
  console.log(`# memjs ${version}, Node ${process.version}`);
  for (const part of [plain, many, counting, values, expiry, administration]) {
    await part(client);
  }
  client.quit();
  console.log(`1..${count}`);
  // Where quit was not answered, the connection would keep it here.
  process.exit(failed > 0 ? 1 : 0);
}

main();
