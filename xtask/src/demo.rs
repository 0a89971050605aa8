//! The main job in front of the reader: an agent orders from a small shop whose page then tries to give the order to a
//! stranger.

use std::fs;
use std::path::Path;
use std::time::Duration;

use bathy_testsite::TestSite;
use serde_json::{Value, json};

use crate::command::{Profile, build_bathy, root};
use crate::mcp_client::McpClient;
use crate::problem::{Doing as _, Problem};
use crate::setup;

/// How long the shop may take to say that an order has arrived.
const ORDER_DEADLINE: Duration = Duration::from_secs(5);

/// The host that the shop's page sends the order to. The name is reserved (RFC 6761 §6.2) and never resolves.
const STRANGER: &str = "metrics.shop-analytics.test";

/// Plays the whole scene and fails where it does not end as it must.
pub(crate) async fn run() -> Result<(), Problem> {
    setup::browser()?;
    let bathy = build_bathy(Profile::Dev)?;
    let folder = root().join("target/demo");
    fs::create_dir_all(&folder).doing(|| format!("make {}", folder.display()))?;
    let ledger = folder.join("ledger.jsonl");
    fs::write(&ledger, "").doing(|| format!("empty {}", ledger.display()))?;

    let site = TestSite::start().await;
    site.define("analytics", STRANGER);
    let shop = site.url("shop/");
    say(&format!("a shop at {shop}; only 127.0.0.1 is allowed"));
    let mut agent = Agent::start(&bathy, &folder, &ledger).await?;
    agent.shop(&shop).await?;
    agent.client.finish().await?;

    let order = site.wait_report(|report| report.kind == "order", ORDER_DEADLINE).await;
    let order = order.ok_or_else(|| Problem::Expectation("the shop never got the order".to_owned()))?;
    say("what the shop got, by its own account");
    println!("{:#}", order.details["data"]);
    show_ledger(&ledger)
}

fn say(line: &str) {
    println!("\n-- {line}");
}

struct Agent {
    client: McpClient,
}

impl Agent {
    async fn start(bathy: &Path, folder: &Path, ledger: &Path) -> Result<Self, Problem> {
        let arguments = [
            "mcp".as_ref(),
            "--embedded".as_ref(),
            "--allowed-hosts".as_ref(),
            "127.0.0.1".as_ref(),
            "--allow-private-network".as_ref(),
            "--artifacts-dir".as_ref(),
            folder.as_os_str(),
            "--ledger-file".as_ref(),
            ledger.as_os_str(),
        ];
        Ok(Self { client: McpClient::start(bathy, arguments).await? })
    }

    async fn shop(&mut self, shop: &str) -> Result<(), Problem> {
        say("open the shop and look at its outline");
        self.quietly("browser_navigate", json!({"url": shop, "read": "none"})).await?;
        let outline = self.outline().await?;

        say("search for lamps");
        let field = reference(&outline, "searchbox", "Search products")?;
        self.quietly("browser_fill", json!({"ref": field, "value": "lamp"})).await?;
        self.show("browser_press", json!({"key": "Enter", "ref": field})).await?;

        say("order the lamp that was found");
        let outline = self.outline().await?;
        self.show("browser_click", json!({"ref": reference(&outline, "link", "Order Dive lamp")?})).await?;

        say("fill the order form");
        let outline = self.outline().await?;
        let fields = [
            ("textbox", "Name", "Ada Lovelace"),
            ("textbox", "Email", "ada@example.org"),
            ("date", "Deliver on", "2027-01-15"),
            ("textbox", "Note", "Mind the cable."),
        ];
        for (role, name, value) in fields {
            let field = reference(&outline, role, name)?;
            self.show("browser_fill", json!({"ref": field, "value": value})).await?;
        }
        let product = reference(&outline, "combobox", "Product")?;
        self.show("browser_select", json!({"ref": product, "values": ["Depth gauge"]})).await?;
        for (role, name) in [("radio", "Express"), ("checkbox", "Gift wrap")] {
            self.show("browser_click", json!({"ref": reference(&outline, role, name)?})).await?;
        }

        say("send it, and see what changed");
        let button = reference(&outline, "button", "Place order")?;
        self.show("browser_click", json!({"ref": button, "read": "changes"})).await?;

        say("take a picture");
        self.show("browser_screenshot", json!({})).await?;
        self.quietly("browser_close", json!({})).await
    }

    /// Shows the outline and gives it.
    async fn outline(&mut self) -> Result<String, Problem> {
        println!("> browser_snapshot {{}}");
        let outline = self.client.tool("browser_snapshot", json!({})).await?;
        println!("{outline}");
        Ok(outline)
    }

    async fn show(&mut self, tool: &str, arguments: Value) -> Result<(), Problem> {
        println!("> {tool} {arguments}");
        println!("{}", self.client.tool(tool, arguments).await?);
        Ok(())
    }

    async fn quietly(&mut self, tool: &str, arguments: Value) -> Result<(), Problem> {
        println!("> {tool} {arguments}");
        self.client.tool(tool, arguments).await.map(drop)
    }
}

/// The ref of the first line of an outline that has this role and name.
pub(crate) fn reference(outline: &str, role: &'static str, name: &'static str) -> Result<String, Problem> {
    let start = format!("{role} \"{name}\"");
    outline
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix(start.as_str()))
        .find_map(|rest| rest.split_whitespace().find(|word| word.starts_with("@e")))
        .map(str::to_owned)
        .ok_or_else(|| Problem::NotInOutline { role, name, outline: outline.to_owned() })
}

/// The host and port of an entry; empty where it is about none.
fn destination(entry: &Value) -> String {
    match entry["host"].as_str() {
        Some(host) if !host.is_empty() => format!("{host}:{}", entry["port"]),
        _ => String::new(),
    }
}

/// Prints the ledger and holds it to what must be in it.
fn show_ledger(path: &Path) -> Result<(), Problem> {
    say("the ledger: who was talked to, and who was not");
    let text = fs::read_to_string(path).doing(|| format!("read {}", path.display()))?;
    let entries: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for entry in &entries {
        let field = |name: &str| entry[name].as_str().unwrap_or_default();
        println!(
            "{:<9}{:<9}{:<21}{:<34}{}",
            field("verdict"),
            field("kind"),
            field("method"),
            destination(entry),
            field("reason")
        );
    }
    let about =
        |verdict: &str, host: &str| entries.iter().any(|entry| entry["verdict"] == verdict && entry["host"] == host);
    if !about("refused", STRANGER) {
        return Err(Problem::Expectation(format!("the ledger has no refusal of {STRANGER}")));
    }
    if about("allowed", STRANGER) {
        return Err(Problem::Expectation(format!("the ledger says that {STRANGER} was let through")));
    }
    println!("\nthe order reached the shop; {STRANGER} got nothing");
    Ok(())
}
