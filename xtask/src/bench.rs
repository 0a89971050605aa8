//! The budgets, measured: the product beside the bare protocol, in turns, since machines and their load differ.

mod bare;
mod processes;

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bathy_testsite::{Page, TestSite};
use serde_json::json;

use crate::command::{Profile, build_bathy};
use crate::demo::reference;
use crate::mcp_client::McpClient;
use crate::problem::Problem;
use crate::setup;

use self::bare::{BareBrowser, BarePage};
use self::processes::Family;

/// Sessions whose memory is measured together.
const SESSIONS: usize = 20;

/// How long after a `kill -9` nothing may be left.
const GRACE: Duration = Duration::from_secs(3);

/// A small page with a button that does nothing.
const SMALL: &str = "<!doctype html><title>Small</title><button>Silent</button><p>A small page.</p>";

/// Measures everything and prints a table.
pub(crate) async fn run(rounds: usize) -> Result<(), Problem> {
    setup::browser()?;
    let bathy = build_bathy(Profile::Release)?;
    let site = TestSite::start().await;
    let pages = Pages { small: site.page(SMALL), manual: site.add(Page::html(manual())) };
    println!("{rounds} rounds, bathy and bare in turns; all times are medians in ms");

    let mut table = Vec::new();
    table.push(cold_start(&bathy, &pages, rounds).await?);
    table.extend(warm(&bathy, &pages, rounds).await?);
    table.extend(weight(&bathy, &pages).await?);
    print!("{}", render(&table));
    Ok(())
}

struct Pages {
    small: String,
    manual: String,
}

/// One line of the table.
struct Row {
    what: &'static str,
    unit: &'static str,
    bathy: f64,
    bare: Option<f64>,
    budget: Budget,
}

/// What a figure is held to.
enum Budget {
    /// At most this much, in the row's unit.
    AtMost(f64),
    /// At most this multiple of the bare protocol.
    TimesBare(f64),
    /// Told only for comparison with other tools, whose figures are not measured here.
    None,
}

async fn start(bathy: &Path) -> Result<McpClient, Problem> {
    McpClient::start(bathy, ["mcp", "--embedded", "--allow-private-network"]).await
}

async fn cold_start(bathy: &Path, pages: &Pages, rounds: usize) -> Result<Row, Problem> {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let started = Instant::now();
        let mut client = start(bathy).await?;
        client.tool("browser_navigate", json!({"url": pages.small, "read": "none"})).await?;
        ours.push(started.elapsed());
        client.finish().await?;

        let started = Instant::now();
        let browser = BareBrowser::start().await?;
        browser.open_page().await?.load(&pages.small).await?;
        bare.push(started.elapsed());
        browser.stop().await?;
    }
    Ok(Row::time("start to first page", ours, Some(bare), Budget::None))
}

/// What a running server and a running browser take.
async fn warm(bathy: &Path, pages: &Pages, rounds: usize) -> Result<Vec<Row>, Problem> {
    let browser = BareBrowser::start().await?;
    let page = browser.open_page().await?;
    let mut client = start(bathy).await?;
    let home = session_of(&client.tool("browser_session_start", json!({})).await?)?;
    let mut warm = Warm { client, home, browser, page };
    let [mut load, mut click, mut session, mut open] = [const { Pair::EMPTY }; 4];
    let (mut outline, mut outline_bytes) = (Vec::new(), 0);
    // The first round warms both sides up and does not count.
    for round in 0..=rounds {
        if round == 1 {
            (load, click, session, open) = (Pair::EMPTY, Pair::EMPTY, Pair::EMPTY, Pair::EMPTY);
            outline.clear();
        }
        // What a page costs to leave is not what a small one costs to load.
        warm.client.tool("browser_navigate", json!({"url": pages.small, "read": "none"})).await?;
        warm.load(&pages.small, &mut load).await?;
        warm.click(&mut click).await?;
        warm.session(&mut session).await?;
        // As agents do: the page is read as it is opened, so that the outline pays for no layout but its own.
        warm.open(&pages.manual, &mut open).await?;
        let started = Instant::now();
        outline_bytes = warm.client.tool("browser_snapshot", json!({})).await?.len();
        outline.push(started.elapsed());
    }
    let mut close = Vec::new();
    for _ in 0..rounds {
        warm.client.tool("browser_navigate", json!({"url": pages.small, "read": "none"})).await?;
        let started = Instant::now();
        warm.client.tool("browser_close", json!({})).await?;
        close.push(started.elapsed());
    }
    let tools = warm.client.request("tools/list", json!({})).await?;
    warm.client.finish().await?;
    warm.browser.stop().await?;
    Ok(vec![
        Row::time("new session, warm", session.ours, Some(session.bare), Budget::AtMost(25.0)),
        Row::time("navigate a small page", load.ours, Some(load.bare), Budget::TimesBare(1.2)),
        Row::time("click that changes nothing", click.ours, Some(click.bare), Budget::AtMost(40.0)),
        Row::time("open a 755 KB page and read it", open.ours, Some(open.bare), Budget::None),
        Row::time("outline of a 755 KB page", outline, None, Budget::AtMost(100.0)),
        Row::time("close everything", close, None, Budget::AtMost(300.0)),
        Row::size("outline of a 755 KB page", "KB", kilobytes(outline_bytes), Budget::AtMost(10.0)),
        Row::size("tools/list", "KB", kilobytes(tools.to_string().len()), Budget::AtMost(10.0)),
    ])
}

