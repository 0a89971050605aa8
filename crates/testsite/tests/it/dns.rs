use std::net::Ipv4Addr;
use std::time::Duration;

use bathy_testsite::{DnsDouble, Query, RecordType, Reply};
use tokio::net::UdpSocket;

const A: u8 = 1;
const AAAA: u8 = 28;

/// Asks with the id 7 and gives the answer; nothing when there is none within `patience`.
async fn ask(dns: &DnsDouble, name: &str, record: u8, patience: Duration) -> Option<Vec<u8>> {
    let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        query.push(u8::try_from(label.len()).unwrap());
        query.extend(label.as_bytes());
    }
    query.extend([0, 0, record, 0, 1]);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    socket.send_to(&query, dns.address()).await.unwrap();
    let mut answer = vec![0; 1024];
    let count = tokio::time::timeout(patience, socket.recv(&mut answer)).await.ok()?.unwrap();
    answer.truncate(count);
    Some(answer)
}

async fn answer(dns: &DnsDouble, name: &str, record: u8) -> Vec<u8> {
    ask(dns, name, record, Duration::from_secs(5)).await.unwrap()
}

#[tokio::test]
async fn an_answer_changes_between_two_look_ups_and_then_stays() {
    let dns = DnsDouble::start().await;
    dns.script("Rebind.test.", [Reply::addresses(["127.0.0.2"]), Reply::addresses(["10.0.0.1"])]);
    // Asking for the other type is part of the same look-up and does not move the script.
    let none = answer(&dns, "rebind.test", AAAA).await;
    assert_eq!(none[6..8], [0, 0]);
    assert!(answer(&dns, "rebind.test", A).await.ends_with(&[127, 0, 0, 2]));
    assert!(answer(&dns, "REBIND.test", A).await.ends_with(&[10, 0, 0, 1]));
    assert!(answer(&dns, "rebind.test", A).await.ends_with(&[10, 0, 0, 1]));
    let first = Query { name: "rebind.test".into(), record: RecordType::Aaaa };
    assert_eq!(dns.queries().first(), Some(&first));
}

#[tokio::test]
async fn each_type_gets_its_own_addresses() {
    let dns = DnsDouble::start().await;
    dns.script("mixed.test", [Reply::addresses(["127.0.0.2", "::1", "169.254.169.254"])]);
    let four = answer(&dns, "mixed.test", A).await;
    assert_eq!(four[6..8], [0, 2]);
    assert!(four.ends_with(&[169, 254, 169, 254]));
    let six = answer(&dns, "mixed.test", AAAA).await;
    assert_eq!(six[6..8], [0, 1]);
    assert!(six.ends_with(&[0, 0, 0, 0, 0, 0, 0, 1]));
}

#[tokio::test]
async fn an_alias_brings_the_answer_of_the_other_name() {
    let dns = DnsDouble::start().await;
    dns.script("alias.test", [Reply::Alias("real.test".into())]);
    dns.script("real.test", [Reply::addresses(["10.1.2.3"])]);
    let answer = answer(&dns, "alias.test", A).await;
    assert_eq!(answer[6..8], [0, 2]);
    assert!(answer.ends_with(&[10, 1, 2, 3]));
}

#[tokio::test]
async fn failures_are_told_apart() {
    let dns = DnsDouble::start().await;
    dns.script("broken.test", [Reply::ServerFailure]);
    dns.script("loop.test", [Reply::Alias("loop.test".into())]);
    assert_eq!(answer(&dns, "unknown.test", A).await[3] & 0xf, 3);
    assert_eq!(answer(&dns, "broken.test", A).await[3] & 0xf, 2);
    assert_eq!(answer(&dns, "loop.test", A).await[3] & 0xf, 2);
}

#[tokio::test]
async fn silence_forgery_and_rubbish_are_as_scripted() {
    let dns = DnsDouble::start().await;
    dns.script("silent.test", [Reply::Silence]);
    dns.script("forged.test", [Reply::WrongId(vec![Ipv4Addr::LOCALHOST.into()])]);
    dns.script("rubbish.test", [Reply::Bytes(vec![1, 2, 3])]);
    assert_eq!(ask(&dns, "silent.test", A, Duration::from_millis(20)).await, None);
    assert_ne!(answer(&dns, "forged.test", A).await[..2], [0, 7]);
    assert_eq!(answer(&dns, "rubbish.test", A).await, [0, 7, 1, 2, 3]);
}
