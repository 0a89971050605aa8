//! Documents within documents.

use super::{Vector, html, script};

pub(super) fn vectors() -> Vec<Vector> {
    vec![
        html("frame", "<iframe src='http://{canary}/frame'></iframe>"),
        html("lazy frame", "<iframe loading=lazy src='http://{canary}/lazy'></iframe>"),
        html("sandboxed frame", "<iframe sandbox=allow-scripts src='http://{canary}/sandbox'></iframe>"),
        html("frame without credentials", "<iframe credentialless src='http://{canary}/credentialless'></iframe>"),
        html("frame of text", "<iframe srcdoc=\"<img src='http://{canary}/srcdoc'>\"></iframe>"),
        html(
            "sandboxed frame of text that fetches",
            "<iframe sandbox=allow-scripts srcdoc=\"<script>fetch('http://{canary}/sandboxed', {mode: 'no-cors'})</script>\"></iframe>",
        ),
        html(
            "frame of text that moves on",
            "<iframe srcdoc=\"<meta http-equiv=refresh content='0;url=http://{canary}/moves'>\"></iframe>",
        ),
        html("frame of a data URL", "<iframe src=\"data:text/html,<img src='http://{canary}/data'>\"></iframe>"),
        script(
            "frame of a blob",
            "const f = document.createElement('iframe');
             f.src = URL.createObjectURL(new Blob(['<img src=http://{canary}/blob>'], {type: 'text/html'}));
             document.body.append(f)",
        ),
        html("frame of a script URL", "<iframe src=\"javascript:'<img src=http://{canary}/javascript>'\"></iframe>"),
        script(
            "blank frame that fetches at once",
            "const f = document.createElement('iframe'); document.body.append(f);
             f.contentWindow.fetch('http://{canary}/blank', {mode: 'no-cors'}).catch(() => 0)",
        ),
        script(
            "blank frame that is written",
            "const f = document.createElement('iframe'); document.body.append(f);
             f.contentDocument.write('<img src=\"http://{canary}/written\">'); f.contentDocument.close()",
        ),
        html("frame that leads the top away", "<iframe src='{files}/inner.html'></iframe>")
            .file("inner.html", "<script>top.location = 'http://{canary}/top'</script>"),
        html(
            "sandboxed frame that leads the top away",
            "<iframe sandbox='allow-scripts allow-top-navigation' src='{files}/inner.html'></iframe>",
        )
        .file("inner.html", "<script>top.location = 'http://{canary}/top'</script>"),
        html(
            "sandboxed frame that opens a window",
            "<iframe sandbox='allow-scripts allow-popups' src='{files}/inner.html'></iframe>",
        )
        .file("inner.html", "<script>open('http://{canary}/popup')</script>"),
        html(
            "frame that is sent on later",
            "<iframe name=f src='/blank'></iframe><script>setTimeout(() => frames.f.location = 'http://{canary}/later', 200)</script>",
        ),
        html("object", "<object data='http://{canary}/object'></object>"),
        html("object of a type", "<object type='text/html' data='http://{canary}/typed'></object>"),
        html("embed", "<embed src='http://{canary}/embed'>"),
        html("frameset", "<iframe src='{files}/set.html'></iframe>")
            .file("set.html", "<frameset cols='*'><frame src='http://{canary}/set'></frameset>"),
        html("frames five deep", "<iframe src='{files}/1.html'></iframe>")
            .file("1.html", "<iframe src='{files}/2.html'></iframe>")
            .file("2.html", "<iframe src='{files}/3.html'></iframe>")
            .file("3.html", "<iframe src='{files}/4.html'></iframe>")
            .file("4.html", "<img src='http://{canary}/deep'>"),
        html(
            "drawing that loads a document",
            "<svg><foreignObject width=99 height=99><iframe xmlns='http://www.w3.org/1999/xhtml' src='http://{canary}/foreign'></iframe></foreignObject></svg>",
        ),
    ]
}
