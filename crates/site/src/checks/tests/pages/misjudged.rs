//! Pages as people build them that were once judged wrongly.

use super::{Case, World, json_ld, page, words};

pub(super) fn cases() -> Vec<Case> {
    [headings(), texts(), markup()].into_iter().flatten().collect()
}

fn headings() -> Vec<Case> {
    let long = "How to look after the blades of a mower that has seen many summers";
    vec![
        page(
            "heading-empty",
            "<h1>x</h1><dialog open><h2></h2></dialog>",
            "<h1>x</h1><dialog><h2></h2></dialog><div class=modal aria-hidden=true><h2></h2></div><h2 hidden></h2>",
        ),
        page(
            "heading-empty",
            "<h2 aria-labelledby=t></h2><p id=u>x",
            "<h2 aria-labelledby=t></h2><p id=t>x",
        ),
        page("h1-multiple", "<h1>a</h1><h1>b</h1>", "<h1>a</h1><h1 hidden>b</h1>"),
        page("h1-missing", "<h1 hidden></h1>", "<h1 hidden>x</h1>"),
        page(
            "heading-skip",
            "<h1>a</h1><div class=with-sidebar><h3>b</h3></div>",
            "<nav><h5>m</h5></nav><h1>a</h1><div role=complementary><h4>s</h4></div><h2>b</h2><div hidden><h4>t</h4></div>",
        ),
        page(
            "h1-long",
            &format!("<h1>{long} again</h1>"),
            &format!("<h1>{long} <a class=headerlink href=#x title='Link to this heading'>¶</a></h1>"),
        ),
        page(
            "title-same-as-h1",
            "<title>Mowers</title><h1>Mowers<a href=#m>#</a></h1>",
            "<title>Mowers</title><h1>Rakes<a href=#m>#</a></h1>",
        ),
        page(
            "anchor-empty",
            "<a href=/x><i class=icon></i></a>",
            "<a href=/x aria-hidden=true tabindex=-1><img src=a alt></a><a href=/y aria-labelledby=t></a><p id=t>x",
        ),
        page(
            "image-alt-missing",
            "<img src=a>",
            "<div hidden><img src=a></div><img src=b aria-label=x>",
        ),
        page(
            "image-dimensions-missing",
            "<img src=a alt style='width:100%'>",
            "<img src=a alt style='width:9px;height:9px'><img src=b alt width=9 style='height:9px'>",
        ),
    ]
}

fn texts() -> Vec<Case> {
    Vec::new()
}

fn markup() -> Vec<Case> {
    Vec::new()
}
