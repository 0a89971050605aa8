//! What matters on a page now, and what changed since the last look.

use bathy_browser::{ScrollDirection, WaitUntil};
use bathy_testsite::Page;

use crate::support::{Stage, soon};

async fn observe(stage: &Stage) -> String {
    stage.tab.observe(false, 10_000, soon()).await.unwrap().text
}

/// The line that says this, which has to be one.
fn line<'a>(text: &'a str, words: &str) -> &'a str {
    let lines: Vec<_> = text.lines().filter(|line| line.contains(words)).collect();
    assert_eq!(lines.len(), 1, "{words}\n{text}");
    lines[0]
}

#[tokio::test]
async fn what_is_in_view_is_told_and_what_is_not_is_told_on_demand() {
    let stage = Stage::showing(
        "<!doctype html><h1>Orders</h1><p>Some words</p><button>Near</button><div style=height:3000px></div>
         <button>Far</button><h2>End</h2>",
    )
    .await;
    let seen = observe(&stage).await;
    assert_eq!(line(&seen, "Orders"), "heading \"Orders\" level=1");
    assert!(line(&seen, "Near").starts_with("button \"Near\" @e"), "{seen}");
    assert!(!seen.contains("Far") && !seen.contains("End") && !seen.contains("Some words"), "{seen}");
    assert!(line(&seen, "scroll: ").starts_with("scroll: top, 0 px above, "), "{seen}");

    let all = stage.tab.observe(true, 10_000, soon()).await.unwrap().text;
    assert!(all.contains("\"Near\"") && all.contains("\"Far\"") && all.contains("\"End\""), "{all}");

    stage.tab.scroll(Some(ScrollDirection::Bottom), None, None, soon()).await.unwrap();
    let below = observe(&stage).await;
    assert!(below.contains("\"Far\"") && below.contains("\"End\"") && !below.contains("\"Near\""), "{below}");
    assert!(line(&below, "scroll: ").starts_with("scroll: bottom, "), "{below}");
}

#[tokio::test]
async fn twins_are_told_apart_and_the_state_of_a_form_is_told() {
    let stage = Stage::showing(
        "<!doctype html><table><tr><th>Name</th><th>Do</th></tr><tr><td>Ada</td><td><button>Delete</button></td></tr>
         <tr><td>Grace</td><td><button>Delete</button></td></tr></table><button>Once</button>
         <label>First <input></label><label>Last <input value=Hopper></label>
         <label>Mail <input type=email value=wrong required></label><label><input type=checkbox checked> Agree</label>
         <label>Sex <select><option>Choose</option><option>Other</option></select></label>",
    )
    .await;
    let seen = observe(&stage).await;
    let deletes: Vec<_> = seen.lines().filter(|line| line.contains("\"Delete\"")).collect();
    assert_eq!(deletes.len(), 2, "{seen}");
    assert!(deletes[0].contains("in row \"Ada"), "{seen}");
    assert!(deletes[1].contains("in row \"Grace"), "{seen}");
    assert!(!line(&seen, "Once").contains(" in "), "{seen}");
    assert!(line(&seen, "\"First\"").ends_with(" empty"), "{seen}");
    assert!(line(&seen, "\"Last\"").ends_with("= \"Hopper\""), "{seen}");
    let mail = line(&seen, "\"Mail\"");
    assert!(mail.contains("invalid") && mail.contains("required") && mail.contains("= \"wrong\""), "{seen}");
    assert!(line(&seen, "\"Agree\"").contains(" checked"), "{seen}");
    assert!(line(&seen, "\"Sex\"").contains("= \"Choose\" (Choose | Other)"), "{seen}");
}

