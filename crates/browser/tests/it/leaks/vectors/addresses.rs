//! Every spelling of the canary's address, as an image and as a navigation.

use super::{Vector, html};

const SPELLINGS: &[(&str, &str)] = &[
    ("hexadecimal", "http://0x7f000003:{port}/"),
    ("hexadecimal parts", "http://0x7f.0x0.0x0.0x3:{port}/"),
    ("hexadecimal with zeros", "http://0x00000007f.0.0.3:{port}/"),
    ("decimal", "http://2130706435:{port}/"),
    ("octal", "http://0177.0.0.03:{port}/"),
    ("octal in one", "http://017700000003:{port}/"),
    ("two parts", "http://127.3:{port}/"),
    ("three parts", "http://127.0.3:{port}/"),
    ("mixed parts", "http://0x7f.0.03:{port}/"),
    ("trailing dot", "http://127.0.0.3.:{port}/"),
    ("mapped", "http://[::ffff:127.0.0.3]:{port}/"),
    ("mapped, hexadecimal", "http://[::ffff:7f00:3]:{port}/"),
    ("mapped, in full", "http://[0:0:0:0:0:FFFF:7F00:0003]:{port}/"),
    ("full-width digits", "http://１２７.０.０.３:{port}/"),
    ("full-width dots", "http://127。0．0｡3:{port}/"),
    ("circled digits", "http://①②⑦.⓪.⓪.③:{port}/"),
    ("percent-encoded", "http://%31%32%37.%30.%30.%33:{port}/"),
    ("percent-encoded dots", "http://127%2e0%2E0%2e3:{port}/"),
    ("soft hyphens", "http://127\u{ad}.0\u{200b}.0.3:{port}/"),
    ("user", "http://127.0.0.1@{canary}/"),
    ("user and password", "http://127.0.0.1:80@{canary}/"),
    ("user with a slash", "http://127.0.0.1%2f@{canary}/"),
    ("two at signs", "http://a@127.0.0.1@{canary}/"),
    ("backslashes", "http:\\\\{canary}\\"),
    ("backslash before an at sign", "http://{canary}\\@127.0.0.1/"),
    ("fragment before an at sign", "http://{canary}#@127.0.0.1/"),
    ("question before an at sign", "http://{canary}?@127.0.0.1/"),
    ("no scheme", "//{canary}/"),
    ("backslashes without scheme", "\\\\{canary}\\"),
    ("three slashes", "http:///{canary}/"),
    ("five slashes", "http://///{canary}/"),
    ("line breaks", "ht\ntp://127.0.\n0.3:{port}/"),
    ("tabs and spaces", " \thttp://127.\t0.0.3:{port}/ "),
    ("capital scheme", "HTTP://{canary}/"),
    ("zero before the port", "http://127.0.0.3:000{port}/"),
];

pub(super) fn vectors() -> Vec<Vector> {
    let (with_user, plain): (Vec<_>, Vec<_>) = SPELLINGS.iter().partition(|(_, url)| url.contains("@{canary}"));
    let links = SPELLINGS.iter().map(|(name, url)| {
        html(format!("address, {name}: link"), format!("<a id=a href='{url}'>x</a><script>a.click()</script>"))
    });
    let images = [
        images("addresses: images", &plain),
        images("addresses: images with a user", &with_user)
            .never("the browser loads no parts of a page whose URL carries a user"),
    ];
    links.chain(images).chain(embedded()).collect()
}

/// One page with an image of each spelling. The number keeps the browser from taking two for the same.
fn images(name: &str, spellings: &[&(&str, &str)]) -> Vector {
    let images = spellings.iter().enumerate().map(|(number, (_, url))| format!("<img src='{url}{number}'>"));
    html(name, images.collect::<String>()).tries(spellings.len())
}

/// Addresses of other families that contain the canary's.
fn embedded() -> Vec<Vector> {
    let never = "the machine has no route to it";
    [
        ("NAT64", "http://[64:ff9b::127.0.0.3]:{port}/"),
        ("NAT64 of the local network", "http://[64:ff9b:1::127.0.0.3]:{port}/"),
        ("6to4", "http://[2002:7f00:3::]:{port}/"),
        ("Teredo", "http://[2001:0:7f00:3::80ff:fffc]:{port}/"),
        ("compatible", "http://[::127.0.0.3]:{port}/"),
        ("translated", "http://[::ffff:0:127.0.0.3]:{port}/"),
    ]
    .into_iter()
    .map(|(name, url)| html(format!("address, {name}: image"), format!("<img src='{url}'>")).never(never))
    .collect()
}
