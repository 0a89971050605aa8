//! The little of the DNS message format (RFC 1035 §4) that a name server for tests needs.

use std::net::IpAddr;

use super::RecordType;

/// Response code 3: the name does not exist.
pub(super) const NAME_ERROR: u8 = 3;

/// Response code 2: the server failed.
pub(super) const SERVER_FAILURE: u8 = 2;

const TYPE_A: u16 = 1;
const TYPE_CNAME: u16 = 5;
const TYPE_AAAA: u16 = 28;
const HEADER: usize = 12;

/// A query with exactly one question.
pub(super) struct Question<'a> {
    packet: &'a [u8],
    end: usize,
    pub(super) name: String,
    pub(super) record: RecordType,
}

impl<'a> Question<'a> {
    /// Reads a query; nothing when it is not one.
    pub(super) fn parse(packet: &'a [u8]) -> Option<Self> {
        let is_response = packet.get(2)? & 0x80 != 0;
        if is_response || packet.get(4..6)? != [0, 1] {
            return None;
        }
        let mut at = HEADER;
        let mut labels = Vec::new();
        loop {
            let length = usize::from(*packet.get(at)?);
            at += 1;
            match length {
                0 => break,
                // 64 and more would be a compression pointer, which has no place in a question.
                1..=63 => {
                    labels.push(String::from_utf8_lossy(packet.get(at..at + length)?).into_owned());
                }
                _ => return None,
            }
            at += length;
        }
        let record = match u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?) {
            TYPE_A => RecordType::A,
            TYPE_AAAA => RecordType::Aaaa,
            other => RecordType::Other(other),
        };
        let end = at + 4;
        (packet.len() >= end).then(|| Self { packet, end, name: labels.join("."), record })
    }

    /// The two bytes of the query's id.
    pub(super) fn id(&self) -> &'a [u8] {
        &self.packet[..2]
    }

    /// An answer without records.
    pub(super) fn failure(&self, code: u8) -> Vec<u8> {
        self.head(code, 0)
    }

    /// An answer with a chain of aliases and the addresses that fit the record type, never to be cached.
    pub(super) fn records(&self, aliases: &[String], record: RecordType, addresses: &[IpAddr]) -> Vec<u8> {
        let addresses: Vec<_> = addresses
            .iter()
            .filter(|address| match record {
                RecordType::A => address.is_ipv4(),
                RecordType::Aaaa => address.is_ipv6(),
                RecordType::Other(_) => false,
            })
            .collect();
        let count = aliases.len() + addresses.len();
        let mut packet = self.head(0, u16::try_from(count).unwrap_or(u16::MAX));
        let mut owner = encode(&self.name);
        for alias in aliases {
            let data = encode(alias);
            push(&mut packet, &owner, TYPE_CNAME, &data);
            owner = data;
        }
        for address in addresses {
            match address {
                IpAddr::V4(address) => push(&mut packet, &owner, TYPE_A, &address.octets()),
                IpAddr::V6(address) => push(&mut packet, &owner, TYPE_AAAA, &address.octets()),
            }
        }
        packet
    }

    fn head(&self, code: u8, answers: u16) -> Vec<u8> {
        let recursion_desired = self.packet[2] & 1;
        let mut packet = self.id().to_vec();
        packet.extend([0x84 | recursion_desired, 0x80 | code, 0, 1]);
        packet.extend(answers.to_be_bytes());
        packet.extend([0; 4]);
        packet.extend(&self.packet[HEADER..self.end]);
        packet
    }
}

fn push(packet: &mut Vec<u8>, owner: &[u8], record: u16, data: &[u8]) {
    packet.extend(owner);
    packet.extend(record.to_be_bytes());
    packet.extend([0, 1]);
    packet.extend([0; 4]);
    packet.extend(u16::try_from(data.len()).unwrap_or(u16::MAX).to_be_bytes());
    packet.extend(data);
}

fn encode(name: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len() + 2);
    for label in name.split('.').filter(|label| !label.is_empty()) {
        let label = &label.as_bytes()[..label.len().min(63)];
        bytes.push(u8::try_from(label.len()).unwrap_or(63));
        bytes.extend(label);
    }
    bytes.push(0);
    bytes
}
