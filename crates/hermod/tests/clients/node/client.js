// A customer made with the Node package `smpp`. Its one argument is a JSON object (see `Customer` in tests/it/clients); it
// binds, sends one message of every kind, waits for the receipts, asks about the first message and unbinds. Whatever it
// saw it says on standard output, one JSON object per line.
'use strict';

const fs = require('fs');
const smpp = require('smpp');

const options = JSON.parse(process.argv[2]);
const gsmCharactersPerPart = 153;
const longReference = 0x5a;

function saw(what, more) {
  process.stdout.write(JSON.stringify({ saw: what, ...more }) + '\n');
}

function fail(error) {
  saw('error', { message: String(error) });
  process.exit(1);
}

// Sends a request and gives back its answer.
function ask(session, command, fields) {
  return new Promise((resolve, reject) => {
    if (!session[command](fields, resolve)) {
      reject(new Error(`${command} cannot be written`));
    }
  });
}

function connect() {
  const tls = options.ca ? { ca: fs.readFileSync(options.ca), servername: 'localhost' } : {};
  const scheme = options.ca ? 'ssmpp' : 'smpp';
  return new Promise((resolve) => {
    const session = smpp.connect({ url: `${scheme}://${options.host}:${options.port}`, ...tls }, () => resolve(session));
    session.on('error', fail);
    session.closed = new Promise((closed) => session.on('close', closed));
    session.on('enquire_link', (pdu) => session.send(pdu.response()));
  });
}

async function bind(command) {
  const session = await connect();
  const { system_id, password } = options;
  session.boundAs = command;
  session.on('deliver_sm', (pdu) => onDeliver(session, pdu));
  const answer = await ask(session, command, { system_id, password });
  saw('bind', {
    command,
    status: answer.command_status,
    system_id: answer.system_id,
    sc_interface_version: answer.sc_interface_version,
    tls: Boolean(options.ca),
  });
  return answer.command_status === 0 ? session : null;
}

let receipts = 0;
let accepted = 0;
let onReceipt = () => {};

function onDeliver(session, pdu) {
  saw('receipt', {
    bound_as: session.boundAs,
    text: pdu.short_message.message,
    esm_class: pdu.esm_class,
    data_coding: pdu.data_coding,
    registered_delivery: pdu.registered_delivery,
    source: pdu.source_addr,
    source_ton: pdu.source_addr_ton,
    destination: pdu.destination_addr,
    destination_ton: pdu.dest_addr_ton,
    receipted_message_id: pdu.receipted_message_id,
    message_state: pdu.message_state,
    user_message_reference: pdu.user_message_reference,
  });
  session.send(pdu.response());
  receipts += 1;
  onReceipt();
}

function allReceipts() {
  return new Promise((resolve) => {
    onReceipt = () => receipts >= accepted && resolve();
    onReceipt();
  });
}

// One message in parts, each with a header of its own.
function parts(text) {
  const total = Math.ceil(text.length / gsmCharactersPerPart);
  return Array.from({ length: total }, (_, index) => ({
    udh: Buffer.from([5, 0, 3, longReference, total, index + 1]),
    message: text.slice(index * gsmCharactersPerPart, (index + 1) * gsmCharactersPerPart),
  }));
}

// By the library's own means: it encodes strings, takes buffers as they are, and without a data_coding it chooses one.
function messages() {
  const { text, long, ucs2, flash, binary } = options;
  return [
    { name: 'short', data_coding: 0, short_message: text, user_message_reference: options.reference },
    ...parts(long).map((part) => ({ name: 'parts', data_coding: 0, short_message: part })),
    { name: 'payload', data_coding: 0, message_payload: long },
    { name: 'ucs2', short_message: ucs2 },
    { name: 'flash by subunit', data_coding: 0, short_message: flash, dest_addr_subunit: 1 },
    { name: 'flash by coding', data_coding: 0x10, short_message: flash },
    { name: 'binary', data_coding: 4, short_message: Buffer.from(binary, 'hex') },
    { name: 'refused', data_coding: 0, short_message: text, destination_addr: options.refused },
  ];
}

async function submit(session, { name, ...fields }) {
  const answer = await ask(session, 'submit_sm', {
    source_addr_ton: 5,
    source_addr_npi: 0,
    source_addr: options.source,
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: options.destination,
    registered_delivery: 1,
    ...fields,
  });
  const { command_status: status, message_id } = answer;
  accepted += status === 0 ? 1 : 0;
  saw('submit', { name, status, message_id });
  return message_id;
}

async function query(session, message_id) {
  const { source } = options;
  const asked = { message_id, source_addr_ton: 5, source_addr_npi: 0, source_addr: source };
  const answer = await ask(session, 'query_sm', asked);
  const { command_status: status, message_state, error_code } = answer;
  saw('query', { status, message_id: answer.message_id, message_state, error_code, final: Boolean(answer.final_date) });
}

async function unbind(session) {
  const answer = await ask(session, 'unbind', {});
  saw('unbind', { bound_as: session.boundAs, status: answer.command_status });
  await session.closed;
  saw('close', { bound_as: session.boundAs });
}

async function main() {
  const pair = options.binds === 'pair';
  const receiver = await bind(pair ? 'bind_receiver' : 'bind_transceiver');
  const sender = pair ? await bind('bind_transmitter') : receiver;
  if (!sender || !receiver) {
    process.exit(0);
  }
  const ids = [];
  for (const message of messages()) {
    ids.push(await submit(sender, message));
  }
  await allReceipts();
  await query(sender, ids[0]);
  const alive = await ask(sender, 'enquire_link', {});
  saw('enquire_link', { status: alive.command_status });
  for (const session of new Set([sender, receiver])) {
    await unbind(session);
  }
}

main().catch(fail);