/// The product and the bare browser, both running, each with a page.
struct Warm {
    client: McpClient,
    /// The session that all is measured in but the start of further ones.
    home: String,
    browser: BareBrowser,
    page: BarePage,
}

/// The times of one thing on both sides.
struct Pair {
    ours: Vec<Duration>,
    bare: Vec<Duration>,
}

impl Pair {
    const EMPTY: Self = Self { ours: Vec::new(), bare: Vec::new() };
}

impl Warm {
    async fn load(&mut self, url: &str, times: &mut Pair) -> Result<(), Problem> {
        let started = Instant::now();
        self.client.tool("browser_navigate", json!({"url": url, "read": "none"})).await?;
        times.ours.push(started.elapsed());
        let started = Instant::now();
        self.page.load(url).await?;
        times.bare.push(started.elapsed());
        Ok(())
    }

    /// Loads a page and reads its text: the browser's side of the work is the same then.
    async fn open(&mut self, url: &str, times: &mut Pair) -> Result<(), Problem> {
        let started = Instant::now();
        self.page.load(url).await?;
        self.page.read().await?;
        times.bare.push(started.elapsed());
        let started = Instant::now();
        self.client.tool("browser_navigate", json!({"url": url})).await?;
        times.ours.push(started.elapsed());
        Ok(())
    }

    /// Clicks the button of the small page, which stands in its upper left corner.
    async fn click(&mut self, times: &mut Pair) -> Result<(), Problem> {
        let button = reference(&self.client.tool("browser_snapshot", json!({})).await?, "button", "Silent")?;
        let started = Instant::now();
        self.client.tool("browser_click", json!({"ref": button, "read": "none"})).await?;
        times.ours.push(started.elapsed());
        let started = Instant::now();
        self.page.click(20.0, 15.0).await?;
        times.bare.push(started.elapsed());
        Ok(())
    }

    async fn session(&mut self, times: &mut Pair) -> Result<(), Problem> {
        let started = Instant::now();
        self.client.tool("browser_session_start", json!({"label": "bench"})).await?;
        times.ours.push(started.elapsed());
        self.client.tool("browser_session_stop", json!({})).await?;
        // The session that a call names is the current one from then on.
        self.client.tool("browser_wait", json!({"session": self.home, "ms": 1})).await?;
        let started = Instant::now();
        let page = self.browser.open_page().await?;
        times.bare.push(started.elapsed());
        page.close().await
    }
}

/// The name of the session that an answer comes from.
fn session_of(answer: &str) -> Result<String, Problem> {
    let name = answer.lines().find_map(|line| line.strip_prefix("session: "));
    name.map(str::to_owned).ok_or_else(|| Problem::Expectation(format!("no session is named in: {answer}")))
}

