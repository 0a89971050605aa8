use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use bathy_chromium::{Containment, GATE_PORT, LaunchError, Level, launch};
use bathy_testsite::processes::{arguments, field, tree};
use serde_json::json;

use crate::support::{self, Driven, PATIENCE, is_root, options, parent};

#[tokio::test]
async fn inside_the_namespace_there_is_nothing_but_loopback() {
    let parent = parent();
    let driven = Driven::launch(options(Containment::Kernel, parent.path())).await;
    assert_eq!(driven.launched.level, Level::Kernel);
    let id = driven.id();
    let devices = fs::read_to_string(format!("/proc/{id}/net/dev")).unwrap();
    let names: Vec<&str> = devices.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim).collect();
    assert_eq!(names, ["lo"]);
    let namespace = |of: &str| fs::read_link(format!("/proc/{of}/ns/net")).unwrap();
    for process in tree(id) {
        assert_ne!(namespace(&process.to_string()), namespace("self"));
    }
    driven.launched.process.close(PATIENCE).await;
}

#[tokio::test]
async fn the_gate_hears_what_a_page_loads_and_which_door_it_came_through() {
    let parent = parent();
    let mut driven = Driven::launch(options(Containment::Kernel, parent.path())).await;
    let gate = driven.launched.gate_listener.take().unwrap();
    let answering = std::thread::spawn(move || answer_one(&gate));
    let door = format!("http://127.45.6.7:{GATE_PORT}");
    let session = driven.page(&door, "http://shop.example/order").await;
    let (request, address) = answering.join().unwrap();
    assert!(request.starts_with("GET http://shop.example/order HTTP/1.1\r\n"), "{request}");
    assert_eq!(address, IpAddr::from([127, 45, 6, 7]));
    wait_for_title(&mut driven, &session, "through").await;
    driven.launched.process.close(PATIENCE).await;
}

#[tokio::test]
async fn at_the_browser_level_a_page_comes_through_its_door_and_no_datagram_leaves() {
    let parent = parent();
    let mut driven = Driven::launch(options(Containment::Browser, parent.path())).await;
    assert_eq!(driven.launched.level, Level::Browser);
    assert!(driven.launched.gate_listener.is_none());
    // Chromium must reach a literal address that its resolver rules do not exclude.
    let gate = TcpListener::bind("127.45.6.8:0").unwrap();
    let door = format!("http://{}", gate.local_addr().unwrap());
    gate.set_nonblocking(true).unwrap();
    let answering = std::thread::spawn(move || answer_one(&gate));
    let session = driven.page(&door, "http://shop.example/").await;
    let (request, _) = answering.join().unwrap();
    assert!(request.starts_with("GET http://shop.example/ HTTP/1.1\r\n"), "{request}");
    wait_for_title(&mut driven, &session, "through").await;

    let ear = UdpSocket::bind("127.0.0.1:0").unwrap();
    ear.set_nonblocking(true).unwrap();
    let port = ear.local_addr().unwrap().port();
    let candidates = driven
        .evaluate(
            &session,
            &format!(
                "(async () => {{
                    const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}});
                    const seen = [];
                    peer.onicecandidate = event => event.candidate && seen.push(event.candidate.candidate);
                    peer.createDataChannel('x');
                    await peer.setLocalDescription(await peer.createOffer());
                    await new Promise(done => {{
                        const check = () => peer.iceGatheringState === 'complete' && done();
                        peer.onicegatheringstatechange = check;
                        check();
                        setTimeout(done, 5000);
                    }});
                    return seen;
                }})()"
            ),
        )
        .await;
    assert_eq!(candidates, json!([]));
    let heard = ear.recv(&mut [0; 64]);
    assert_eq!(heard.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    for process in tree(driven.id()) {
        assert_eq!(datagram_sockets(process), Vec::<String>::new());
    }
    driven.launched.process.close(PATIENCE).await;
}

#[tokio::test]
async fn a_browser_level_browser_can_still_open_tcp_to_loopback() {
    // The filter must not be so strict that the gate is out of reach; a name that needs the resolver stays unknown.
    let parent = support::parent();
    let mut driven = Driven::launch(options(Containment::Browser, parent.path())).await;
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("socks5://{}", site.local_addr().unwrap());
    driven.page(&proxy, "http://shop.example/").await;
    site.set_nonblocking(true).unwrap();
    assert!(support::comes_true(PATIENCE, || site.accept().is_ok()));
    driven.launched.process.close(PATIENCE).await;
}

