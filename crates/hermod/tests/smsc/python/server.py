"""A carrier made with smpp.twisted3. Its one argument is a JSON object (see `Options` in tests/it/smsc); it says on standard
output, one JSON object per line, first which port it took and then whatever it saw, and it ends when its standard input
does, so that it cannot outlive the test that started it."""

import json
import logging
import os
import sys
import threading
from datetime import datetime, timezone

import gsm0338  # noqa: F401 (makes the codec known)
from smpp.pdu.constants import command_status_name_map
from smpp.pdu.operations import DeliverSM, EnquireLink
from smpp.pdu.pdu_encoding import DataCodingEncoder, EsmClassEncoder, RegisteredDeliveryEncoder
from smpp.pdu.pdu_types import (
    AddrTon,
    CommandId,
    CommandStatus,
    EsmClass,
    EsmClassMode,
    EsmClassType,
    MessageState,
)
from smpp.pdu.sm_encoding import SMStringEncoder
from smpp.pdu.smpp_time import SMPPRelativeTime
from smpp.twisted.config import SMPPServerConfig
from smpp.twisted.protocol import DataHandlerResponse, SMPPServerProtocol
from smpp.twisted.server import SMPPServerFactory
from twisted.cred.checkers import ICredentialsChecker
from twisted.cred.credentials import IUsernamePassword
from twisted.cred.error import UnauthorizedLogin
from twisted.cred.portal import IRealm, Portal
from twisted.internet import reactor
from zope.interface import implementer

OPTIONS = json.loads(sys.argv[1])
RECEIPT_DELAY_SECONDS = 0.02
TON_VALUES = {AddrTon.UNKNOWN: 0, AddrTon.INTERNATIONAL: 1, AddrTon.NETWORK_SPECIFIC: 3, AddrTon.ALPHANUMERIC: 5}


# The library prints the last letter of every time it reads, which must not stand between our lines.
LINES, sys.stdout = sys.stdout, open(os.devnull, "w")


def saw(what, **more):
    print(json.dumps({"saw": what, **more}), file=LINES, flush=True)


@implementer(ICredentialsChecker)
class Credentials:
    """The library hands over text; the checkers that come with Twisted want octets."""

    credentialInterfaces = (IUsernamePassword,)

    def requestAvatarId(self, offered):
        if (offered.username, offered.password) != (OPTIONS["system_id"], OPTIONS["password"]):
            raise UnauthorizedLogin()
        return offered.username


@implementer(IRealm)
class Realm:
    def requestAvatar(self, avatar_id, mind, *interfaces):
        return interfaces[0], avatar_id, lambda: None


class Server(SMPPServerProtocol):
    """The library's server, which also says what comes in."""

    def PDUReceived(self, pdu):
        name = pdu.commandId.name
        if name in ("enquire_link", "unbind"):
            saw(name, bound_as=self.bound_as())
        if name.startswith("bind_"):
            self.bind = pdu
        SMPPServerProtocol.PDUReceived(self, pdu)
        if name == "enquire_link":
            # And the other way round, once it is known that the link is idle.
            asked = self.sendRequest(EnquireLink(), 10)
            asked.addCallback(lambda result: saw("enquire_link_resp", status=status_of(result.response)))

    def sendPDU(self, pdu):
        if pdu.commandId.name.startswith("bind_"):
            saw(
                "bind",
                command=self.bind.commandId.name,
                system_id=self.bind.params["system_id"].decode(),
                system_type=(self.bind.params["system_type"] or b"").decode(),
                interface_version=self.bind.params["interface_version"],
                status=status_of(pdu),
                tls=False,
            )
        SMPPServerProtocol.sendPDU(self, pdu)

    def bound_as(self):
        return self.bind_type.name if self.isBound() else None

    def connectionLost(self, reason):
        saw("close")
        SMPPServerProtocol.connectionLost(self, reason)


def status_of(pdu):
    return command_status_name_map[pdu.status.name]