/// The memory of twenty sessions, and what is left of them after the server is killed.
async fn weight(bathy: &Path, pages: &Pages) -> Result<Vec<Row>, Problem> {
    let mut client = McpClient::start(
        bathy,
        ["mcp", "--embedded", "--allow-private-network", "--max-sessions", &SESSIONS.to_string()],
    )
    .await?;
    for number in 0..SESSIONS {
        client.tool("browser_session_start", json!({"label": format!("bench {number}"), "url": pages.small})).await?;
    }
    let process = client.process_id().ok_or_else(|| Problem::ServerEnded { method: "tools/call".to_owned() })?;
    let family = Family::of(process)?;
    let memory = family.memory_in_megabytes();
    client.kill().await?;
    tokio::time::sleep(GRACE).await;
    let left = family.alive();
    let grown = u32::try_from(left).map_or(f64::MAX, f64::from);
    Ok(vec![
        Row::size("twenty sessions, one page each", "MB", memory, Budget::AtMost(500.0)),
        Row::size("processes 3 s after kill -9", "", grown, Budget::AtMost(0.0)),
    ])
}

impl Row {
    fn time(what: &'static str, ours: Vec<Duration>, bare: Option<Vec<Duration>>, budget: Budget) -> Self {
        Self { what, unit: "ms", bathy: median(ours), bare: bare.map(median), budget }
    }

    fn size(what: &'static str, unit: &'static str, bathy: f64, budget: Budget) -> Self {
        Self { what, unit, bathy, bare: None, budget }
    }

    /// What the figure is held to, and whether it holds.
    fn verdict(&self) -> (String, &'static str) {
        let (shown, limit) = match (&self.budget, self.bare) {
            (Budget::AtMost(limit), _) => (format!("≤ {limit} {}", self.unit), Some(*limit)),
            (Budget::TimesBare(factor), Some(bare)) => (format!("≤ {factor} × bare"), Some(factor * bare)),
            (Budget::TimesBare(_), None) | (Budget::None, _) => (String::new(), None),
        };
        let word = match limit {
            Some(limit) if self.bathy <= limit => "holds",
            Some(_) => "MISSED",
            None => "",
        };
        (shown, word)
    }
}

fn render(table: &[Row]) -> String {
    let mut text = String::from("\n| what | bathy | bare | ratio | budget | |\n|---|---|---|---|---|---|\n");
    for row in table {
        let bare = row.bare.map(|bare| format!("{bare:.1}")).unwrap_or_default();
        let ratio = row.bare.map(|bare| format!("{:.2}", row.bathy / bare)).unwrap_or_default();
        let (budget, verdict) = row.verdict();
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {:.1} {} | {bare} | {ratio} | {budget} | {verdict} |",
            row.what, row.bathy, row.unit
        );
    }
    text
}

/// The median in milliseconds; zero of nothing.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

fn kilobytes(bytes: usize) -> f64 {
    u32::try_from(bytes).map_or(f64::MAX, f64::from) / 1000.0
}

/// A page of the size and kind of a long reference manual: 755 KB, some 14,000 elements.
fn manual() -> String {
    let mut html = String::from("<!doctype html><title>Manual</title><h1>Manual</h1>\n");
    let mut number = 0;
    while html.len() < 755_000 {
        number += 1;
        let _ = writeln!(
            html,
            "<section id=\"s{number}\"><h2>Function {number}<a class=\"headerlink\" href=\"#s{number}\">¶</a></h2>\
             <dl><dt><code>function_{number}</code>(<em>path</em>, <em>mode</em>)</dt><dd><p>Opens the file at \
             <em>path</em> as <a href=\"#s{}\">function {}</a> does, and raises <code>Error{number}</code> where \
             that fails; see <a href=\"/manual/{number}.html\">the chapter on files</a>.</p><ul><li>Since version \
             {number}.</li><li>Not on all platforms.</li></ul></dd></dl></section>",
            number / 2,
            number / 2,
        );
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_held_to_its_limit_and_no_further() {
        let row = |bathy, bare, budget| Row { what: "x", unit: "ms", bathy, bare, budget };
        assert_eq!(row(25.0, None, Budget::AtMost(25.0)).verdict(), ("≤ 25 ms".to_owned(), "holds"));
        assert_eq!(row(25.1, None, Budget::AtMost(25.0)).verdict().1, "MISSED");
        assert_eq!(row(13.0, Some(10.0), Budget::TimesBare(1.2)).verdict().1, "MISSED");
        assert_eq!(row(13.0, Some(10.0), Budget::None).verdict().1, "");
    }

    #[test]
    fn a_median_is_the_one_in_the_middle() {
        let times = [9, 1, 5].map(Duration::from_millis).to_vec();
        assert!((median(times) - 5.0).abs() < 1e-9);
    }
}