#[tokio::test]
async fn at_the_browser_level_no_program_can_open_anything_but_tcp() {
    let parent = parent();
    let ear = UdpSocket::bind("127.0.0.1:0").unwrap();
    ear.set_nonblocking(true).unwrap();
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let (udp, tcp) = (ear.local_addr().unwrap().port(), site.local_addr().unwrap().port());
    let script = format!(
        "exec /bin/bash -c 'echo x > /dev/udp/127.0.0.1/{udp}; exec 9<> /dev/tcp/127.0.0.1/{tcp} && echo open >&2'"
    );
    let program = support::program(parent.path(), "talks", &script);
    let mut options = support::options_for(&program, parent.path());
    options.containment = Containment::Browser;
    let LaunchError::Exited { exit } = launch(options).await.unwrap_err() else { panic!("it is no browser") };
    assert!(exit.stderr[0].ends_with("Permission denied"), "{exit:?}");
    assert_eq!(exit.stderr.last().unwrap(), "open");
    assert_eq!(ear.recv(&mut [0; 8]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn traffic_without_a_session_is_refused_at_both_levels() {
    for containment in [Containment::Kernel, Containment::Browser] {
        let parent = parent();
        let mut driven = Driven::launch(options(containment, parent.path())).await;
        let site = TcpListener::bind("127.0.0.1:0").unwrap();
        site.set_nonblocking(true).unwrap();
        let url = format!("http://{}/", site.local_addr().unwrap());
        let target = driven.call(None, "Target.createTarget", json!({"url": "about:blank"})).await;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = driven.call(None, "Target.attachToTarget", attach).await;
        let session = session["sessionId"].as_str().unwrap();
        let outcome = driven.call(Some(session), "Page.navigate", json!({"url": url})).await;
        assert_eq!(outcome["errorText"], "net::ERR_PROXY_CONNECTION_FAILED", "{outcome}");
        assert_eq!(site.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        driven.launched.process.close(PATIENCE).await;
    }
}

#[tokio::test]
async fn the_sandbox_is_on_at_both_levels_and_no_port_is_open() {
    for containment in [Containment::Kernel, Containment::Browser] {
        let parent = parent();
        let mut driven = Driven::launch(options(containment, parent.path())).await;
        let session = driven.page("http://127.0.0.1:9", "data:text/html,hello").await;
        // A renderer that runs a script has put off the name of the process that it was forked from.
        assert_eq!(driven.evaluate(&session, "1 + 1").await, 2);
        let processes = tree(driven.id());
        assert_eq!(field(driven.id(), "CapEff").as_deref(), Some("0000000000000000"));
        let mut renderers = 0;
        for process in &processes {
            let arguments = arguments(*process);
            for argument in &arguments {
                assert!(!argument.contains("no-sandbox"), "{argument}");
                assert!(!argument.contains("remote-debugging-port"), "{argument}");
            }
            assert_eq!(field(*process, "NoNewPrivs").as_deref(), Some("1"));
            if is_root() {
                assert_ne!(field(*process, "Uid").unwrap().split('\t').next(), Some("0"));
            }
            if arguments.iter().any(|argument| argument.contains("--type=renderer")) {
                renderers += 1;
                assert_eq!(field(*process, "CapEff").as_deref(), Some("0000000000000000"));
                assert_eq!(field(*process, "Seccomp").as_deref(), Some("2"));
                // Our own filter is one at the browser level, none at the kernel level; the sandbox adds to it.
                let filters: u32 = field(*process, "Seccomp_filters").unwrap().parse().unwrap();
                let ours = u32::from(driven.launched.level == Level::Browser);
                assert!(filters > ours, "{filters}");
                for kind in ["pid", "user"] {
                    let namespace = |of: u32| fs::read_link(format!("/proc/{of}/ns/{kind}")).unwrap();
                    assert_ne!(namespace(*process), namespace(driven.id()), "{kind}");
                }
            }
            assert_eq!(listening_sockets(*process, driven.launched.level), Vec::<String>::new());
        }
        assert!(renderers > 0);
        driven.launched.process.close(PATIENCE).await;
    }
}

#[tokio::test]
async fn the_browser_learns_nothing_from_our_environment_and_inherits_no_descriptor() {
    let parent = parent();
    let script = "env | sed 's/=.*//' | sort | tr '\\n' ' ' >&2; echo >&2; exec ls /proc/self/fd >&2";
    let program = support::program(parent.path(), "tells", script);
    let options = support::options_for(&program, parent.path());
    let LaunchError::Exited { exit } = launch(options).await.unwrap_err() else { panic!("it is no browser") };
    let mut names: Vec<&str> = exit.stderr[0].split(' ').collect();
    // The shell itself adds PWD and such.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_", "LC_ALL", "TZ"].contains(name));
    let expected = [
        "DBUS_SESSION_BUS_ADDRESS",
        "DBUS_SYSTEM_BUS_ADDRESS",
        "HOME",
        "LANG",
        "PATH",
        "TMPDIR",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
    ];
    assert_eq!(names, expected);
    // 5 is the folder that `ls` is reading; one more that was inherited would be in its place.
    assert_eq!(exit.stderr[1..], ["0", "1", "2", "3", "4", "5"]);
}

/// Accepts one connection, reads the head of a request and answers with a page titled `through`.
fn answer_one(gate: &TcpListener) -> (String, IpAddr) {
    let until = Instant::now() + PATIENCE;
    let mut connection = loop {
        match gate.accept() {
            Ok((connection, _)) => break connection,
            Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => panic!("no connection: {error}"),
        }
    };
    connection.set_nonblocking(false).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = Vec::new();
    while !head.windows(4).any(|part| part == b"\r\n\r\n") {
        let mut byte = [0];
        connection.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let address = connection.local_addr().unwrap().ip();
    let page = "<title>through</title>";
    write!(
        connection,
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
        page.len()
    )
    .unwrap();
    (String::from_utf8(head).unwrap(), address)
}

async fn wait_for_title(driven: &mut Driven, session: &str, title: &str) {
    let until = Instant::now() + PATIENCE;
    while driven.evaluate(session, "document.title").await != title {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The UDP sockets that a process holds, as lines of its namespace's table.
fn datagram_sockets(process: u32) -> Vec<String> {
    sockets(process, &["udp", "udp6", "raw", "raw6"], |_| true)
}

/// The TCP sockets on which a process listens.
fn listening_sockets(process: u32, level: Level) -> Vec<String> {
    let found = sockets(process, &["tcp", "tcp6"], |line| line.split_ascii_whitespace().nth(3) == Some("0A"));
    assert!(level == Level::Kernel || found.is_empty());
    found
}

fn sockets(process: u32, tables: &[&str], wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let held: Vec<String> = fs::read_dir(format!("/proc/{process}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let lines = tables.iter().flat_map(|table| {
        let content = fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        content.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    });
    lines
        .filter(|line| wanted(line))
        .filter(|line| held.iter().any(|inode| line.split_ascii_whitespace().nth(9) == Some(inode)))
        .collect()
}
