// A carrier made with the Node package `smpp`. Its one argument is a JSON object (see `Options` in tests/it/smsc); it says
// on standard output, one JSON object per line, first which port it took and then whatever it saw, and it ends when its
// standard input does, so that it cannot outlive the test that started it.
'use strict';

const fs = require('fs');
const smpp = require('smpp');

const options = JSON.parse(process.argv[2]);
const receiptDelayMs = 20;

function saw(what, more) {
  process.stdout.write(JSON.stringify({ saw: what, ...more }) + '\n');
}

// Sixteen hexadecimal digits whose number needs all 64 bits.
let lastId = 0x812fc7470000001an;

function nextId() {
  lastId += 1n;
  return lastId.toString(16).toUpperCase();
}

function receiptId(id) {
  return options.receipt_ids === 'converted' ? BigInt('0x' + id).toString() : id;
}

// Where receipts may go: the links bound to receive, of whatever type.
const receivers = new Set();
const partsByReference = new Map();

function onBind(session, pdu) {
  const good = pdu.system_id === options.system_id && pdu.password === options.password;
  const status = good ? smpp.ESME_ROK : smpp.ESME_RINVPASWD;
  const { command, system_id, system_type, interface_version } = pdu;
  saw('bind', { command, system_id, system_type, interface_version, status, tls: Boolean(options.tls) });
  session.send(pdu.response({ command_status: status, system_id: 'node' }));
  if (!good) {
    session.close();
    return;
  }
  session.boundAs = command;
  if (command !== 'bind_transmitter') {
    receivers.add(session);
  }
}

// Which part of what a PDU is, by its header or by its SAR parameters.
function concatenation(pdu) {
  if (pdu.sar_msg_ref_num !== undefined) {
    return { reference: pdu.sar_msg_ref_num, total: pdu.sar_total_segments, part: pdu.sar_segment_seqnum };
  }
  for (const element of (pdu.short_message && pdu.short_message.udh) || []) {
    if (element[0] === 0x00) {
      return { reference: element[2], total: element[3], part: element[4] };
    }
    if (element[0] === 0x08) {
      return { reference: element.readUInt16BE(2), total: element[4], part: element[5] };
    }
  }
  return null;
}

// As the library has decoded it.
function textOf(pdu) {
  const carrying = pdu.message_payload || pdu.short_message;
  return carrying.message;
}

// From now on. The library makes a date of either form.
function validityHours(validity) {
  return validity ? Math.round((validity - Date.now()) / 3600000) : null;
}

// The library keeps parameters it does not know by the number of their tag.
function vendor(pdu) {
  const known = Object.keys(pdu).filter((name) => /^\d+$/.test(name));
  return Object.fromEntries(known.map((tag) => [tag, pdu[tag].toString('hex')]));
}

function onWholeMessage(pdu, text, parts) {
  saw('message', { destination: pdu.destination_addr, text, parts });
}

function join(pdu, text, place) {
  const key = [pdu.source_addr, pdu.destination_addr, place.reference, place.total].join(' ');
  const parts = partsByReference.get(key) || new Map();
  parts.set(place.part, text);
  partsByReference.set(key, parts);
  if (parts.size === place.total) {
    partsByReference.delete(key);
    const inOrder = [...parts.keys()].sort((a, b) => a - b).map((part) => parts.get(part));
    onWholeMessage(pdu, inOrder.join(''), place.total);
  }
}

function onSubmit(session, pdu) {
  const place = concatenation(pdu);
  const text = textOf(pdu);
  const refused = pdu.destination_addr === options.refused;
  const message_id = refused ? null : nextId();
  saw('submit', {
    bound_as: session.boundAs,
    source: pdu.source_addr,
    source_ton: pdu.source_addr_ton,
    destination: pdu.destination_addr,
    destination_ton: pdu.dest_addr_ton,
    data_coding: pdu.data_coding,
    esm_class: pdu.esm_class,
    registered_delivery: pdu.registered_delivery,
    service_type: pdu.service_type,
    validity_hours: validityHours(pdu.validity_period),
    validity_at: pdu.validity_period ? pdu.validity_period.toISOString() : null,
    vendor: vendor(pdu),
    payload: pdu.message_payload !== undefined,
    sar: pdu.sar_msg_ref_num !== undefined,
    place,
    text,
    message_id,
  });
  if (refused) {
    session.send(pdu.response({ command_status: smpp.ESME_RINVDSTADR }));
    return;
  }
  session.send(pdu.response({ message_id }));
  if (place) {
    join(pdu, text, place);
  } else {
    onWholeMessage(pdu, text, 1);
  }
  setTimeout(() => sendReceipt(pdu, receiptId(message_id)), receiptDelayMs);
}

function sendReceipt(submit, id) {
  const [receiver] = receivers;
  if (!receiver) {
    saw('nobody_for_receipt', { id });
    return;
  }
  const date = new Date().toISOString().replace(/\D/g, '').slice(2, 12);
  const sent = receiver.deliver_sm(
    {
      source_addr_ton: submit.dest_addr_ton,
      source_addr_npi: submit.dest_addr_npi,
      source_addr: submit.destination_addr,
      dest_addr_ton: submit.source_addr_ton,
      dest_addr_npi: submit.source_addr_npi,
      destination_addr: submit.source_addr,
      esm_class: smpp.ESM_CLASS.MC_DELIVERY_RECEIPT,
      short_message: `id:${id} sub:001 dlvrd:001 submit date:${date} done date:${date} stat:DELIVRD err:000 text:`,
    },
    (answer) => saw('deliver_sm_resp', { id, status: answer.command_status, bound_as: receiver.boundAs })
  );
  if (!sent) {
    saw('nobody_for_receipt', { id });
  }
}

function onSession(session) {
  for (const command of ['bind_transmitter', 'bind_receiver', 'bind_transceiver']) {
    session.on(command, (pdu) => onBind(session, pdu));
  }
  session.on('submit_sm', (pdu) => onSubmit(session, pdu));
  session.on('enquire_link', (pdu) => {
    saw('enquire_link', { bound_as: session.boundAs });
    session.send(pdu.response());
    // And the other way round, once it is known that the link is idle.
    session.enquire_link((answer) => saw('enquire_link_resp', { status: answer.command_status }));
  });
  session.on('unbind', (pdu) => {
    saw('unbind', { bound_as: session.boundAs });
    receivers.delete(session);
    session.send(pdu.response());
    session.close();
  });
  session.on('unknown', (pdu) => {
    saw('unknown', { command_id: pdu.command_id });
    session.send(pdu.response());
  });
  session.on('close', () => {
    receivers.delete(session);
    saw('close', { bound_as: session.boundAs });
  });
  session.on('error', (error) => saw('error', { message: String(error) }));
}

const tls = options.tls ? { key: fs.readFileSync(options.tls.key), cert: fs.readFileSync(options.tls.cert) } : {};
const server = smpp.createServer(tls, onSession);
server.listen(0, '127.0.0.1', () => saw('listening', { port: server.address().port }));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
