//! Builds valid PDUs of every kind from random octets for the property tests. All fields borrow from two pools:
//! one without nulls for strings, one with anything for texts and values.

use hermod_smpp::*;

pub(crate) struct Maker<'p> {
    strings: &'p [u8],
    values: &'p [u8],
}

impl<'p> Maker<'p> {
    pub(crate) fn new(strings: &'p [u8], values: &'p [u8]) -> Self {
        assert!(!strings.contains(&0));
        Maker { strings, values }
    }

    pub(crate) fn octet(&mut self) -> u8 {
        let Some((first, rest)) = self.values.split_first() else { return 0 };
        self.values = rest;
        *first
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.octet(), self.octet()])
    }

    fn take(pool: &mut &'p [u8], count: usize) -> &'p [u8] {
        let (taken, rest) = pool.split_at(count.min(pool.len()));
        *pool = rest;
        taken
    }

    /// Returns a string of up to `max` octets without its null; often empty, often full.
    fn text(&mut self, max: usize) -> &'p [u8] {
        let count = match self.octet() {
            0..=49 => 0,
            50..=99 => max,
            other => usize::from(other) % (max + 1),
        };
        Maker::take(&mut self.strings, count)
    }

    fn value(&mut self, max: usize) -> &'p [u8] {
        let count = usize::from(self.octet()) % (max + 1);
        Maker::take(&mut self.values, count)
    }

    fn address(&mut self, max: usize) -> Address<'p> {
        Address { ton: self.octet(), npi: self.octet(), value: self.text(max) }
    }

    /// Adds TLVs that any PDU accepts: unknown ones of any size, and known ones of the right size.
    pub(crate) fn tlvs(&mut self, buffer: &mut TlvBuffer) {
        for _ in 0..self.octet() % 4 {
            match self.octet() % 4 {
                0 => buffer.push_u16(Tag::USER_MESSAGE_REFERENCE, self.u16()),
                1 => buffer.push_u8(Tag::DEST_ADDR_SUBUNIT, self.octet()),
                2 => buffer.push(Tag::MESSAGE_PAYLOAD, self.value(255)),
                _ => buffer.push(Tag(0x1400 | u16::from(self.octet())), self.value(40)),
            };
        }
    }

    pub(crate) fn destinations(&mut self, buffer: &mut DestinationsBuffer) {
        for _ in 0..=self.octet() % 5 {
            let one = match self.octet() % 2 {
                0 => DestinationEntry::Sme(self.address(20)),
                _ => DestinationEntry::DistributionList(self.text(20)),
            };
            buffer.push(one).expect("it fits");
        }
    }

    pub(crate) fn unsuccessful(&mut self, buffer: &mut UnsuccessfulBuffer) {
        for _ in 0..self.octet() % 4 {
            let destination = self.address(20);
            let status = CommandStatus(u32::from(self.octet()));
            buffer.push(UnsuccessfulSme { destination, status }).expect("it fits");
        }
    }

    fn kind(&mut self) -> BindType {
        match self.octet() % 3 {
            0 => BindType::Transmitter,
            1 => BindType::Receiver,
            _ => BindType::Transceiver,
        }
    }

    fn submit_sm(&mut self, tlvs: Tlvs<'p>) -> SubmitSm<'p> {
        SubmitSm {
            service_type: self.text(5),
            source: self.address(20),
            destination: self.address(20),
            esm_class: self.octet(),
            protocol_id: self.octet(),
            priority_flag: self.octet(),
            schedule_delivery_time: self.text(16),
            validity_period: self.text(16),
            registered_delivery: self.octet(),
            replace_if_present_flag: self.octet(),
            data_coding: self.octet(),
            sm_default_msg_id: self.octet(),
            short_message: Hidden(self.value(254)),
            tlvs,
        }
    }

    fn submit_multi(&mut self, tlvs: Tlvs<'p>, destinations: Destinations<'p>) -> SubmitMulti<'p> {
        let one = self.submit_sm(tlvs);
        SubmitMulti {
            service_type: one.service_type,
            source: one.source,
            destinations,
            esm_class: one.esm_class,
            protocol_id: one.protocol_id,
            priority_flag: one.priority_flag,
            schedule_delivery_time: one.schedule_delivery_time,
            validity_period: one.validity_period,
            registered_delivery: one.registered_delivery,
            replace_if_present_flag: one.replace_if_present_flag,
            data_coding: one.data_coding,
            sm_default_msg_id: one.sm_default_msg_id,
            short_message: one.short_message,
            tlvs,
        }
    }

    fn deliver_sm(&mut self, tlvs: Tlvs<'p>) -> DeliverSm<'p> {
        let one = self.submit_sm(tlvs);
        DeliverSm {
            service_type: one.service_type,
            source: one.source,
            destination: one.destination,
            esm_class: one.esm_class,
            protocol_id: one.protocol_id,
            priority_flag: one.priority_flag,
            schedule_delivery_time: one.schedule_delivery_time,
            validity_period: one.validity_period,
            registered_delivery: one.registered_delivery,
            replace_if_present_flag: one.replace_if_present_flag,
            data_coding: one.data_coding,
            sm_default_msg_id: one.sm_default_msg_id,
            short_message: one.short_message,
            tlvs,
        }
    }

    fn bind(&mut self) -> Bind<'p> {
        Bind {
            system_id: self.text(15),
            password: Hidden(self.text(8)),
            system_type: self.text(12),
            interface_version: self.octet(),
            addr_ton: self.octet(),
            addr_npi: self.octet(),
            address_range: self.text(40),
        }
    }

    fn data_sm(&mut self, tlvs: Tlvs<'p>) -> DataSm<'p> {
        let has_payload = tlvs.get(Tag::MESSAGE_PAYLOAD).is_some();
        DataSm {
            service_type: self.text(5),
            source: self.address(64),
            destination: self.address(64),
            esm_class: if has_payload { self.octet() } else { esm_class::RECEIPT },
            registered_delivery: self.octet(),
            data_coding: self.octet(),
            tlvs,
        }
    }

    fn replace_sm(&mut self) -> ReplaceSm<'p> {
        ReplaceSm {
            message_id: self.text(64),
            source: self.address(20),
            schedule_delivery_time: self.text(16),
            validity_period: self.text(16),
            registered_delivery: self.octet(),
            sm_default_msg_id: self.octet(),
            short_message: Hidden(self.value(254)),
        }
    }

    /// Returns a PDU of any kind.
    pub(crate) fn pdu(
        &mut self,
        tlvs: Tlvs<'p>,
        destinations: Destinations<'p>,
        unsuccessful: Unsuccessful<'p>,
    ) -> Pdu<'p> {
        match self.octet() % 24 {
            0 => Pdu::Bind(self.kind(), self.bind()),
            1 => Pdu::BindResp(self.kind(), BindResp { system_id: self.text(15), tlvs }),
            2 => Pdu::Outbind(Outbind { system_id: self.text(15), password: Hidden(self.text(8)) }),
            3 => Pdu::Unbind,
            4 => Pdu::UnbindResp,
            5 => Pdu::EnquireLink,
            6 => Pdu::EnquireLinkResp,
            7 => Pdu::GenericNack,
            8 => Pdu::SubmitSmResp(SubmitSmResp { message_id: self.text(64), tlvs }),
            9 => Pdu::SubmitMulti(self.submit_multi(tlvs, destinations)),
            10 => {
                let message_id = self.text(64);
                Pdu::SubmitMultiResp(SubmitMultiResp { message_id, unsuccessful, tlvs })
            }
            11 => Pdu::DeliverSm(self.deliver_sm(tlvs)),
            12 => Pdu::DeliverSmResp(DeliverSmResp { message_id: self.text(64), tlvs }),
            13 => Pdu::DataSm(self.data_sm(tlvs)),
            14 => Pdu::DataSmResp(DataSmResp { message_id: self.text(64), tlvs }),
            15 => Pdu::QuerySm(QuerySm { message_id: self.text(64), source: self.address(20) }),
            16 => Pdu::QuerySmResp(QuerySmResp {
                message_id: self.text(64),
                final_date: self.text(16),
                message_state: self.octet(),
                error_code: self.octet(),
            }),
            17 => Pdu::CancelSm(CancelSm {
                service_type: self.text(5),
                message_id: self.text(64),
                source: self.address(20),
                destination: self.address(20),
            }),
            18 => Pdu::CancelSmResp,
            19 => Pdu::ReplaceSm(self.replace_sm()),
            20 => Pdu::ReplaceSmResp,
            21 => {
                let (source, esme) = (self.address(64), self.address(64));
                Pdu::AlertNotification(AlertNotification { source, esme, tlvs })
            }
            22 => Pdu::Unknown(CommandId(0x0001_0000 | u32::from(self.u16())), Hidden(self.value(255))),
            _ => Pdu::SubmitSm(self.submit_sm(tlvs)),
        }
    }
}
