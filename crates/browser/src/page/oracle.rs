//! Roles and names against Chromium's own accessibility tree, over the test site's pages.

use std::collections::HashMap;
use std::time::Duration;

use bathy_cdp::protocol::accessibility::{AxNode, AxValue, GetFullAxTree};
use bathy_cdp::protocol::dom::{DescribeNode, Node};
use bathy_chromium::{Containment, Lookup};
use bathy_egress::GateOptions;
use bathy_policy::{Policy, PolicyConfig};
use bathy_testsite::{TestSite, page_names};
use serde::Deserialize;

use crate::world::World;
use crate::{Deadline, Engine, EngineOptions, OutlineOptions, SessionOptions, WaitUntil};

/// Folders of the site whose pages are about what things are and are called.
const FOLDERS: [&str; 9] = ["aria/", "forms/", "hidden/", "names/", "shadow/", "shop/", "slots/", "svg/", "tables/"];

#[derive(Deserialize)]
struct Audit {
    nodes: Vec<Audited>,
}

#[derive(Deserialize)]
struct Audited {
    path: Vec<i64>,
    role: String,
    name: String,
    reason: Option<String>,
    shown: bool,
}

#[derive(Default)]
struct Figures {
    both: usize,
    differing: Vec<String>,
    interactive: usize,
    missed: Vec<String>,
}

#[tokio::test]
async fn roles_and_names_agree_with_chromiums_accessibility_tree() {
    let site = TestSite::start().await;
    let engine = Engine::new(EngineOptions {
        lookup: Lookup::of_this_process(),
        containment: Containment::Auto,
        viewport: (1280, 800),
        user_agent: None,
        policy: Policy::new(PolicyConfig { allow_private_network: true, ..PolicyConfig::default() }),
        gate: GateOptions::default(),
        spare_sessions: 0,
        artifacts_directory: None,
        storage_state: None,
        uploads_directory: None,
        max_download_bytes: 1 << 30,
        launch_timeout: Duration::from_secs(30),
    });
    let options = SessionOptions { id: "oracle".to_owned(), ..SessionOptions::default() };
    let session = engine.open_session(options).await.unwrap();
    let tab = session.tab(None).await.unwrap();
    let pages: Vec<_> = page_names()
        .filter(|name| name.strip_suffix(".html").is_some())
        .filter(|name| FOLDERS.iter().any(|folder| name.starts_with(folder)))
        .collect();
    assert!(pages.len() >= 40, "{} pages", pages.len());
    let mut figures = Figures::default();
    for page in pages {
        let deadline = Deadline::after(Duration::from_secs(20));
        tab.navigate(&site.url(page), WaitUntil::Load, deadline).await.unwrap();
        // A reading adopts listeners and closed roots.
        let options = OutlineOptions { max_chars: 10_000, ..OutlineOptions::default() };
        tab.outline(options, deadline).await.unwrap();
        let frame = tab.state().borrow().main_frame().clone();
        let world = World::of(&frame, deadline).await.unwrap();
        let document = frame.foothold.document(&frame.session, deadline).await.unwrap();
        let describe =
            DescribeNode { object_id: Some(document), depth: Some(-1), pierce: Some(true), ..DescribeNode::default() };
        let tree = Tree::of(tab.page().call(describe, deadline.remaining()).await.unwrap().node);
        let audit: Audit = world.call("audit", &serde_json::json!({}), deadline).await.unwrap();
        let ask = GetFullAxTree::default();
        let theirs = tab.page().call(ask, deadline.remaining()).await.unwrap();
        compare(page, &audit, &tree, &theirs.nodes, &mut figures);
    }
    let Figures { both, differing, interactive, missed } = figures;
    println!("{both} nodes in both, {} differ; {interactive} interactive, {} missed", differing.len(), missed.len());
    assert!(both > 500, "{both} nodes were compared");
    assert!(differing.len() * 100 <= both, "of {both} differ\n{}", differing.join("\n"));
    assert!(missed.len() * 100 <= interactive, "of {interactive} are missed\n{}", missed.join("\n"));
}

/// Where the nodes of a document are.
#[derive(Debug, Default)]
struct Tree {
    places: HashMap<i64, Place>,
}

/// The way to a node: the index among element children at each step, -1 into the shadow root.
#[derive(Debug)]
struct Place {
    path: Vec<i64>,
    tag: String,
}

const ELEMENT: i64 = 1;
const INTO_SHADOW: i64 = -1;

impl Tree {
    fn place(&self, node: i64) -> Option<&Place> {
        self.places.get(&node)
    }

