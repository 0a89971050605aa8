//! `bathy-testsite`: the test site, for people to look at.

use std::io;

use bathy_testsite::{Ports, TestSite};
use clap::Parser;

/// Serves friendly and hostile pages on loopback addresses until it is interrupted.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Port on 127.0.0.1; 0 means any free port.
    #[arg(long, default_value_t = 8000)]
    port: u16,
    /// Port of the other origins, on 127.0.0.2 and 127.0.0.3; 0 means any free port.
    #[arg(long, default_value_t = 8000)]
    other_port: u16,
    /// The host that the shop's "analytics" script sends the order to.
    #[arg(long, value_name = "HOST[:PORT]")]
    analytics: Option<String>,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let ports = Ports { main: arguments.port, other: arguments.other_port, third: arguments.other_port };
    let site = TestSite::bind(ports).await?;
    if let Some(analytics) = arguments.analytics {
        site.define("analytics", analytics);
    }
    announce(&site);
    tokio::signal::ctrl_c().await
}

#[expect(clippy::print_stdout, reason = "the addresses are what the user started this for")]
fn announce(site: &TestSite) {
    println!("all pages      {}", site.url(""));
    println!("a small shop   {}", site.url("shop/"));
    println!("other origins  {} {}", site.other_origin(), site.third_origin());
    println!("press Ctrl-C to stop");
}
