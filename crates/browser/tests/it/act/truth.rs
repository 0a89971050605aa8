//! What the tool says of an action is what the page saw of it: for each row the page itself tells what happened, to which
//! element, and whether the browser trusts it. No row may succeed without its effect, reach another element, fail with an
//! effect, or outlast its budget.

use std::time::{Duration, Instant};

use bathy_browser::{Button, ClickOptions, Error, FillOptions, Modifiers, ScrollDirection, Target, WaitUntil};
use bathy_testsite::Report;

use crate::support::{Stage, soon};

/// The most that a row may take, on a busy machine.
const BUDGET: Duration = Duration::from_secs(3);
/// Reports that an element gets because somebody acts on it, and no other element may get.
const TELLING: [&str; 8] = ["click", "dblclick", "contextmenu", "auxclick", "input", "drop", "chosen", "put"];

/// What is done, to the element in the first outline line with these words, or of this selector.
#[derive(Debug, Clone, Copy)]
enum Do {
    Click(&'static str),
    With(&'static str, Button, u32, Modifiers),
    Hover(&'static str),
    Drag(&'static str, &'static str),
    Scroll(&'static str, ScrollDirection, Option<f64>),
    Press(&'static str, &'static str),
    Fill(&'static str, &'static str),
    Type(&'static str, &'static str),
    Append(&'static str, &'static str),
    Form(&'static [(&'static str, &'static str)]),
    Select(&'static str, &'static [&'static str]),
}

/// What must come of it.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// The page sees an event of the browser's own on the element with this id, with this value (`*`: any), and the call
    /// succeeds and says the same value where it says one.
    Saw(&'static str, &'static str, &'static str),
    /// The same, but the event is the page's view of a value that was set.
    Set(&'static str, &'static str, &'static str),
    /// The call fails for this reason, and the page sees nothing.
    Refused(&'static str),
}

const NONE: Modifiers = Modifiers { alt: false, control: false, meta: false, shift: false };
const CONTROL_SHIFT: Modifiers = Modifiers { alt: false, control: true, meta: false, shift: true };
const ALT: Modifiers = Modifiers { alt: true, control: false, meta: false, shift: false };

use Do::{Append, Click, Drag, Fill, Form, Hover, Press, Scroll, Select, Type, With};
use Then::{Refused, Saw, Set};

/// Holds in every place where a widget may stand.
const EVERYWHERE: &[(Do, Then)] = &[
    (Click("button \"Save\""), Saw("click", "save", "*")),
    (Click("button \"Plus\""), Saw("click", "plus", "*")),
    (Click("button \"Never\""), Refused("disabled")),
    (Click("button \"Under\""), Refused("Veil")),
    (Click("checkbox \"Gift\""), Saw("change", "gift", "checked")),
    (With("button \"Save\"", Button::Left, 2, NONE), Saw("dblclick", "save", "*")),
    (With("button \"Save\"", Button::Right, 1, NONE), Saw("contextmenu", "save", "*")),
    (With("link \"Jump\"", Button::Left, 1, ALT), Saw("click", "jump", "*")),
    (Hover("button \"Save\""), Saw("pointerenter", "save", "*")),
    (Fill("textbox \"Name\"", "Ada"), Saw("input", "name", "Ada")),
    (Fill("textbox \"Code\"", "abc"), Saw("input", "code", "ABC")),
    (Fill("textbox \"Note\"", "new"), Saw("input", "note", "new")),
    (Fill("\"Day\"", "2026-03-04"), Set("change", "day", "2026-03-04")),
    (Fill("textbox \"Fixed\"", "new"), Refused("readonly")),
    (Type("textbox \"Name\"", "a.b@C"), Saw("input", "name", "a.b@C")),
    (Press("textbox \"Name\"", "F2"), Saw("keydown", "name", "*")),
    (Select("combobox \"Size\"", &["Large"]), Set("change", "size", "l")),
    (Select("listbox \"Fruits\"", &["Lime"]), Saw("chosen", "fruit", "Lime")),
    (Drag("button \"Alpha\"", "button \"Beta\""), Saw("drop", "beta", "alpha")),
    (Drag("button \"Knob\"", "button \"Slot\""), Saw("put", "slot", "knob")),
    (Scroll("button \"Deep\"", ScrollDirection::Down, Some(100.0)), Saw("scroll", "box", "100")),
];

/// Holds where the widget stands in the page itself; what differs between places stands above.
const ON_THE_PAGE: &[(Do, Then)] = &[
    (Click("link \"Jump\""), Saw("click", "jump", "*")),
    (Click("radio \"Card\""), Saw("change", "card", "checked")),
    (Click("button \"Deep\""), Saw("click", "deep", "*")),
    (With("button \"Save\"", Button::Middle, 1, NONE), Saw("auxclick", "save", "*")),
    (With("button \"Save\"", Button::Left, 3, NONE), Saw("dblclick", "save", "*")),
    (With("button \"Save\"", Button::Left, 1, CONTROL_SHIFT), Saw("click", "save", "*")),
    (With("button \"Save\"", Button::Left, 0, NONE), Refused("count")),
    (With("button \"Save\"", Button::Left, 4, NONE), Refused("count")),
    (With("button \"Never\"", Button::Right, 1, NONE), Refused("disabled")),
    (Hover("button \"Under\""), Refused("Veil")),
    (Fill("textbox \"Short\"", "longer"), Saw("input", "short", "long")),
    (Fill("textbox \"Phone\"", "5551234"), Saw("input", "phone", "555-1234")),
    (Fill("spinbutton \"Count\"", "42"), Saw("input", "count", "42")),
    (Fill("textbox \"Area\"", "one\ntwo"), Saw("input", "area", "one\ntwo")),
    (Append("textbox \"Area\"", "!"), Saw("input", "area", "one\ntwo!")),
    (Fill("textbox \"Secret\"", "hidden"), Saw("input", "secret", "hidden")),
    (Fill("textbox \"Off\"", "new"), Refused("disabled")),
    (Fill("\"Hour\"", "13:45"), Set("change", "hour", "13:45")),
    (Fill("\"Month\"", "2026-05"), Set("change", "month", "2026-05")),
    (Fill("\"Week\"", "2026-W07"), Set("change", "week", "2026-W07")),
    (Fill("\"Moment\"", "2026-03-04T05:06"), Set("change", "moment", "2026-03-04T05:06")),
    (Fill("\"Paint\"", "#0a0b0c"), Set("change", "paint", "#0a0b0c")),
    (Fill("slider \"Loud\"", "35"), Set("change", "loud", "35")),
    (Fill("\"Day\"", "tomorrow"), Refused("YYYY-MM-DD")),
    (Fill("\"Day\"", "2026-02-31"), Refused("YYYY-MM-DD")),
    (Fill("\"Paint\"", "red"), Refused("#rrggbb")),
    (Fill("slider \"Loud\"", "much"), Refused("a number")),
    (Fill("button \"Save\"", "text"), Refused("no text")),
    (Fill("radio \"Cash\"", "true"), Saw("change", "cash", "checked")),
    (Fill("checkbox \"Gift\"", "perhaps"), Refused("true")),
    (Fill("textbox \"Name\"", "漢字 😀 é"), Saw("input", "name", "漢字 😀 é")),
    (Press("textbox \"Name\"", "Control+a"), Saw("keydown", "name", "*")),
    (Press("textbox \"Name\"", "Backspace"), Saw("input", "name", "")),
    (Press("#box", "Home"), Saw("scroll", "box", "*")),
    (Select("combobox \"Size\"", &["m"]), Set("change", "size", "m")),
    (Select("combobox \"Size\"", &["Huge"]), Refused("disabled")),
    (Select("combobox \"Size\"", &["Tiny"]), Refused("Medium")),
    (Select("combobox \"Size\"", &["Small", "Large"]), Refused("one option")),
    (Select("listbox \"Colours\"", &["Red", "Blue"]), Set("change", "colours", "Red,Blue")),
    (Select("listbox \"Colours\"", &[]), Set("change", "colours", "")),
    (Select("combobox \"Plant\"", &["Pear"]), Set("change", "plant", "Pear")),
    (Select("combobox \"Plant\"", &["Nothing"]), Refused("disabled")),
    (Select("combobox \"Shut\"", &["Two"]), Refused("disabled")),
    (Select("listbox \"Fruits\"", &["Kiwi"]), Refused("Fig")),
    (Select("combobox \"Town\"", &["Rome"]), Saw("chosen", "towns", "Rome")),
    (Select("button \"Save\"", &["Rome"]), Refused("list")),
    (Drag("slider \"Loud\"", "button \"Far\""), Saw("change", "loud", "*")),
    (Drag("button \"Under\"", "button \"Slot\""), Refused("Veil")),
    (Scroll("button \"Deep\"", ScrollDirection::Bottom, None), Saw("scroll", "box", "*")),
    (Scroll("button \"Deep\"", ScrollDirection::Top, None), Saw("scroll", "box", "0")),
    (Scroll("#log", ScrollDirection::Down, Some(60.0)), Saw("scroll", "log", "60")),
    (Scroll("#log", ScrollDirection::Up, Some(20.0)), Saw("scroll", "log", "40")),
    (Scroll("button \"Deep\"", ScrollDirection::Down, Some(-1.0)), Refused("amount")),
    (Form(&[("textbox \"Name\"", "Grace"), ("textbox \"Code\"", "xy")]), Saw("input", "name,code", "Grace,XY")),
];

#[tokio::test]
async fn what_is_said_of_an_action_on_the_page_is_what_the_page_saw() {
    let stage = Stage::set().await;
    check(&stage, "act/truth/widgets.html", &[EVERYWHERE, ON_THE_PAGE].concat()).await;
}

#[tokio::test]
async fn what_is_said_of_an_action_in_a_frame_is_what_the_frame_saw() {
    let stage = Stage::set().await;
    for page in ["in-same.html", "in-other.html", "in-sandboxed.html"] {
        check(&stage, &format!("act/truth/{page}"), EVERYWHERE).await;
    }
}

#[tokio::test]
async fn what_is_said_of_an_action_in_a_shadow_root_is_what_the_root_saw() {
    let stage = Stage::set().await;
    for root in ["open", "closed"] {
        check(&stage, &format!("act/truth/widgets.html?root={root}"), EVERYWHERE).await;
    }
}

/// Takes each row in turn on one page, and collects what does not agree.
async fn check(stage: &Stage, page: &str, rows: &[(Do, Then)]) {
    stage.tab.navigate(&stage.site.url(page), WaitUntil::Load, soon()).await.unwrap();
    let outline = stage.outline().await;
    let mut wrong = Vec::new();
    for (action, then) in rows {
        stage.site.forget();
        let began = Instant::now();
        let said = perform(stage, &outline, *action).await;
        let took = began.elapsed();
        let found = compare(stage, *then, &said).await;
        let found = found.err().or_else(|| (took > BUDGET).then(|| format!("took {took:?}")));
        if let Some(problem) = found {
            wrong.push(format!("{action:?}: {problem}; said {said:?}; saw {:?}", brief(&stage.site.reports())));
        }
    }
    assert!(wrong.is_empty(), "{page}: {} of {} rows\n{}\n{outline}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// Does it, and gives the value that the answer tells, where it tells one.
async fn perform(stage: &Stage, outline: &str, action: Do) -> Result<Option<String>, Error> {
    let named = |words: &str| {
        if words.starts_with('#') {
            return super::css(words);
        }
        let line = outline.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words} in\n{outline}"));
        let reference = line.split_whitespace().find(|word| word.starts_with("@e"));
        Target::Ref(reference.unwrap_or_else(|| panic!("a ref in {line}")).parse().unwrap())
    };
    let tab = &stage.tab;
    let fill = async |name, value, options| {
        let filled = tab.fill(&named(name), value, options, soon()).await?;
        Ok(Some(filled.value))
    };
    match action {
        Click(name) => tab.click(&named(name), ClickOptions::default(), soon()).await.map(|_| None),
        With(name, button, count, modifiers) => {
            tab.click(&named(name), ClickOptions { button, count, modifiers }, soon()).await.map(|_| None)
        }
        Hover(name) => tab.hover(&named(name), soon()).await.map(|_| None),
        Drag(from, to) => tab.drag(&named(from), &named(to), soon()).await.map(|_| None),
        Scroll(name, direction, amount) => {
            let (_, position) = tab.scroll(Some(direction), amount, Some(&named(name)), soon()).await?;
            Ok(Some(format!("{:.0}", position.y)))
        }
        Press(name, key) => tab.press(&key.parse().unwrap(), Some(&named(name)), soon()).await.map(|_| None),
        Fill(name, value) => fill(name, value, FillOptions::default()).await,
        Type(name, value) => fill(name, value, FillOptions { clear: true, keys: true }).await,
        Append(name, value) => fill(name, value, FillOptions { clear: false, keys: false }).await,
        Form(fields) => {
            let fields: Vec<_> = fields.iter().map(|(name, value)| (named(name), (*value).to_owned())).collect();
            let filled = tab.fill_form(&fields, soon()).await?;
            Ok(Some(filled.fields.into_iter().collect::<Result<Vec<_>, _>>()?.join(",")))
        }
        Select(name, values) => {
            let values: Vec<_> = values.iter().map(|value| (*value).to_owned()).collect();
            tab.select(&named(name), &values, soon()).await.map(|_| None)
        }
    }
}

async fn compare(stage: &Stage, then: Then, said: &Result<Option<String>, Error>) -> Result<(), String> {
    let (kind, ids, values, trusted) = match then {
        Saw(kind, ids, values) => (kind, ids, values, true),
        Set(kind, ids, values) => (kind, ids, values, false),
        Refused(reason) => return refused(stage, said, reason).await,
    };
    let Ok(value) = said else { return Err("an effect was expected".to_owned()) };
    let telling_value = |value: &str| value.chars().all(|character| character == '•').then_some("hidden".len());
    if let Some(value) = value.as_ref().filter(|value| telling_value(value).is_none()) {
        let agrees = values == "*" || value == values || values == "checked" && value == "true";
        if !agrees {
            return Err(format!("the answer tells {value}"));
        }
    }
    let single = !ids.contains(',');
    for (id, value) in if single { vec![(ids, values)] } else { ids.split(',').zip(values.split(',')).collect() } {
        let wanted = |report: &Report| {
            let scrolls = kind == "scroll";
            report.is(kind, id) && (report.trusted || !trusted || scrolls) && (value == "*" || report.value == value)
        };
        if stage.site.wait_report(wanted, Duration::from_secs(2)).await.is_none() {
            return Err(format!("no {kind} on {id} with {value}"));
        }
    }
    // A click on an option of a list, or on what opens it, is a part of the choice.
    let parts: &[&str] = match ids {
        "fruit" => &["lime", "fig"],
        "towns" => &["town", "rome"],
        "slot" => &["knob", "holder"],
        "beta" => &["alpha"],
        _ => &[],
    };
    let meant = |target: &str| ids.split(',').any(|id| id == target) || parts.contains(&target);
    let elsewhere = |report: &Report| TELLING.contains(&report.kind.as_str()) && !meant(&report.target);
    match stage.site.reports().into_iter().find(elsewhere) {
        Some(report) => Err(format!("{} on {:?} too", report.kind, report.target)),
        None => Ok(()),
    }
}

async fn refused(stage: &Stage, said: &Result<Option<String>, Error>, reason: &str) -> Result<(), String> {
    let Err(error) = said else { return Err("a refusal was expected".to_owned()) };
    if !error.to_string().contains(reason) {
        return Err(format!("another reason was expected, with {reason:?}"));
    }
    let seen = |report: &Report| TELLING.contains(&report.kind.as_str()) || report.kind == "change";
    match stage.site.wait_report(seen, super::NEVER).await {
        Some(report) => Err(format!("{} on {:?}", report.kind, report.target)),
        None => Ok(()),
    }
}

fn brief(reports: &[Report]) -> Vec<String> {
    let line = |report: &Report| format!("{} {} {:?} {}", report.kind, report.target, report.value, report.trusted);
    reports.iter().map(line).collect()
}