    fn of(document: Node) -> Self {
        let mut tree = Self::default();
        let mut left = vec![(document, Vec::new())];
        while let Some((node, path)) = left.pop() {
            for root in node.shadow_roots.into_iter().flatten() {
                if root.shadow_root_type.as_deref() == Some("user-agent") {
                    continue;
                }
                let mut inner = path.clone();
                inner.push(INTO_SHADOW);
                left.push((root, inner));
            }
            let children = node.children.into_iter().flatten();
            let elements = children.filter(|child| child.node_type == ELEMENT);
            for (index, child) in (0..).zip(elements) {
                let mut inner = path.clone();
                inner.push(index);
                left.push((child, inner));
            }
            if node.node_type == ELEMENT {
                let place = Place { path, tag: node.node_name.to_lowercase() };
                tree.places.insert(node.backend_node_id, place);
            }
        }
        tree
    }
}

fn compare(page: &str, audit: &Audit, tree: &Tree, theirs: &[AxNode], figures: &mut Figures) {
    let ours: HashMap<&[i64], &Audited> = audit.nodes.iter().map(|node| (node.path.as_slice(), node)).collect();
    for node in theirs.iter().filter(|node| !node.ignored) {
        let number = node.backend_d_o_m_node_id.unwrap_or_default();
        let Some(place) = tree.place(number) else {
            continue;
        };
        let role = text(node.role.as_ref());
        let name = squeezed(&text(node.name.as_ref()));
        let Some(own) = ours.get(place.path.as_slice()) else {
            continue;
        };
        // The film's own words for a missing player, and tables that lay out a page, are no structure.
        if matches!(role.as_str(), "StaticText" | "RootWebArea" | "Video") || role.starts_with("LayoutTable") {
            continue;
        }
        figures.both += 1;
        if !same_role(&role, &own.role) || !same_name(&name, &own.name) {
            figures.differing.push(format!("{page} {} {role} {name:?}, ours {} {:?}", place.tag, own.role, own.name));
        }
        if is_interactive(&role) && !name.is_empty() && place.tag != "option" && own.shown {
            figures.interactive += 1;
            if own.reason.is_none() {
                figures.missed.push(format!("{page} {role} {name:?}"));
            }
        }
    }
}

fn text(value: Option<&AxValue>) -> String {
    let value = value.and_then(|value| value.value.as_ref());
    value.and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

fn squeezed(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Ours are without what is never drawn, and with escapes for what would disturb a line.
fn same_name(theirs: &str, ours: &str) -> bool {
    let invisible = |character: char| matches!(character, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}');
    let visible = |name: &str| squeezed(&name.chars().filter(|&one| !invisible(one)).collect::<String>());
    ours.contains("\\u{") || visible(theirs) == visible(ours)
}

/// Chromium has names of its own for roles that ARIA lacks; the outline says them in words of ARIA's kind.
fn same_role(theirs: &str, ours: &str) -> bool {
    // Neither is listed, so that nobody reads the difference.
    const UNLISTED: [&str; 15] = [
        "generic",
        "none",
        "LabelText",
        "label",
        "Legend",
        "legend",
        "Abbr",
        "abbr",
        "Figcaption",
        "figcaption",
        "sectionheader",
        "sectionfooter",
        "layout",
        "Pre",
        "pre",
    ];
    if theirs == ours || (UNLISTED.contains(&theirs) && UNLISTED.contains(&ours)) {
        return true;
    }
    let said = match theirs {
        "DisclosureTriangle" | "DisclosureTriangleGrouped" => "button",
        "image" | "SvgRoot" => "img",
        "Date" | "DateTime" | "InputTime" => "date",
        "ColorWell" => "color",
        "ProgressIndicator" => "progressbar",
        "Canvas" => "canvas",
        "Audio" => "audio",
        "Iframe" | "IframePresentational" => "iframe",
        "DescriptionList" => "list",
        "Details" => "group",
        "MathMLMath" => "math",
        "EmbeddedObject" | "PluginObject" => "object",
        // An editor has no role of its own in Chromium.
        "generic" => "textbox",
        "HeaderAsNonLandmark" => "sectionheader",
        "FooterAsNonLandmark" => "sectionfooter",
        _ => return doc_role(theirs) == ours,
    };
    said == ours
}

fn doc_role(theirs: &str) -> String {
    match theirs.strip_prefix("doc") {
        Some(rest) if rest.starts_with(char::is_uppercase) => {
            format!("doc-{}", rest.to_lowercase())
        }
        _ => theirs.to_owned(),
    }
}

fn is_interactive(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "link"
            | "textbox"
            | "searchbox"
            | "checkbox"
            | "radio"
            | "switch"
            | "combobox"
            | "listbox"
            | "slider"
            | "spinbutton"
            | "tab"
            | "menuitem"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "option"
            | "treeitem"
            | "ColorWell"
            | "Date"
            | "DateTime"
            | "InputTime"
            | "DisclosureTriangle"
            | "DisclosureTriangleGrouped"
    )
}
