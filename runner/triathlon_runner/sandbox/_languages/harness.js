// The harness of a JavaScript child: loads a program, answers calls, asks what it is told to ask.
// It decides nothing. Frames on descriptors 3 and 4: one kind byte, the length as 4 little-endian bytes,
// JSON in a closed form.
'use strict';

const fs = require('fs');
const vm = require('vm');

const FILE = '<program>';
const { parse, stringify } = JSON;
let limit = 0;

function serve() {
  const [program, resultBytes, relayed] = receive();
  limit = resultBytes;
  globalThis.require = requireWithLodash;
  globalThis.module = { exports: {} };
  globalThis.exports = globalThis.module.exports;
  for (const name of relayed) {
    globalThis[name] = (...values) => ask(name, values);
  }
  try {
    vm.runInThisContext(program, { filename: FILE });
  } catch (error) {
    report('N', error);
    return;
  }
  send('L', '');
  for (let message = receive(); message !== null; message = receive()) {
    answer(message[0], message[1].map(decode));
  }
}

function ask(name, values) {
  send('Q', stringify([name, values.map(encode)]));
  const reply = receive();
  if (reply === null) process.exit(1);
  const [good, value] = reply;
  if (!good) throw new Error(value.join(': '));
  return decode(value);
}

function answer(name, values) {
  try {
    const text = stringify(encode(vm.runInThisContext(name)(...values)));
    if (text.length > limit) throw new RangeError('the result is too large');
    send('V', text);
  } catch (error) {
    report('E', error);
  }
}

function encode(value) {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return isWrittenAsItself(value) ? value : { f: Object.is(value, -0) ? '-0' : value.toExponential() };
    return { f: Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf' };
  }
  if (typeof value === 'bigint') return { i: value.toString() };
  if (Array.isArray(value)) return Array.from(value, encode);
  if (value instanceof Set) return { s: Array.from(value, encode) };
  if (value instanceof Map) return { m: Array.from(value, ([key, item]) => [encode(key), encode(item)]) };
  if (typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    return { m: Object.entries(value).map(([key, item]) => [key, encode(item)]) };
  }
  return { u: value === undefined ? 'undefined' : (value.constructor?.name ?? typeof value) };
}

// JSON drops the sign of -0, and an integer beyond the exact ones would come back as a BigInt.
function isWrittenAsItself(value) {
  return !Object.is(value, -0) && (Number.isSafeInteger(value) || !Number.isInteger(value));
}

function decode(value) {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== 'object') return value;
  const [[tag, content]] = Object.entries(value);
  switch (tag) {
    case 'm':
      return Object.fromEntries(content.map(([key, item]) => [decode(key), decode(item)]));
    case 's':
      return new Set(content.map(decode));
    case 'f':
      return { nan: NaN, inf: Infinity, '-inf': -Infinity }[content];
    case 'i':
      return BigInt(content);
    default:
      return content === 'undefined' ? undefined : Symbol(content);
  }
}

// The tests of the data set ask lodash for one function; it need not be installed.
function requireWithLodash(name) {
  try {
    return require(name);
  } catch (error) {
    if (name === 'lodash') return { isEqual };
    throw error;
  }
}

function isEqual(left, right) {
  if (left === right || (Number.isNaN(left) && Number.isNaN(right))) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right) || left instanceof Set !== right instanceof Set) return false;
  if (left instanceof Set) {
    return left.size === right.size && [...left].every((item) => [...right].some((other) => isEqual(item, other)));
  }
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]))
  );
}

function report(kind, error) {
  const place = /<program>:(\d+)/.exec(error?.stack ?? '');
  const type = error instanceof Error ? error.name : typeof error;
  const message = String(error instanceof Error ? error.message : error).slice(0, 2000);
  send(kind, stringify([String(type), message, place ? Number(place[1]) : null]));
}

function send(kind, payload) {
  const body = Buffer.from(payload, 'utf8');
  const header = Buffer.alloc(5);
  header.write(kind, 'latin1');
  header.writeUInt32LE(body.length, 1);
  let data = Buffer.concat([header, body]);
  while (data.length > 0) data = data.subarray(fs.writeSync(4, data));
}

function receive() {
  const header = take(5);
  return header.length < 5 ? null : parse(take(header.readUInt32LE(1)).toString('utf8'));
}

function take(size) {
  const data = Buffer.alloc(size);
  let have = 0;
  while (have < size) {
    const got = fs.readSync(3, data, have, size - have, null);
    if (got === 0) break;
    have += got;
  }
  return data.subarray(0, have);
}

serve();