class Carrier:
    def __init__(self):
        self.last_id = 9_000_000
        self.parts_by_reference = {}
        self.factory = None

    def next_id(self):
        self.last_id += 1
        return str(self.last_id)

    def on_submit(self, system_id, link, pdu):
        """The library has read the PDU; what is returned here is its answer."""
        if pdu.commandId != CommandId.submit_sm:
            saw("unknown", command=pdu.commandId.name)
            return CommandStatus.ESME_RINVCMDID
        destination = pdu.params["destination_addr"].decode()
        refused = destination == OPTIONS.get("refused")
        message_id = None if refused else self.next_id()
        text, place = read_text(pdu), concatenation(pdu)
        saw(
            "submit",
            bound_as=link.bound_as(),
            source=pdu.params["source_addr"].decode(),
            source_ton=TON_VALUES[pdu.params["source_addr_ton"]],
            destination=destination,
            destination_ton=TON_VALUES[pdu.params["dest_addr_ton"]],
            data_coding=octet(DataCodingEncoder(), pdu.params["data_coding"]),
            esm_class=octet(EsmClassEncoder(), pdu.params["esm_class"]),
            registered_delivery=octet(RegisteredDeliveryEncoder(), pdu.params["registered_delivery"]),
            service_type=(pdu.params["service_type"] or b"").decode(),
            validity_hours=validity_hours(pdu.params["validity_period"]),
            validity_at=validity_at(pdu.params["validity_period"]),
            payload="message_payload" in pdu.params,
            sar="sar_msg_ref_num" in pdu.params,
            place=place,
            text=text,
            message_id=message_id,
        )
        if refused:
            return CommandStatus.ESME_RINVDSTADR
        self.join(pdu, destination, text, place)
        reactor.callLater(RECEIPT_DELAY_SECONDS, self.send_receipt, system_id, pdu, message_id)
        return DataHandlerResponse(status=CommandStatus.ESME_ROK, message_id=message_id)

    def join(self, pdu, destination, text, place):
        if place is None:
            saw("message", destination=destination, text=text, parts=1)
            return
        key = (pdu.params["source_addr"], destination, place["reference"], place["total"])
        parts = self.parts_by_reference.setdefault(key, {})
        parts[place["part"]] = text
        if len(parts) == place["total"]:
            del self.parts_by_reference[key]
            whole = "".join(parts[part] for part in sorted(parts))
            saw("message", destination=destination, text=whole, parts=place["total"])

    def send_receipt(self, system_id, submit, message_id):
        receipt_id = message_id
        if OPTIONS.get("receipt_ids") == "converted":
            receipt_id = format(int(message_id), "x")
        links = self.factory.getBoundConnections(system_id)
        link = links.getNextBindingForDelivery() if links else None
        if link is None:
            saw("nobody_for_receipt", id=receipt_id)
            return
        date = datetime.now(timezone.utc).strftime("%y%m%d%H%M")
        text = f"id:{receipt_id} sub:001 dlvrd:001 submit date:{date} done date:{date} stat:DELIVRD err:000 text:"
        receipt = DeliverSM(
            source_addr_ton=submit.params["dest_addr_ton"],
            source_addr_npi=submit.params["dest_addr_npi"],
            source_addr=submit.params["destination_addr"],
            dest_addr_ton=submit.params["source_addr_ton"],
            dest_addr_npi=submit.params["source_addr_npi"],
            destination_addr=submit.params["source_addr"],
            esm_class=EsmClass(EsmClassMode.DEFAULT, EsmClassType.SMSC_DELIVERY_RECEIPT),
            short_message=text.encode(),
            receipted_message_id=receipt_id.encode(),
            message_state=MessageState.DELIVERED,
        )
        bound_as = link.bound_as()
        link.sendDataRequest(receipt).addCallbacks(
            lambda result: saw(
                "deliver_sm_resp", id=receipt_id, status=status_of(result.response), bound_as=bound_as
            ),
            lambda failure: saw("error", message=failure.getErrorMessage()),
        )


def octet(encoder, value):
    return encoder.encode(value)[0]


def concatenation(pdu):
    """Which part of what a PDU is, by its header or by its SAR parameters."""
    if "sar_msg_ref_num" in pdu.params:
        names = {"reference": "sar_msg_ref_num", "total": "sar_total_segments", "part": "sar_segment_seqnum"}
        return {name: pdu.params[parameter] for name, parameter in names.items()}
    element = SMStringEncoder().getConcatenatedSMInfoElement(pdu)
    if element is None:
        return None
    return {
        "reference": element.data.referenceNum,
        "total": element.data.maximumNum,
        "part": element.data.sequenceNum,
    }


def validity_hours(validity):
    if not isinstance(validity, SMPPRelativeTime):
        return None
    assert validity.years == validity.months == 0, "longer than the tests are about"
    return validity.days * 24 + validity.hours


def validity_at(validity):
    """The library knows no time zone where the difference to UTC is zero."""
    return validity.isoformat() if isinstance(validity, datetime) else None


def read_text(pdu):
    """As the library reads it: coding 0 as ASCII, and no payloads. What it does not know is read by gsm0338."""
    coding = octet(DataCodingEncoder(), pdu.params["data_coding"])
    codec = "gsm03.38" if coding == 0 else "utf-16-be"
    if "message_payload" in pdu.params:
        return pdu.params["message_payload"].decode(codec)
    if coding == 0 and not OPTIONS.get("ascii"):
        return SMStringEncoder().splitSM(pdu)[2].decode(codec)
    return SMStringEncoder().decodeSM(pdu).unicode


def end_with_input():
    sys.stdin.buffer.read()
    reactor.callFromThread(reactor.stop)


def main():
    # The library warns of every connection that comes and goes.
    logging.getLogger("smpp").setLevel(logging.ERROR)
    carrier = Carrier()
    config = SMPPServerConfig(
        systems={OPTIONS["system_id"]: {"max_bindings": 8}},
        msgHandler=carrier.on_submit,
        enquireLinkTimerSecs=0,
        inactivityTimerSecs=0,
    )
    carrier.factory = SMPPServerFactory(config, Portal(Realm(), [Credentials()]))
    carrier.factory.protocol = Server
    port = reactor.listenTCP(0, carrier.factory, interface="127.0.0.1")
    saw("listening", port=port.getHost().port)
    threading.Thread(target=end_with_input, daemon=True).start()
    reactor.run()


main()