#[tokio::test]
async fn the_topmost_layer_comes_first_and_a_modal_one_alone() {
    let stage = Stage::showing(
        "<!doctype html><h1>Page</h1><button>Under</button><div popover=manual id=menu>Menu <button>Item</button></div>
         <dialog id=ask aria-label=Cookies><button>Accept</button></dialog>
         <div style='position:fixed;bottom:0;left:0'><button>Chat</button></div>
         <script>menu.showPopover()</script>",
    )
    .await;
    let seen = observe(&stage).await;
    let at = |words: &str| seen.find(words).unwrap_or_else(|| panic!("{words}\n{seen}"));
    assert!(at("over the page:") < at("  button \"Item\""), "{seen}");
    assert!(at("  button \"Item\"") < at("\nbutton \"Under\""), "{seen}");
    assert!(at("  button \"Chat\"") < at("\nbutton \"Under\""), "{seen}");

    stage.show("<!doctype html><button>Under</button><dialog id=ask aria-label=Cookies><button>Accept</button></dialog><script>ask.showModal()</script>").await;
    let seen = observe(&stage).await;
    assert!(seen.starts_with("dialog \"Cookies\" modal\n  button \"Accept\" @e"), "{seen}");
    assert!(!seen.contains("Under") && seen.contains("page behind the dialog, out of reach until it closes"), "{seen}");
}

#[tokio::test]
async fn each_look_tells_what_changed_since_the_one_before() {
    let stage = Stage::showing(
        "<!doctype html><p id=status>Waiting</p><button id=go onclick=\"document.title = 'x'\">Go</button><input aria-label=Name>
         <ul id=list><li>one</li></ul>
         <script>
           let n = 0;
           addEventListener('keydown', (event) => {
             if (event.key === 'a') document.querySelector('#status').textContent = 'Done ' + ++n;
             if (event.key === 'b') document.querySelector('#list').innerHTML += '<li><a href=/x>Added</a></li>';
             if (event.key === 'c') go.disabled = true;
             if (event.key === 'd') document.querySelector('input').value = 'set by script';
           });
         </script>",
    )
    .await;
    let press = async |key: &str| {
        stage.tab.press(&key.parse().unwrap(), None, soon()).await.unwrap();
    };
    let first = observe(&stage).await;
    assert!(!first.contains("the last look"), "{first}");
    assert!(observe(&stage).await.starts_with("nothing changed since the last look\n"));

    press("a").await;
    press("b").await;
    let second = observe(&stage).await;
    assert!(second.starts_with("changed since the last look:\n"), "{second}");
    assert!(second.contains("\n  + text \"Done 1\""), "{second}");
    assert!(second.contains("\n  - text \"Waiting\""), "{second}");
    assert!(second.lines().any(|line| line.starts_with("  + ") && line.contains("link \"Added\" @e")), "{second}");
    assert!(observe(&stage).await.starts_with("nothing changed since the last look\n"));

    press("c").await;
    let third = observe(&stage).await;
    assert!(line(&third, "  ~ ").contains("button \"Go\" disabled @e"), "{third}");
    press("d").await;
    let fourth = observe(&stage).await;
    assert!(line(&fourth, "  ~ ").contains("= \"set by script\""), "{fourth}");

    stage.show("<!doctype html><button>New page</button>").await;
    assert!(!observe(&stage).await.contains("the last look"));
}

#[tokio::test]
async fn frames_are_observed_as_well_and_an_observation_is_bounded() {
    let stage = Stage::set().await;
    let inner = stage
        .site
        .add(Page::html("<!doctype html><button>Inside</button><div style=height:2000px></div><button>Deep</button>"));
    let foreign = inner.replace(&stage.site.origin(), &stage.site.other_origin());
    let many: String = (0..90).map(|number| format!("<button>Number {number}</button> ")).collect();
    stage
        .show(&format!("<!doctype html><iframe src='{inner}' title=mine></iframe><iframe src='{foreign}' title=theirs></iframe>{many}"))
        .await;
    let seen = observe(&stage).await;
    let inside: Vec<_> = seen.lines().filter(|line| line.starts_with("  button \"Inside\" @e")).collect();
    assert_eq!(inside.len(), 2, "{seen}");
    assert!(!seen.contains("Deep"), "{seen}");

    let short = stage.tab.observe(false, 800, soon()).await.unwrap();
    assert!(short.truncated && short.text.len() <= 1600, "{}", short.text);
    assert!(short.text.contains(" more in view; browser_snapshot lists everything"), "{}", short.text);
    stage.tab.navigate(&stage.site.page("<!doctype html><p>only words</p>"), WaitUntil::Load, soon()).await.unwrap();
    assert_eq!(observe(&stage).await, "scroll: the whole page is in view");
}
