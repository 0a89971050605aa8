//! Image maps: each area is a link of its own, hit where its shape is.

use bathy_browser::{Error, FindOptions, Target};

use super::css;
use crate::support::{Stage, soon};

#[tokio::test]
async fn each_area_of_an_image_map_is_listed_once_and_hit_where_its_shape_is() {
    let stage = Stage::at("act/image-map.html").await;
    let outline = stage.outline().await;
    for (id, line) in [
        ("north", "link \"North\""),
        ("lake", "link \"Lake\""),
        ("ring", "link \"Shore\""),
        ("bay", "link \"Bay\""),
        ("hears", "clickable \"Hears\""),
        ("rest", "link \"Rest of the country\""),
        ("small", "link \"Small\""),
        ("large", "link \"Large\""),
        ("tilted", "link \"Tilted\""),
        ("far", "link \"Far\""),
        ("deep", "link \"Deep\""),
        ("north", "link \"North\""),
    ] {
        let mut lines = outline.lines().filter(|one| one.trim_start().starts_with(&format!("{line} @e")));
        let one = lines.next().unwrap_or_else(|| panic!("{line} is not in\n{outline}"));
        assert_eq!(lines.next(), None, "{outline}");
        let reference: Target =
            Target::Ref(one.split_whitespace().find(|word| word.starts_with("@e")).unwrap().parse().unwrap());
        stage.site.forget();
        stage.click(&reference).await.unwrap_or_else(|error| panic!("{line}: {error:?}"));
        assert!(stage.report("click", id).await.trusted, "{line}");
        assert!(stage.site.reports().iter().all(|report| report.target == id), "{:?}", stage.site.reports());
    }
    for absent in ["Unseen", "Unused", "Nowhere", "Outside"] {
        assert!(!outline.contains(absent), "{absent} is in\n{outline}");
    }
    // What lies wholly under another shape is covered by it.
    stage.site.forget();
    let error = stage.click(&css("#buried")).await.unwrap_err();
    assert!(matches!(&error, Error::Obscured { cover, .. } if cover.contains("Lake")), "{error:?}");
    let error = stage.click(&css("#unseen")).await.unwrap_err();
    assert!(matches!(&error, Error::NotActionable { .. } | Error::NoSuchElement(_)), "{error:?}");
    stage.assert_never("click", "buried").await;
}

#[tokio::test]
async fn an_area_in_a_frame_is_found_and_leads_where_it_points() {
    let stage = Stage::set().await;
    let inner = stage.site.page(
        "<img alt=Map usemap=#m width=200 height=100 src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>\">
         <map name=m><area coords=0,0,100,100 alt=West href=/echo><area coords=100,0,200,100 alt=East href=/act/next.html target=_top></map>",
    );
    let other = inner.replace(&stage.site.origin(), &stage.site.other_origin());
    for source in [inner, other] {
        stage.show(&format!("<iframe src='{source}' style='transform:scale(.6)' width=300 height=200></iframe>")).await;
        let wanted = FindOptions { text: Some("east".to_owned()), limit: 5, ..FindOptions::default() };
        let found = stage.tab.find(&wanted, soon()).await.unwrap();
        assert!(found.matches.len() == 1 && found.matches[0].line.starts_with("link \"East\""), "{found:?}");
        let acted = stage.click(&Target::Ref(found.matches[0].reference)).await.unwrap();
        assert!(acted.url.ends_with("/act/next.html"), "{acted:?}");
    }
}
