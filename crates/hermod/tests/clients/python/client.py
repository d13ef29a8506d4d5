"""A customer made with the Python package `smpplib`. Its one argument is a JSON object (see `Customer` in
tests/it/clients); it binds, sends one message of every kind, waits for the receipts, asks about the first message and
unbinds. Whatever it saw it says on standard output, one JSON object per line."""

import json
import ssl
import sys

import smpplib.client
import smpplib.consts
import smpplib.exceptions
import smpplib.gsm
import smpplib.smpp

options = json.loads(sys.argv[1])


def saw(what, **more):
    print(json.dumps({"saw": what, **more}), flush=True)


def text(octets):
    return None if octets is None else octets.decode("latin-1")


class Link:
    """One connection and what came over it."""

    def __init__(self, command):
        self.command = command
        self.receipts = 0
        self.answers = {}
        context = None
        if options["ca"]:
            # The library names no host when it wraps its socket, so there is none to check.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.load_verify_locations(options["ca"])
        # smpplib raises on a parameter it does not know unless it is told not to: this is the strict way.
        self.client = smpplib.client.Client(
            options["host"], options["port"], timeout=300, ssl_context=context, allow_unknown_opt_params=False
        )
        self.client.set_message_received_handler(self.on_receipt)
        self.client.set_message_sent_handler(self.on_answer)
        self.client.set_query_resp_handler(self.on_answer)
        self.client.set_error_pdu_handler(self.on_answer)
        self.client.connect()

    def bind(self):
        bind = getattr(self.client, self.command)
        seen = {"command": self.command, "tls": bool(options["ca"])}
        try:
            answer = bind(system_id=options["system_id"], password=options["password"])
        except smpplib.exceptions.PDUError as refused:
            saw("bind", status=refused.args[1], **seen)
            return False
        version = answer.sc_interface_version
        saw("bind", status=answer.status, system_id=text(answer.system_id), sc_interface_version=version, **seen)
        return True

    def on_answer(self, pdu):
        self.answers[pdu.sequence] = pdu

    def on_receipt(self, pdu):
        self.receipts += 1
        saw(
            "receipt",
            bound_as=self.command,
            text=text(pdu.short_message),
            esm_class=pdu.esm_class,
            data_coding=pdu.data_coding,
            registered_delivery=pdu.registered_delivery,
            source=text(pdu.source_addr),
            source_ton=pdu.source_addr_ton,
            destination=text(pdu.destination_addr),
            destination_ton=pdu.dest_addr_ton,
            receipted_message_id=text(pdu.receipted_message_id),
            message_state=pdu.message_state,
            user_message_reference=pdu.user_message_reference,
        )

    def answer_to(self, request):
        while request.sequence not in self.answers:
            self.client.read_once()
        return self.answers.pop(request.sequence)

    def submit(self, name, **fields):
        given = {
            "source_addr_ton": smpplib.consts.SMPP_TON_ALNUM,
            "source_addr_npi": smpplib.consts.SMPP_NPI_UNK,
            "source_addr": options["source"],
            "dest_addr_ton": smpplib.consts.SMPP_TON_INTL,
            "dest_addr_npi": smpplib.consts.SMPP_NPI_ISDN,
            "destination_addr": options["destination"],
            "registered_delivery": True,
        }
        answer = self.answer_to(self.client.send_message(**{**given, **fields}))
        saw("submit", name=name, status=answer.status, message_id=text(answer.message_id))
        return answer

    def query(self, message_id):
        request = self.client.query_message(
            message_id=text(message_id), source_addr_ton=5, source_addr_npi=0, source_addr=options["source"]
        )
        answer = self.answer_to(request)
        saw(
            "query",
            status=answer.status,
            message_id=text(answer.message_id),
            message_state=answer.message_state,
            error_code=answer.error_code,
            final=bool(answer.final_date),
        )

    def enquire(self):
        self.client.send_pdu(smpplib.smpp.make_pdu("enquire_link", client=self.client))
        saw("enquire_link", status=self.client.read_pdu().status)

    def unbind(self):
        answer = self.client.unbind()
        assert answer.command == "unbind_resp", answer.command
        saw("unbind", bound_as=self.command, status=answer.status)
        try:
            self.client.read_pdu()
        except smpplib.exceptions.ConnectionError:
            saw("close", bound_as=self.command)
        self.client.disconnect()


def messages():
    """By the library's own means: it chooses the alphabet, encodes and splits."""
    for name, written in (("short", options["text"]), ("parts", options["long"]), ("ucs2", options["ucs2"])):
        reference = {"user_message_reference": options["reference"]} if name == "short" else {}
        parts, coding, esm_class = smpplib.gsm.make_parts(written)
        for part in parts:
            yield name, {"short_message": part, "data_coding": coding, "esm_class": esm_class, **reference}
    yield "payload", {"message_payload": smpplib.gsm.gsm_encode(options["long"]), "data_coding": 0}
    flash = smpplib.gsm.gsm_encode(options["flash"])
    yield "flash by subunit", {"short_message": flash, "data_coding": 0, "dest_addr_subunit": 1}
    yield "flash by coding", {"short_message": flash, "data_coding": 0x10}
    yield "binary", {"short_message": bytes.fromhex(options["binary"]), "data_coding": 4}
    written = smpplib.gsm.gsm_encode(options["text"])
    yield "refused", {"short_message": written, "data_coding": 0, "destination_addr": options["refused"]}


def main():
    pair = options["binds"] == "pair"
    receiver = Link("bind_receiver" if pair else "bind_transceiver")
    sender = Link("bind_transmitter") if pair else receiver
    links = [sender, receiver] if pair else [sender]
    if not all(link.bind() for link in reversed(links)):
        receiver.client.disconnect()
        return
    answers = [sender.submit(name, **fields) for name, fields in messages()]
    accepted = [answer for answer in answers if answer.status == 0]
    while receiver.receipts < len(accepted):
        receiver.client.read_once()
    if not pair:
        # On a transmitter the library does not let its user ask.
        sender.query(accepted[0].message_id)
    sender.enquire()
    for link in links:
        link.unbind()


main()
