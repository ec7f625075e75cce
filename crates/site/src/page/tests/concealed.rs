//! Elements that visitors do not meet, and those beside the content.

use super::html;
use crate::page::LINK_CONCEALED;

fn headings(body: &str) -> Vec<(u8, String)> {
    let facts = html(body);
    facts
        .headings
        .iter()
        .map(|h| (h.level, h.text.to_string()))
        .collect()
}

#[test]
fn hidden_headings_are_none() {
    for hidden in [
        "<div hidden><h2>a</h2></div>",
        "<div hidden=hidden><section><h2></h2></section></div>",
        "<h2 aria-hidden=TRUE>a</h2>",
        "<div style='color:red; DISPLAY: none !important'><h2>a</h2></div>",
        "<p style=visibility:hidden>x<h2 style='visibility : hidden'>a</h2>",
        "<dialog><h2>a</h2></dialog>",
        "<div popover id=x><h2>a</h2></div>",
        "<div inert><h2>a</h2></div>",
        "<template><h2>a</h2></template>",
    ] {
        let facts = html(&format!("<h1>One</h1>{hidden}<h2>Two</h2>"));
        let texts: Vec<_> = facts.headings.iter().map(|h| &*h.text).collect();
        assert_eq!((texts, facts.headings_total), (vec!["One", "Two"], 2), "{hidden}");
    }
    for shown in [
        "<dialog open><h2>a</h2></dialog>",
        "<div aria-hidden=false><h2>a</h2></div>",
        "<div hidden=until-found><h2>a</h2></div>",
        "<details><h2>a</h2></details>",
        "<div hidden></div><h2>a</h2>",
        "<div style='--display:none'><h2>a</h2></div>",
        // a script shows the page
        "<main style=display:none><h2>a</h2></main>",
    ] {
        assert_eq!(headings(shown), [(2, "a".to_owned())], "{shown}");
    }
}

#[test]
fn the_only_main_heading_counts_even_if_it_is_hidden() {
    let hidden = "<h1 hidden></h1><h1 hidden>Name</h1><h1 hidden>Other</h1><h2>x</h2>";
    assert_eq!(headings(hidden), [(2, "x".to_owned()), (1, "Name".to_owned())]);
    assert_eq!(
        headings("<h1 hidden>Name</h1><h1>Shown</h1>"),
        [(1, "Shown".to_owned())]
    );
}

#[test]
fn hidden_links_and_images_are_marked() {
    let facts = html(
        "<a href=/a aria-hidden=true tabindex=-1><img src=a></a><nav hidden><a href=/b></a></nav><a href=/c><img src=c></a>\
         <img src=d style=display:none><span aria-hidden=true><img src=e></span>",
    );
    let concealed: Vec<_> = facts
        .links
        .iter()
        .map(|link| link.flags & LINK_CONCEALED != 0)
        .collect();
    assert_eq!(concealed, [true, true, false]);
    let decorative: Vec<_> = facts.images.iter().map(|image| image.decorative).collect();
    assert_eq!(decorative, [true, false, true, true]);
    // one that is only silent takes room all the same
    let sized: Vec<_> = facts.images.iter().map(|image| image.sized).collect();
    assert_eq!(sized, [false, false, true, false]);
}

#[test]
fn other_elements_give_names() {
    let facts = html(
        "<a href=/a aria-labelledby='t u'><svg></svg></a><h2 aria-labelledby=u></h2><a href=/b aria-labelledby=none></a>\
         <a href=/c aria-labelledby=t>own</a><a href=/d><i aria-labelledby=i></i></a><b id=t>Oak <i>desks</i></b> <p id=u>of ours</p><p>no</p>\
         <p id=t>second</p><img id=i alt=Chair src=x>",
    );
    let anchors: Vec<_> = facts.links.iter().map(|link| link.anchor.to_owned()).collect();
    assert_eq!(anchors, ["Oak desks of ours", "", "own", "Chair"]);
    assert_eq!(&*facts.headings[0].text, "of ours");
    let facts = html("<img src=a aria-label=x><img src=b aria-labelledby=y><img src=c aria-label=''>");
    assert_eq!(facts.images_without_alt, 1);
}

#[test]
fn sizes_of_images_in_any_place() {
    for (image, sized) in [
        ("width=5 height=5", true),
        ("width=100% height=auto", false),
        ("width='' height=''", false),
        ("width=5", false),
        ("width=5 style=height:4em", true),
        ("style='height: 3px; width: 4px'", true),
        ("style='inline-size:3px;block-size:2px'", true),
        ("style='width:100%;height:auto'", false),
        ("style='max-width:9px;max-height:9px'", false),
        ("style='aspect-ratio: 16/9'", true),
        ("style='aspect-ratio: auto'", false),
        ("style='position:absolute;width:100%'", true),
        ("width=4 height=4 style='height:auto'", true),
    ] {
        let facts = html(&format!("<img src=x {image}>"));
        assert_eq!(facts.images[0].sized, sized, "{image}");
    }
}

#[test]
fn signs_beside_headings_are_no_part_of_them() {
    let sign = |link: &str| headings(&format!("<h2 id=x>Install it {link}</h2>"))[0].1.clone();
    for link in [
        "<a class=headerlink href=#x title='Link to this heading'>¶</a>",
        "<a href=#x>#</a>",
        "<a href='/dir/page#x'>🔗</a>",
        "<a class=header-anchor href=#x aria-label='Permalink to it'>\u{200b}</a>",
        "<a class='x permalink' href=#x>Permalink</a>",
        "<a class=hash-link href=#x><img src=l.svg alt='Link icon'></a>",
    ] {
        assert_eq!(sign(link), "Install it", "{link}");
    }
    assert_eq!(sign("<a href=/other#x>#</a>"), "Install it #");
    assert_eq!(sign("<a href=#y>twice</a>"), "Install it twice");
    assert_eq!(
        headings("<h2><a href=#x>§</a> Two <a href=#x>¶</a></h2>")[0].1,
        "Two"
    );
    // a heading that is a link to itself
    assert_eq!(
        headings("<h2><a class=anchor-link href=#x>All of it</a></h2>")[0].1,
        "All of it"
    );
    assert_eq!(
        headings("<h2><a class=headerlink href=#x title=Permalink>¶</a></h2>")[0].1,
        ""
    );
}

#[test]
fn menus_and_sidebars_are_beside_the_content() {
    for (body, beside) in [
        ("<nav><h3>a</h3></nav>", true),
        ("<aside><div><h3>a</h3></div></aside>", true),
        ("<div role=navigation><h3>a</h3></div>", true),
        ("<div role=complementary><h3>a</h3></div>", true),
        ("<div class='column sphinxsidebar'><h3>a</h3></div>", true),
        ("<div id=sidebar-left><h3>a</h3></div>", true),
        ("<div class=with-sidebar><h3>a</h3></div>", false),
        ("<body class=sidebar-left><h3>a</h3>", false),
        ("<div class=sidebar-left><h1>One</h1><h3>a</h3></div>", false),
        ("<nav></nav><h3>a</h3>", false),
    ] {
        let facts = html(body);
        assert_eq!(facts.headings.last().unwrap().beside, beside, "{body}");
    }
}
